/*
 * Shows the thread sanitizer the slow half of Swift's Mutex: loaded before the library that has
 * it (LD_PRELOAD).
 *
 * Synchronization.Mutex takes a free lock in code that is compiled into its user, where the
 * sanitizer sees it; a lock that is taken already is waited for in the standard library, which is
 * not instrumented, and everything behind it would look like a race.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

typedef SWIFT void lock_function(uint32_t thread, SELF handle);
typedef SWIFT void unlock_function(SELF handle);

static void tell_sanitizer(const char *event, void *handle) {
    void (*tell)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, event);
    if (tell) tell(handle);
}

SWIFT void lock_slow(uint32_t thread, SELF handle) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF handle) {
    lock_function *real = (lock_function *)dlsym(RTLD_NEXT, LOCK);
    real(thread, handle);
    tell_sanitizer("__tsan_acquire", handle);
}

SWIFT void unlock_slow(SELF handle) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF handle) {
    unlock_function *real = (unlock_function *)dlsym(RTLD_NEXT, UNLOCK);
    tell_sanitizer("__tsan_release", handle);
    real(handle);
}
