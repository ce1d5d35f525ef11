/* What a program can tell the recorder. Everything here does nothing, at the price of one test of
 * a constant, unless the program was linked by `homenode cc` and runs under `homenode record`; so
 * the same source compiles natively with no library at all. A program built natively, by a
 * compiler like gcc for x86-64, aarch64 or riscv64, then executes an instruction that does nothing
 * and one load of its own stack, by which `homenode record --via qemu` knows these calls.
 *
 *     #include <homenode.h>
 *     homenode_private(my_scratch, sizeof my_scratch);   this memory is mine alone
 *     homenode_init_done();                              the computation proper begins
 *     homenode_phase(1);                                 a numbered phase begins
 *     homenode_marker("sorted");                         free text, at most 255 bytes are kept
 *
 * The names ending in _event are the runtime's; programs call the functions without it.
 */
#ifndef HOMENODE_H
#define HOMENODE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For a function whose references are not to be recorded, such as a check of results. Functions of
 * the C library that it calls are recorded all the same. */
#if defined(HOMENODE_HOOKS_IN_ASSEMBLY)
#define HOMENODE_UNRECORDED __attribute__((noinline, section(".text.homenode_unrecorded")))
#elif defined(__GNUC__)
#define HOMENODE_UNRECORDED __attribute__((no_sanitize("thread")))
#else
#define HOMENODE_UNRECORDED
#endif

/* Weak: the address is null in a program that has no recorder runtime. */
extern void homenode_init_done_event(void) __attribute__((weak));
extern void homenode_phase_event(unsigned number) __attribute__((weak));
extern void homenode_marker_event(const char *text) __attribute__((weak));
extern void homenode_private_event(const void *start, size_t size_bytes) __attribute__((weak));

#if defined(__GNUC__) && defined(__LP64__) && defined(__x86_64__)
/* An 8-byte nop with a displacement of our own, which no compiler fills gaps with. */
#define HOMENODE_MARK_CODE \
    ".byte 0x0f, 0x1f, 0x84, 0x00, 0x01, 0x4d, 0x6e, 0x48\n\t{movq (%0), %0|mov %0, [%0]}"
#elif defined(__GNUC__) && defined(__LP64__) && defined(__aarch64__)
/* A constant moved to the register that is always zero. */
#define HOMENODE_MARK_CODE "movz xzr, #0x486e\n\tldr %0, [%0]"
#elif defined(__GNUC__) && defined(__LP64__) && defined(__riscv)
/* One of the hints that the instruction set leaves to users. */
#define HOMENODE_MARK_CODE "slti zero, zero, 0x48e\n\tld %0, 0(%0)"
#endif

#ifdef HOMENODE_MARK_CODE
/* The plugin of the emulator sees the instruction that does nothing when it translates it, and so
 * knows what the load behind it reads: the number of the event (as in runtime/wire.h) and its
 * arguments. A function of its own, so that callers look the same with a recorder and without. */
static __attribute__((noinline, cold, unused)) void homenode_mark(unsigned long event,
                                                                  unsigned long first,
                                                                  unsigned long second)
{
    const unsigned long words[3] = {event, first, second};
    const unsigned long *at = words;

    __asm__ volatile(HOMENODE_MARK_CODE : "+r"(at) : : "memory");
}
#else
static inline __attribute__((unused)) void homenode_mark(unsigned long event, unsigned long first,
                                                         unsigned long second)
{
    (void)event;
    (void)first;
    (void)second;
}
#endif

/* Initialisation is over: analyses that leave out initialisation start here. */
static inline __attribute__((unused)) void homenode_init_done(void)
{
    if (homenode_init_done_event)
        homenode_init_done_event();
    else
        homenode_mark(18, 0, 0);
}

/* A new phase of the program begins; `number` is the program's own. */
static inline __attribute__((unused)) void homenode_phase(unsigned number)
{
    if (homenode_phase_event)
        homenode_phase_event(number);
    else
        homenode_mark(19, number, 0);
}

/* Puts a text into the trace. */
static inline __attribute__((unused)) void homenode_marker(const char *text)
{
    if (homenode_marker_event)
        homenode_marker_event(text);
    else
        homenode_mark(20, (unsigned long)text, 0);
}

/* Declares a region private to the calling thread, whatever memory it lies in: its references are
 * flagged private, like those to the thread's own stack, until another thread touches them. */
static inline __attribute__((unused)) void homenode_private(const void *start, size_t size_bytes)
{
    if (homenode_private_event)
        homenode_private_event(start, size_bytes);
    else
        homenode_mark(21, (unsigned long)start, size_bytes);
}

#ifdef __cplusplus
}
#endif

#endif
