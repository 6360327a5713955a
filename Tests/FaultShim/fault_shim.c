/*
 * Disturbs the calls by which a program writes to one file: loaded before libc (LD_PRELOAD), it
 * counts them and lets one of them fail.
 *
 *   FAULT_PATH     what the file's path must contain for a call to count
 *   FAULT_CALL     the number of the call that fails, from 1; none fails without it
 *   FAULT_KIND     eio, enospc   the call fails with this error and without effect
 *                  short         a write writes half, and says so
 *                  kill          a write writes half; then the process is killed
 *                  lie           a sync does nothing, and says that it did
 *   FAULT_FOREVER  set, when all later calls fail too
 *   FAULT_PRINT    set, when the number of calls is written to standard error at the end
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { NONE, EIO_ERROR, ENOSPC_ERROR, SHORT_WRITE, KILL, LIE };

static atomic_long calls;

static enum kind chosen_kind(void) {
    static const char *const names[] = {"", "eio", "enospc", "short", "kill", "lie"};
    const char *name = getenv("FAULT_KIND");
    for (int kind = EIO_ERROR; name && kind <= LIE; kind++)
        if (strcmp(name, names[kind]) == 0) return kind;
    return NONE;
}

static int is_watched(int file) {
    const char *part = getenv("FAULT_PATH");
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!part || length < 0) return 0;
    path[length] = 0;
    return strstr(path, part) != NULL;
}

/* Counts a call, and tells what shall happen to it. */
static enum kind fate(int file) {
    int error = errno;
    int watched = is_watched(file);
    errno = error;
    if (!watched) return NONE;
    long number = atomic_fetch_add(&calls, 1) + 1;
    const char *call = getenv("FAULT_CALL");
    long first = call ? atol(call) : 0;
    if (first < 1 || number < first) return NONE;
    return number == first || getenv("FAULT_FOREVER") ? chosen_kind() : NONE;
}

static int fail(enum kind kind) {
    errno = kind == ENOSPC_ERROR ? ENOSPC : EIO;
    return -1;
}

/* Looks the real function up when it is first called: other libraries write before we begin. */
#define WRITER(name, parameters, all, half) \
    ssize_t name parameters { \
        static ssize_t(*real) parameters; \
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name); \
        switch (fate(file)) { \
        case NONE: \
        case LIE: return real all; \
        case SHORT_WRITE: return real half; \
        case KILL: \
            (void)!real half; \
            kill(getpid(), SIGKILL); \
            return -1; \
        case ENOSPC_ERROR: return fail(ENOSPC_ERROR); \
        default: return fail(EIO_ERROR); \
        } \
    }

#define OTHER(name, parameters, arguments) \
    int name parameters { \
        static int(*real) parameters; \
        if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name); \
        enum kind kind = fate(file); \
        if (kind == LIE && !is_truncation(#name)) return 0; \
        if (kind == KILL) kill(getpid(), SIGKILL); \
        if (kind == EIO_ERROR || kind == ENOSPC_ERROR) return fail(kind); \
        return real arguments; \
    }

static int is_truncation(const char *name) { return strncmp(name, "ftruncate", 9) == 0; }

WRITER(write, (int file, const void *bytes, size_t count), (file, bytes, count),
       (file, bytes, count / 2))
WRITER(pwrite, (int file, const void *bytes, size_t count, off_t place),
       (file, bytes, count, place), (file, bytes, count / 2, place))
WRITER(pwrite64, (int file, const void *bytes, size_t count, off64_t place),
       (file, bytes, count, place), (file, bytes, count / 2, place))
OTHER(fsync, (int file), (file))
OTHER(fdatasync, (int file), (file))
OTHER(ftruncate, (int file, off_t size), (file, size))
OTHER(ftruncate64, (int file, off64_t size), (file, size))

__attribute__((destructor)) static void print_total(void) {
    if (getenv("FAULT_PRINT")) fprintf(stderr, "calls %ld\n", (long)calls);
}
