/* Calls of homenode.h by a natively built program.
 *
 * The program executes a no-op instruction, then loads the first of three words: the number of an
 * event and its arguments. The load is recorded as that event, and not as a reference.
 */
#include "guest.h"

#include <string.h>

enum { PAGE_BYTES = 4096 };

/* Whether the code at an address follows such an instruction, which is then in another block of
 * translated code. */
int behind_mark(uint64_t address)
{
    uint8_t code[MARK_BYTES_MAX];

    return peek(address - mark_size(), code, mark_size()) && is_mark(code, mark_size());
}

/* Copies the readable part of a text; returns its length. */
static size_t text_at(uint64_t address, char text[HN_NAME_BYTES])
{
    size_t length = 0;

    while (length < HN_NAME_BYTES) {
        size_t part = PAGE_BYTES - (address + length) % PAGE_BYTES;

        if (part > HN_NAME_BYTES - length)
            part = HN_NAME_BYTES - length;
        if (!peek(address + length, text + length, part))
            break;
        const char *end = memchr(text + length, '\0', part);

        if (end != NULL)
            return (size_t)(end - text);
        length += part;
    }
    return length;
}

static void say(struct hn_thread *me, const uint64_t mark[3])
{
    const uint64_t region[4] = {mark[1], 0, mark[2], 0};
    char text[HN_NAME_BYTES];

    switch (mark[0]) {
    case HN_EV_INIT_DONE:
        hn_event(me, HN_EV_INIT_DONE, 0, 0);
        break;
    case HN_EV_PHASE:
        hn_event(me, HN_EV_PHASE, mark[1], 0);
        break;
    case HN_EV_MARKER:
        hn_marker_event(me, text, text_at(mark[1], text));
        break;
    case HN_EV_PRIVATE:
        if (mark[2] != 0)
            hn_event_with(me, HN_EV_PRIVATE, region);
        break;
    default:
        break;
    }
}

void on_mark(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    uint64_t mark[3];

    (void)info;
    (void)data;
    if ((hn_me->next >= hn_me->limit && !come_in(cpu)) || !peek(address, mark, sizeof mark))
        return;
    say(hn_me, mark);
    if (hn_me->next >= hn_me->limit)
        yield_in_block(hn_me);
}
