/* syscall(), by which libstdc++ uses futexes (std::future, std::atomic::wait, guards of static
 * variables): those waits are performed under the baton. Other system calls are passed on.
 */
#include "hn.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

enum { FUTEX_LOOK_AGAIN_NS = 1000000 };

HN_DECLARE_REAL(long, syscall, (long, ...));

static int64_t wait_limit(int op, const struct timespec *timeout)
{
    if (timeout == NULL)
        return -1;
    if ((op & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return timeout->tv_sec * INT64_C(1000000000) + timeout->tv_nsec;
    return hn_until(timeout, (op & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

/* 0 or an error number. A futex that is not private may be woken by another process. */
static int futex_wait(struct hn_thread *me, uint32_t *word, uint32_t value, int64_t limit_ns,
                      int shared)
{
    enum hn_woken why;

    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        if (limit_ns == 0)
            return ETIMEDOUT;
        if (shared && (limit_ns < 0 || limit_ns > FUTEX_LOOK_AGAIN_NS)) {
            why = hn_block(me, word, HN_W_FUTEX, FUTEX_LOOK_AGAIN_NS);
            if (limit_ns > 0)
                limit_ns -= FUTEX_LOOK_AGAIN_NS;
            if (why == HN_BY_TIME)
                continue;
        } else {
            why = hn_block(me, word, HN_W_FUTEX, limit_ns);
        }
        if (why == HN_BY_TIME)
            return ETIMEDOUT;
        return why == HN_BY_SIGNAL ? EINTR : 0;
    }
    return EAGAIN;
}

/* Whether the call was performed here; `result` is then its result, or -errno. */
static int futex_call(struct hn_thread *me, const long arguments[6], long *result)
{
    uint32_t *word = (uint32_t *)arguments[0];
    const int op = (int)arguments[1];
    const uint32_t value = (uint32_t)arguments[2];
    long woken;

    switch (op & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
        *result = -futex_wait(me, word, value,
                              wait_limit(op, (const struct timespec *)arguments[3]),
                              (op & FUTEX_PRIVATE_FLAG) == 0);
        return 1;
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET:
        woken = hn_wake(word, HN_W_FUTEX, value > INT_MAX ? INT_MAX : (int)value);
        if ((uint32_t)woken < value)
            woken += hn_futex(word, op, value - (uint32_t)woken, NULL);
        *result = woken;
        return 1;
    default:
        return 0;
    }
}

INTERPOSE_DECLARED(long, syscall, (long number, ...))
{
    struct hn_thread *me;
    long arguments[6];
    long result;
    va_list rest;

    va_start(rest, number);
    for (int i = 0; i < 6; i++)
        arguments[i] = va_arg(rest, long);
    va_end(rest);
    me = number == SYS_futex ? hn_inside() : NULL;
    if (me != NULL && hn_deterministic() && futex_call(me, arguments, &result)) {
        if (result >= 0)
            return result;
        errno = (int)-result;
        return -1;
    }
    if (number != SYS_futex)
        hn_be_home();
    result = REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
                           arguments[4], arguments[5]);
    if (me != NULL && !hn_deterministic())
        hn_stamp(me);
    return result;
}
