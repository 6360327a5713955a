CREATE TABLE godwit_operation (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    commit_number INTEGER NOT NULL,
    pipeline TEXT NOT NULL,
    kind TEXT NOT NULL,
    priority INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    last_error TEXT,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX godwit_operation_order
    ON godwit_operation (pipeline, commit_number, sequence);
CREATE TABLE godwit_dependency (
    operation TEXT NOT NULL,
    needs TEXT NOT NULL,
    PRIMARY KEY (operation, needs)
) STRICT, WITHOUT ROWID;
CREATE INDEX godwit_dependency_needs ON godwit_dependency (needs);
