/* Call stacks of allocations, as stacks.c has them for instrumented programs: most repeat an
 * earlier one with the same stack pointer, and then each return address is still in its place.
 */
#include "registers.h"

#include <stdlib.h>
#include <string.h>

enum { STACK_MEMOS = 1024, CODE_ADDRESS_BITS = 48 };

/* The stack that was found for a caller and stack pointer. */
struct stack_memo {
    uint64_t caller, stack, frame;
    uint32_t position;
    uint32_t count;                             /* return addresses; 0: cannot be checked */
    uint32_t offset[HN_STACK_FRAMES];           /* of each, from `stack` */
    uint64_t address[HN_STACK_FRAMES];
};

static struct stack_memo *memos;
static uint32_t walking;

void call_stacks_begin(void)
{
    hn_shared->heap_unseen = !registers_are_possible();
    if (!hn_stack_table_init())
        return;
    memos = calloc(STACK_MEMOS, sizeof *memos);
    files_loaded_first();
}

/* In a child of fork, whose stacks have other positions. */
void call_stacks_after_fork(void)
{
    __atomic_store_n(&walking, 0, __ATOMIC_RELAXED);
    if (memos != NULL)
        memset(memos, 0, STACK_MEMOS * sizeof *memos);
}

static void begin_walk(void)
{
    while (__atomic_exchange_n(&walking, 1, __ATOMIC_ACQUIRE) != 0)
        hn_sys(SYS_sched_yield, 0, 0, 0, 0);
}

static void end_walk(void)
{
    __atomic_store_n(&walking, 0, __ATOMIC_RELEASE);
}

/* The end of the stack on which the thread is. */
static uint64_t stack_end(const struct hn_thread *me, uint64_t stack)
{
    const struct guest *g = guest_of(me);

    if (stack >= g->stack_low && stack < g->stack_high)
        return g->stack_high;
    return region_end(stack);
}

static uint64_t word_at(uint64_t address)
{
    uint64_t word;

    memcpy(&word, (const void *)(uintptr_t)address, sizeof word);
    return word;
}

static int is_same_stack(const struct stack_memo *m, uint64_t caller, uint64_t stack,
                         uint64_t frame, uint64_t end)
{
    if (m->count == 0 || m->caller != caller || m->stack != stack || m->frame != frame ||
        stack + m->offset[m->count - 1] + sizeof(uint64_t) > end)
        return 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (word_at(stack + m->offset[i]) != m->address[i])
            return 0;
    return 1;
}

/* Whether a program counter is behind a call. */
static int is_return_address(uint64_t pc)
{
    const struct loaded_file *f = file_with_code(pc - 1);
    const uint8_t *bytes;
    size_t left = 0;

    if (f == NULL)
        return 0;
    bytes = bytes_at(f, pc - f->moved - CALL_BYTES_MAX, &left);
    return bytes != NULL && left >= CALL_BYTES_MAX && is_behind_call(bytes);
}

/* Goes from a function to its caller; returns the address where its return address is saved, or
 * 0. */
static uint64_t step(uint64_t registers[REGISTERS_MAX], uint64_t *pc, uint64_t end)
{
    const struct unwind_row *row = unwind_row(*pc - 1);
    const uint64_t stack = registers[hn_registers->stack];
    /* Go on aarch64 saves the frame pointer in the word below the stack pointer. */
    const uint64_t low = row->is_guess ? stack - sizeof(uint64_t) : stack;
    uint64_t base, link = 0;

    if (row->base == NO_REGISTER)
        return 0;
    base = registers[row->base] + (uint64_t)row->base_offset;
    if (base <= stack || base > end || base % sizeof(uint64_t) != 0)
        return 0;
    for (unsigned i = 0; i < row->count; i++) {
        const uint64_t place = base + (uint64_t)(int64_t)row->offset[i];

        if (place < low || place > end - sizeof(uint64_t) || place % sizeof(uint64_t) != 0)
            return 0;
        if (row->saved[i] == LINK_COLUMN)
            link = place;
        else
            registers[row->saved[i]] = word_at(place);
    }
    if (link == 0)
        return 0;
    /* On aarch64 the upper bits may be a signature. */
    *pc = word_at(link) & ((UINT64_C(1) << CODE_ADDRESS_BITS) - 1);
    registers[hn_registers->stack] = base;
    return row->is_guess && !is_return_address(*pc) ? 0 : link;
}

static uint32_t walked_stack(const void *state, uint64_t caller, uint64_t end,
                             struct stack_memo *m)
{
    uint64_t registers[REGISTERS_MAX], pc = caller;
    struct hn_stack_entry entry = {.count = 0};

    for (unsigned i = 0; i < REGISTERS_MAX; i++)
        registers[i] = register_value(state, i);
    if (hn_registers->link == NO_REGISTER)      /* the call has put it there */
        registers[hn_registers->stack] += sizeof(uint64_t);
    m->count = 0;
    while (entry.count < HN_STACK_FRAMES && file_with_code(pc - 1) != NULL) {
        uint64_t place;

        entry.word[entry.count++] = pc - 1;
        place = step(registers, &pc, end);
        if (place == 0)
            break;
        m->offset[m->count] = (uint32_t)(place - m->stack);
        m->address[m->count++] = word_at(place);
    }
    entry.head = entry.count;
    return entry.count == 0 ? 0 : hn_stack_position(&entry);
}

/* Position of the call stack of a function that has just been called; 0 if there is none. */
uint32_t call_stack(struct hn_thread *me, const void *state, uint64_t caller)
{
    const uint64_t stack = register_value(state, hn_registers->stack);
    const uint64_t frame = register_value(state, hn_registers->frame);
    const uint64_t end = stack_end(me, stack);
    struct stack_memo *m;
    uint32_t position;

    if (memos == NULL || end <= stack || end - stack > UINT32_MAX)
        return 0;
    begin_walk();
    m = &memos[hn_mixed(hn_mixed(0, caller), stack) >> 20 & (STACK_MEMOS - 1)];
    if (!is_same_stack(m, caller, stack, frame, end)) {
        m->caller = caller;
        m->stack = stack;
        m->frame = frame;
        m->position = walked_stack(state, caller, end, m);
    }
    position = m->position;
    end_walk();
    return position;
}
