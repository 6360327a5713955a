#include "sqlite_peer.h"
#include <sqlite3.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static const char *const setup =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "CREATE TABLE godwit_object (collection TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,"
    " metadata BLOB, version INTEGER NOT NULL, commit_number INTEGER NOT NULL, seal BLOB NOT NULL,"
    " PRIMARY KEY (collection, key)) STRICT, WITHOUT ROWID;";

static const char *const insert =
    "INSERT INTO godwit_object (collection, key, value, metadata, version, commit_number, seal)"
    " VALUES ('objects', ?1, ?2, NULL, 1, ?3, ?4)";

static int insert_all(sqlite3 *db, const struct peer_row *rows, size_t count, size_t batch) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db, insert, -1, &statement, NULL) != SQLITE_OK) return 0;
    for (size_t i = 0; i < count; i++) {
        if (i % batch == 0 && sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL)) return 0;
        sqlite3_bind_text(statement, 1, rows[i].key, -1, SQLITE_STATIC);
        sqlite3_bind_blob(statement, 2, rows[i].value, rows[i].value_size, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 3, (sqlite3_int64)i + 1);
        sqlite3_bind_blob(statement, 4, rows[i].seal, rows[i].seal_size, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_DONE) return 0;
        sqlite3_reset(statement);
        int is_last = i + 1 == count || (i + 1) % batch == 0;
        if (is_last && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) return 0;
    }
    sqlite3_finalize(statement);
    return 1;
}

double peer_insert(const char *path, const struct peer_row *rows, size_t count, size_t batch) {
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) != SQLITE_OK) return -1;
    if (sqlite3_exec(db, setup, NULL, NULL, NULL) != SQLITE_OK) return -1;
    double start = now();
    int is_done = insert_all(db, rows, count, batch);
    double seconds = now() - start;
    sqlite3_close(db);
    return is_done ? seconds : -1;
}
