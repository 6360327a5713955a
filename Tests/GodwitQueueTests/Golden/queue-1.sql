CREATE TABLE godwit_attachment (
    uri TEXT NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (uri, collection, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER godwit_attachment_detach AFTER DELETE ON godwit_object BEGIN
    DELETE FROM godwit_attachment WHERE collection = OLD.collection AND key = OLD.key;
END;
CREATE INDEX godwit_attachment_key ON godwit_attachment (collection, key);
CREATE TABLE godwit_attempt (
    operation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    request TEXT,
    response TEXT,
    PRIMARY KEY (operation, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_conflict (
    operation INTEGER PRIMARY KEY,
    theirs BLOB,
    tag BLOB
) STRICT;
CREATE TABLE godwit_dependency (
    operation INTEGER NOT NULL,
    needs INTEGER NOT NULL,
    policy TEXT NOT NULL,
    origin TEXT NOT NULL,
    derived INTEGER NOT NULL,
    PRIMARY KEY (operation, needs)
) STRICT, WITHOUT ROWID;
CREATE INDEX godwit_dependency_needs ON godwit_dependency (needs);
CREATE TABLE godwit_effect (
    operation INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    thing TEXT NOT NULL,
    action TEXT NOT NULL,
    place TEXT,
    destination TEXT,
    may_merge INTEGER NOT NULL
) STRICT;
CREATE INDEX godwit_effect_thing ON godwit_effect (collection, thing);
CREATE TABLE godwit_fate (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    is_named INTEGER NOT NULL,
    fate TEXT NOT NULL,
    reason TEXT,
    successor INTEGER
) STRICT;
CREATE UNIQUE INDEX godwit_fate_name ON godwit_fate (id) WHERE is_named = 1;
CREATE TABLE godwit_hold (
    operation INTEGER NOT NULL,
    context TEXT NOT NULL,
    until INTEGER,
    delay INTEGER,
    PRIMARY KEY (operation, context)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_operation (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    is_named INTEGER NOT NULL,
    commit_number INTEGER NOT NULL,
    pipeline TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    priority INTEGER NOT NULL,
    keeps_order INTEGER NOT NULL,
    host TEXT,
    attempts INTEGER NOT NULL,
    may_have_run INTEGER NOT NULL,
    epoch INTEGER,
    parts INTEGER NOT NULL,
    reason TEXT,
    idempotency_key TEXT,
    user_info BLOB,
    footprint BLOB,
    body BLOB NOT NULL,
    seal BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX godwit_operation_name ON godwit_operation (id) WHERE is_named = 1;
CREATE TABLE godwit_operation_object (
    operation INTEGER NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    old BLOB,
    new BLOB,
    PRIMARY KEY (operation, collection, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX godwit_operation_object_key ON godwit_operation_object (collection, key);
CREATE INDEX godwit_operation_state ON godwit_operation (state) WHERE state <> 'waiting';
CREATE TABLE godwit_pipeline (
    name TEXT PRIMARY KEY,
    keeps_order INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_queue_change (
    commit_number INTEGER NOT NULL,
    operation INTEGER NOT NULL,
    PRIMARY KEY (commit_number, operation)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_runner (
    slot INTEGER PRIMARY KEY CHECK (slot = 0),
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    boot TEXT NOT NULL,
    until INTEGER NOT NULL
) STRICT;
CREATE TABLE godwit_suspension (
    pipeline TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (pipeline, reason)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_tag (
    key TEXT NOT NULL,
    identifier TEXT NOT NULL,
    tag ANY NOT NULL,
    PRIMARY KEY (key, identifier)
) STRICT, WITHOUT ROWID;
