/* Repeated string instructions of x86-64: `rep movs`, `rep stos` and `rep lods`.
 *
 * QEMU makes their accesses element by element; a processor makes them in blocks. So they are
 * recorded in pieces of at most 64 bytes that do not cross a 64-byte line, as hooks record memcpy.
 * How many elements remain is in a register, which is up to date when an iteration accesses memory:
 * it has begun with a jump. A piece is recorded at its last element, so that a turn may end there.
 *
 * Until version 10, QEMU executes the instruction once for each element, and once more to find that
 * none remain; it is one instruction nevertheless.
 */
#include "registers.h"
#include "sites.h"

#include <string.h>

enum { LINE_BYTES_OF_PIECES = 64, COUNT = 1, SOURCE = 6, TARGET = 7 };
/* The direction in the processor's state: 1 or -1, in 32 bits. */
enum { DIRECTION_AT = 172 };

struct string_piece {
    uint64_t low;               /* first byte */
    uint64_t next;              /* address of the next element */
    uint64_t total, left;       /* elements */
    uint64_t behind;            /* elements behind the piece */
};

/* The instruction that the calling thread repeats. */
struct repeat {
    uint64_t pc;                /* 0: none */
    uint64_t ended;             /* one that will be executed once more, to find the end */
    uint64_t began;             /* instructions counted then */
    int64_t step;
    int recorded;
    qemu_plugin_meminfo_t info[2];
    struct string_piece pieces[2];     /* of loads and of stores */
};

static __thread struct repeat repeat __attribute__((tls_model("initial-exec")));

static uint64_t position_of_site(const struct site *s)
{
    return *hn_count - s->to_come;
}

/* Records the elements of a piece that have been accessed. */
static void record_piece(unsigned cpu, struct site *s, int store, uint64_t size)
{
    struct string_piece *p = &repeat.pieces[store];
    const uint64_t bytes = (p->total - p->left) * size;
    const uint64_t low = repeat.step < 0 ? p->low + p->left * size : p->low;
    const uint64_t what = what_of(s, repeat.info[store]) & ~(UINT64_C(0x7f) << HN_SIZE_SHIFT);

    /* The first has the gap in front of the instruction. */
    if (hn_deterministic())
        hn_mark = repeat.recorded ? position_of_site(s)
                                  : hn_mark + position_of_site(s) - repeat.began;
    repeat.recorded = 1;
    p->total = p->left = 0;
    record_reference(cpu, s, what | bytes << HN_SIZE_SHIFT, low);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Begins a piece with an element; where registers are not known, it is the only one. */
static void begin_piece(struct string_piece *p, int store, uint64_t address, uint64_t size)
{
    const void *state = registers_are_right() ? state_of_thread() : NULL;
    const uint64_t in_line = address % LINE_BYTES_OF_PIECES;
    uint64_t fitting, remaining;
    int32_t direction = 0;

    p->low = address;
    p->total = p->left = 1;
    p->behind = UINT64_MAX;
    repeat.step = (int64_t)size;
    if (state == NULL || register_value(state, store ? TARGET : SOURCE) != address)
        return;
    memcpy(&direction, (const char *)state + DIRECTION_AT, sizeof direction);
    remaining = register_value(state, COUNT);
    if ((direction != 1 && direction != -1) || remaining == 0)
        return;
    repeat.step *= direction;
    if (in_line + size > LINE_BYTES_OF_PIECES)
        fitting = 1;
    else if (direction == 1)
        fitting = (LINE_BYTES_OF_PIECES - in_line) / size;
    else
        fitting = in_line / size + 1;
    p->total = p->left = smaller(fitting, remaining);
    p->behind = remaining - p->total;
    if (direction == -1)
        p->low -= (p->total - 1) * size;
}

/* Records what an interrupted repetition has accessed. */
static void end_pieces(unsigned cpu, struct site *s, uint64_t size)
{
    for (int store = 0; store < 2; store++)
        if (repeat.pieces[store].total != repeat.pieces[store].left)
            record_piece(cpu, s, store, size);
}

static void end_repeat(const struct site *s)
{
    const int again = repeats_are_executed_again();

    if (hn_deterministic())
        hn_mark = position_of_site(s) + (uint64_t)again;
    repeat.ended = again ? s->pc : 0;
    repeat.pc = 0;
}

void on_repeat(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct site *s = data;
    const int store = qemu_plugin_mem_is_store(info);
    const uint64_t size = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
    struct string_piece *p = &repeat.pieces[store];

    if (repeat.pc != s->pc) {
        memset(&repeat, 0, sizeof repeat);
        repeat.pc = s->pc;
        repeat.began = position_of_site(s);
    } else if (p->left != 0 && p->next != address) {
        end_pieces(cpu, s, size);
    }
    repeat.info[store] = info;
    if (p->left == 0)
        begin_piece(p, store, address, size);
    p->left--;
    p->next = address + (uint64_t)repeat.step;
    if (p->left != 0)
        return;
    const int last = p->behind == 0 && store == ((s->flags & SITE_STORES) != 0);

    record_piece(cpu, s, store, size);
    if (last)
        end_repeat(s);
}

/* Whether an execution of a repeated instruction is not its first; called before each. */
int repeat_goes_on(const struct site *s)
{
    const int again = repeats_are_executed_again();

    if (repeat.ended == s->pc) {
        repeat.ended = 0;
        return 1;
    }
    return again && repeat.pc == s->pc;
}
