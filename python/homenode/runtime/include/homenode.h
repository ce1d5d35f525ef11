/* What a program can tell the recorder. Everything here does nothing, at the price of one test of
 * a constant, unless the program was linked by `homenode cc` and runs under `homenode record`; so
 * the same source compiles natively with no library at all.
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

/* Weak: the address is null in a program that has no recorder runtime. */
extern void homenode_init_done_event(void) __attribute__((weak));
extern void homenode_phase_event(unsigned number) __attribute__((weak));
extern void homenode_marker_event(const char *text) __attribute__((weak));
extern void homenode_private_event(const void *start, size_t size_bytes) __attribute__((weak));

/* Initialisation is over: analyses that leave out initialisation start here. */
static inline __attribute__((unused)) void homenode_init_done(void)
{
    if (homenode_init_done_event)
        homenode_init_done_event();
}

/* A new phase of the program begins; `number` is the program's own. */
static inline __attribute__((unused)) void homenode_phase(unsigned number)
{
    if (homenode_phase_event)
        homenode_phase_event(number);
}

/* Puts a text into the trace. */
static inline __attribute__((unused)) void homenode_marker(const char *text)
{
    if (homenode_marker_event)
        homenode_marker_event(text);
}

/* Declares a region private to the calling thread, whatever memory it lies in: its references are
 * flagged private, like those to the thread's own stack, until another thread touches them. */
static inline __attribute__((unused)) void homenode_private(const void *start, size_t size_bytes)
{
    if (homenode_private_event)
        homenode_private_event(start, size_bytes);
}

#ifdef __cplusplus
}
#endif

#endif
