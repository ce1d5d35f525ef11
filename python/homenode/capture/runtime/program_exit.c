/* Logical order: the end of the program. Other threads may still run, and how far they get before
 * the kernel ends them is not determined. So the thread that ends the program waits until they
 * have passed the end of its quantum, or sleep, and the trace ends there; operations that need a
 * turn are no longer performed. If a signal ends the program, or exec replaces it, the end is not
 * determined.
 */
#include "hn.h"

#include <stdlib.h>

static void end_program(void)
{
    struct hn_thread *me = hn_me;

    if (!hn_logical || !hn_recording || me->op_clock == UINT64_MAX)
        return;
    me = hn_inside();
    if (me == NULL || hn_shared->ended_by != 0)
        return;
    hn_jump(me, hn_after(me, me, hn_clock(me)) - hn_clock(me));
    hn_take_turn(me);
    hn_note_jump(me);
    hn_shared->ends_at = hn_clock(me);
    __atomic_store_n(&hn_shared->ended_by, me->number + 1, __ATOMIC_SEQ_CST);
}

/* Runs after all destructors of the program. */
__attribute__((destructor(101))) static void end_by_itself(void)
{
    end_program();
}

#define ENDING(name, params, ...)       \
    INTERPOSE(void, name, params)       \
    {                                   \
        end_program();                  \
        REAL(name)(__VA_ARGS__);        \
        __builtin_unreachable();        \
    }

ENDING(_exit, (int code), code)
ENDING(_Exit, (int code), code)
ENDING(quick_exit, (int code), code)
ENDING(abort, (void), )
