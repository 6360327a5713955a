CREATE TABLE godwit_change (
    commit_number INTEGER NOT NULL,
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    kind INTEGER NOT NULL,
    value BLOB,
    metadata BLOB,
    version INTEGER,
    old_commit INTEGER,
    seal BLOB,
    PRIMARY KEY (commit_number, collection, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_index (
    number INTEGER PRIMARY KEY,
    collection TEXT NOT NULL,
    name TEXT NOT NULL,
    fields TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (collection, name)
) STRICT;
CREATE TABLE godwit_ledger (
    slot INTEGER PRIMARY KEY,
    collection TEXT UNIQUE,
    commit_number INTEGER NOT NULL,
    object_count INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    seal BLOB NOT NULL
) STRICT;
CREATE TABLE godwit_object (
    collection TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    metadata BLOB,
    version INTEGER NOT NULL,
    commit_number INTEGER NOT NULL,
    seal BLOB NOT NULL,
    PRIMARY KEY (collection, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_retention (
    collection TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    key TEXT NOT NULL,
    commit_number INTEGER NOT NULL,
    PRIMARY KEY (collection, written_at, key)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX godwit_retention_key ON godwit_retention (collection, key);
CREATE TABLE godwit_retention_total (
    collection TEXT PRIMARY KEY,
    object_count INTEGER NOT NULL,
    checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE godwit_schema (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
