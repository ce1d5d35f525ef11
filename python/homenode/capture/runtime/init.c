/* Start of the runtime, the functions of homenode.h, and loading of libraries. */
#include "hn.h"

static void begin_recording(struct hn_header *area)
{
    struct hn_thread *me;

    hn_shared = area;
    if (!hn_make_control())
        return;
    hn_stacks_init();
    hn_greet();
    hn_read_settings();
    hn_user_threads_init();
    hn_thread_init();
    hn_clock_init();
    me = hn_first_thread();
    me->pthread = pthread_self();
    hn_announce(me);
    hn_set_limit(me);
    if (hn_one_ring())
        hn_pin();
}

/* Called by the first constructor of every instrumented file, before any of its code. */
void hn_start(void)
{
    static int started;
    struct hn_header *area;

    if (started)
        return;
    started = 1;
    hn_resolve_all();
    area = hn_open_area();
    if (area != NULL)
        begin_recording(area);
}

__attribute__((constructor(101))) static void start_without_instrumented_code(void)
{
    hn_start();
}

#ifndef HN_STATIC
/* Loads a library. The recorder must read its mapping while this process exists. */
INTERPOSE(void *, dlopen, (const char *name, int flags))
{
    struct hn_thread *me = hn_inside();
    void *library = REAL(dlopen)(name, flags);

    if (me != NULL && library != NULL && hn_c->order != 0) {
        me->in_runtime++;
        hn_greet();
        me->in_runtime--;
    }
    return library;
}
#endif

HN_EXPORT void homenode_init_done_event(void);
HN_EXPORT void homenode_init_done_event(void)
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_event(me, HN_EV_INIT_DONE, 0, 0);
}

HN_EXPORT void homenode_phase_event(unsigned number);
HN_EXPORT void homenode_phase_event(unsigned number)
{
    struct hn_thread *me = hn_inside();

    if (me != NULL)
        hn_event(me, HN_EV_PHASE, number, 0);
}

HN_EXPORT void homenode_private_event(const void *start, size_t size_bytes);
HN_EXPORT void homenode_private_event(const void *start, size_t size_bytes)
{
    const uint64_t words[4] = {(uintptr_t)start, 0, size_bytes, 0};
    struct hn_thread *me = hn_inside();

    if (me != NULL && size_bytes != 0)
        hn_event_with(me, HN_EV_PRIVATE, words);
}

HN_EXPORT void homenode_marker_event(const char *text);
HN_EXPORT void homenode_marker_event(const char *text)
{
    struct hn_thread *me = hn_inside();
    size_t length = 0;

    if (me == NULL)
        return;
    while (length < HN_NAME_BYTES && text[length] != '\0')
        length++;
    hn_marker_event(me, text, length);
}
