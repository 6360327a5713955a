#ifndef SQLITE_PEER_H
#define SQLITE_PEER_H

#include <stddef.h>

/// One row of the table that both sides fill.
struct peer_row {
    const char *key;
    const unsigned char *value;
    int value_size;
    const unsigned char *seal;
    int seal_size;
};

/// Inserts rows through one statement, `batch` of them in each durable transaction.
///
/// Returns the seconds it took, or a negative number when SQLite failed.
double peer_insert(const char *path, const struct peer_row *rows, size_t count, size_t batch);

/// Enqueues, one durable transaction each; returns the seconds it took, or less than 0.
double queue_peer_enqueue(const char *path, size_t count);

/// Claims and acknowledges everything, two durable transactions each.
double queue_peer_drain(const char *path, size_t *count);

#endif
