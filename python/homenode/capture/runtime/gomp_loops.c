/* OpenMP through libgomp: the assignment of loop iterations and sections to threads. In logical
 * order the calls are made in turn; in the other orders they are passed on.
 */
#include "gomp.h"

typedef unsigned long long ull;

#define PART(kind)                                                                         \
    IN_TURN(_Bool, GOMP_loop_##kind##_next, (long *first, long *last), first, last)        \
    IN_TURN(_Bool, GOMP_loop_ull_##kind##_next, (ull *first, ull *last), first, last)
#define CHUNKS(kind)                                                                       \
    PART(kind)                                                                             \
    IN_TURN(_Bool, GOMP_loop_##kind##_start,                                               \
            (long start, long end, long step, long chunk, long *first, long *last),        \
            start, end, step, chunk, first, last)                                          \
    IN_TURN(_Bool, GOMP_loop_ull_##kind##_start,                                           \
            (_Bool up, ull start, ull end, ull step, ull chunk, ull *first, ull *last),    \
            up, start, end, step, chunk, first, last)
#define AT_RUN_TIME(kind)                                                                  \
    PART(kind)                                                                             \
    IN_TURN(_Bool, GOMP_loop_##kind##_start,                                               \
            (long start, long end, long step, long *first, long *last), start, end, step,  \
            first, last)                                                                   \
    IN_TURN(_Bool, GOMP_loop_ull_##kind##_start,                                           \
            (_Bool up, ull start, ull end, ull step, ull *first, ull *last), up, start,    \
            end, step, first, last)

CHUNKS(static)
CHUNKS(dynamic)
CHUNKS(guided)
CHUNKS(nonmonotonic_dynamic)
CHUNKS(nonmonotonic_guided)
CHUNKS(ordered_static)
CHUNKS(ordered_dynamic)
CHUNKS(ordered_guided)
AT_RUN_TIME(runtime)
AT_RUN_TIME(ordered_runtime)
AT_RUN_TIME(nonmonotonic_runtime)
AT_RUN_TIME(maybe_nonmonotonic_runtime)

IN_TURN(_Bool, GOMP_loop_start,
        (long start, long end, long step, long kind, long chunk, long *first, long *last,
         uintptr_t *reductions, void **memory),
        start, end, step, kind, chunk, first, last, reductions, memory)
IN_TURN(_Bool, GOMP_loop_ull_start,
        (_Bool up, ull start, ull end, ull step, long kind, ull chunk, ull *first, ull *last,
         uintptr_t *reductions, void **memory),
        up, start, end, step, kind, chunk, first, last, reductions, memory)

IN_TURN(unsigned, GOMP_sections_start, (unsigned count), count)
IN_TURN(unsigned, GOMP_sections_next, (void), )
IN_TURN(unsigned, GOMP_sections2_start, (unsigned count, uintptr_t *reductions, void **memory),
        count, reductions, memory)
