CREATE TABLE godwit_commit (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL
) STRICT;
CREATE TABLE godwit_object (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    digest BLOB NOT NULL,
    commit_number INTEGER NOT NULL,
    PRIMARY KEY (collection, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_schema (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
