#include "sqlite_peer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <time.h>

// A queue as one would write it by hand: one table, one durable transaction for each step.

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static const char *setup =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
    "CREATE TABLE IF NOT EXISTS ops ("
    "id INTEGER PRIMARY KEY, status INTEGER NOT NULL DEFAULT 0, payload BLOB NOT NULL)";

double queue_peer_enqueue(const char *path, size_t count) {
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) || sqlite3_exec(db, setup, NULL, NULL, NULL)) return -1;
    sqlite3_stmt *insert = NULL;
    sqlite3_prepare_v2(db, "INSERT INTO ops (payload) VALUES (?1)", -1, &insert, NULL);
    double start = now();
    for (size_t i = 0; i < count; i++) {
        char payload[160];
        int size = snprintf(payload, sizeof payload,
                            "{\"op\":\"put\",\"uuid\":\"%032zx\",\"path\":\"/lists/items/%06zu\"}", i, i);
        sqlite3_bind_blob(insert, 1, payload, size, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE) return -1;
        sqlite3_reset(insert);
    }
    double taken = now() - start;
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return taken;
}

double queue_peer_drain(const char *path, size_t *count) {
    sqlite3 *db = NULL;
    if (sqlite3_open(path, &db) || sqlite3_exec(db, setup, NULL, NULL, NULL)) return -1;
    sqlite3_stmt *claim = NULL, *acknowledge = NULL;
    sqlite3_prepare_v2(db,
                       "UPDATE ops SET status = 1 WHERE id = (SELECT id FROM ops WHERE id > ?1 "
                       "ORDER BY id LIMIT 1) RETURNING id, payload",
                       -1, &claim, NULL);
    sqlite3_prepare_v2(db, "DELETE FROM ops WHERE id = ?1", -1, &acknowledge, NULL);
    sqlite3_int64 last = 0;
    *count = 0;
    double start = now();
    for (;;) {
        sqlite3_bind_int64(claim, 1, last);
        if (sqlite3_step(claim) != SQLITE_ROW) break;
        last = sqlite3_column_int64(claim, 0);
        if (sqlite3_step(claim) != SQLITE_DONE) return -1;
        sqlite3_reset(claim);
        sqlite3_bind_int64(acknowledge, 1, last);
        if (sqlite3_step(acknowledge) != SQLITE_DONE) return -1;
        sqlite3_reset(acknowledge);
        *count += 1;
    }
    double taken = now() - start;
    sqlite3_finalize(claim);
    sqlite3_finalize(acknowledge);
    sqlite3_close(db);
    return taken;
}
