/* Allocations of the program, seen by the calls of allocation functions: those of the C library, of
 * C++, Rust and Go, and of allocators that are linked in their place.
 *
 * A function is called where a block of translated code begins at its address; its arguments are
 * then in registers. It returns where a block begins behind a call, with the stack pointer that it
 * had; the result is then in a register. Blocks behind calls are many, and cost a comparison. Of
 * functions that call one another only the outermost counts.
 */
#include "registers.h"

enum { CALLS_MAX = 4, NESTED_MAX = 32, NESTING_BYTES = 1 << 20 };
enum { GO_STACKS = 64, GO_STACK_BYTES_MIN = 1 << 13 };

/* A call of an allocation function that has not returned. */
struct allocating {
    enum allocator kind;
    uint32_t stack;                     /* position of its call stack */
    uint64_t caller, pointer;           /* where it returns, and the stack pointer then */
    uint64_t old, size;                 /* a block that is freed, or the place of the result */
    unsigned nested;                    /* calls around which it was found */
};

/* Of the calling thread. Several if goroutines take turns in it, or functions end by exceptions. */
static __thread struct allocating calls[CALLS_MAX] __attribute__((tls_model("initial-exec")));
static __thread unsigned call_count __attribute__((tls_model("initial-exec")));
/* 0: return places need no attention. */
static __thread unsigned attention __attribute__((tls_model("initial-exec"))) = 1;
static __thread const void *own_state __attribute__((tls_model("initial-exec")));
static __thread uint32_t mapping_stack __attribute__((tls_model("initial-exec")));

/* Stacks that Go's runtime has made last, of which new threads get some. */
static struct {
    uint64_t low, high;
} go_stacks[GO_STACKS];
static uint32_t go_stack_next;

static uint64_t argument(const void *state, unsigned number)
{
    return register_value(state, hn_registers->arguments[number]);
}

/* The calling thread, if it may record now. */
static struct hn_thread *allocating_thread(unsigned cpu)
{
    if (hn_me->next >= hn_me->limit && !come_in(cpu))
        return NULL;
    return recording(hn_me) && !hn_me->in_runtime ? hn_me : NULL;
}

static void settle_block(struct hn_thread *me)
{
    if (me->next >= me->limit)
        yield_in_block(me);
}

static void block_freed(struct hn_thread *me, uint64_t block)
{
    if (block != 0)
        hn_event(me, HN_EV_FREE, block, 0);
}

/* Whether a call may still be in progress: an exception may have ended it. Where calls leave their
 * return address on the stack, it is there. */
static int may_be_running(struct allocating *c)
{
    uint64_t word = c->caller;

    if (hn_registers->link == NO_REGISTER)
        memcpy(&word, (const void *)(uintptr_t)(c->pointer - sizeof word), sizeof word);
    return word == c->caller && c->nested++ < NESTED_MAX;
}

/* Whether a call is in progress around a function with this stack pointer. Forgets calls that have
 * ended. */
static int is_nested(uint64_t pointer)
{
    for (unsigned i = 0; i < call_count;) {
        const uint64_t outer = calls[i].pointer;
        const int near = outer + NESTING_BYTES > pointer && outer < pointer + NESTING_BYTES;

        if (near && outer >= pointer && may_be_running(&calls[i]))
            return 1;
        if (near)
            calls[i] = calls[--call_count];
        else
            i++;
    }
    return 0;
}

/* Sizes and old block by the kind of the function. */
static void note_arguments(struct allocating *c, const void *state)
{
    switch (c->kind) {
    case OF_SIZE:
        c->size = argument(state, 0);
        break;
    case OF_PRODUCT:
        c->size = argument(state, 0) * argument(state, 1);
        break;
    case OF_OLD:
        c->old = argument(state, 0);
        c->size = argument(state, 1);
        break;
    case OF_OLD_PRODUCT:
        c->old = argument(state, 0);
        c->size = argument(state, 1) * argument(state, 2);
        break;
    case OF_OLD_ALIGNED:
        c->old = argument(state, 0);
        c->size = argument(state, 3);
        break;
    case OF_ALIGNED:
        c->size = argument(state, 1);
        break;
    case TO_PLACE:
        c->old = argument(state, 0);
        c->size = argument(state, 2);
        break;
    case FREES:
        c->old = argument(state, 0);
        break;
    case GO_BLOCK:
        c->size = register_value(state, hn_registers->go_argument);
        break;
    default:
        break;
    }
}

static void allocation_begins(struct hn_thread *me, const void *state, struct allocating call)
{
    if (call.kind != GO_STACK && call.kind != FREES)
        call.stack = call_stack(me, state, call.caller);
    if (call.kind == MAPS) {
        mapping_stack = call.stack;
        return;
    }
    note_arguments(&call, state);
    if (call.kind == FREES)
        block_freed(me, call.old);
    if (call_count == CALLS_MAX)
        memmove(&calls[0], &calls[1], --call_count * sizeof *calls);
    calls[call_count++] = call;
    attention = call_count;
}

/* A block begins that is an allocation function. */
__attribute__((used)) static void allocator_entered(unsigned cpu, void *data, const void *state)
{
    struct allocating call = {.kind = (enum allocator)(uintptr_t)data};
    struct hn_thread *me = allocating_thread(cpu);
    uint64_t stack;

    own_state = state;
    if (me == NULL || !registers_are_right())
        return;
    stack = register_value(state, hn_registers->stack);
    call.pointer = stack;
    if (hn_registers->link == NO_REGISTER) {
        memcpy(&call.caller, (const void *)(uintptr_t)stack, sizeof call.caller);
        call.pointer += sizeof call.caller;
    } else {
        call.caller = register_value(state, hn_registers->link);
    }
    if (is_nested(call.pointer))
        return;
    allocation_begins(me, state, call);
    settle_block(me);
}

static void note_go_stack(struct hn_thread *me, uint64_t low, uint64_t high)
{
    static const char name[] = "goroutine stacks";
    const uint64_t what[3] = {low, 0, high - low};
    uint32_t at;

    if (high <= low || high - low > NESTING_BYTES)
        return;
    hn_map_event(me, what, name, sizeof name - 1);
    if (high - low < GO_STACK_BYTES_MIN)
        return;
    at = __atomic_fetch_add(&go_stack_next, 1, __ATOMIC_RELAXED) % GO_STACKS;
    go_stacks[at].low = low;
    go_stacks[at].high = high;
}

/* A stack of Go's with this address; returns whether there is one. */
int go_stack_at(uint64_t address, uint64_t *low, uint64_t *high)
{
    for (unsigned i = 0; i < GO_STACKS; i++) {
        if (address < go_stacks[i].low || address >= go_stacks[i].high)
            continue;
        *low = go_stacks[i].low;
        *high = go_stacks[i].high;
        return 1;
    }
    return 0;
}

static void allocation_ends(struct hn_thread *me, const void *state, const struct allocating *c)
{
    uint64_t block = register_value(state, hn_registers->result);

    if (c->kind == FREES)
        return;
    if (c->kind == GO_STACK) {
        note_go_stack(me, block, register_value(state, hn_registers->second));
        return;
    }
    if (c->kind == TO_PLACE && ((int)block != 0 || !peek(c->old, &block, sizeof block)))
        return;
    if ((c->kind == OF_OLD || c->kind == OF_OLD_PRODUCT || c->kind == OF_OLD_ALIGNED) &&
        (block != 0 || c->size == 0))
        block_freed(me, c->old);
    if (block != 0) {
        const uint64_t words[4] = {block, c->caller - 1, c->size, c->stack};

        hn_event_with(me, HN_EV_ALLOC, words);
    }
}

static __attribute__((noinline)) void look_for_result(unsigned cpu, uint64_t place,
                                                      const void *state)
{
    const uint64_t pointer = register_value(state, hn_registers->stack);

    own_state = state;
    for (unsigned i = call_count; i-- > 0;) {
        const struct allocating c = calls[i];
        struct hn_thread *me;

        if (c.caller != place || c.pointer != pointer)
            continue;
        memmove(&calls[i], &calls[i + 1], (--call_count - i) * sizeof *calls);
        me = allocating_thread(cpu);
        if (me != NULL) {
            allocation_ends(me, state, &c);
            settle_block(me);
        }
        break;
    }
    attention = call_count;
}

/* A block begins behind a call. */
__attribute__((used)) static void return_place_reached(unsigned cpu, void *data, const void *state)
{
    if (HN_UNLIKELY(attention != 0))
        look_for_result(cpu, (uintptr_t)data, state);
}

/* Called when a block is translated. */
void watch_allocations(struct qemu_plugin_tb *tb)
{
    const uint64_t address = qemu_plugin_tb_vaddr(tb);
    uint8_t before[CALL_BYTES_MAX];
    enum allocator kind;

    if (!registers_are_possible())
        return;
    kind = allocator_at(address);
    if (kind != NO_ALLOCATOR)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_allocator, QEMU_PLUGIN_CB_R_REGS,
                                             (void *)(uintptr_t)kind);
    if (peek(address - sizeof before, before, sizeof before) && is_behind_call(before))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_return_place, QEMU_PLUGIN_CB_R_REGS,
                                             (void *)(uintptr_t)address);
}

/* The state of the calling thread's processor, or null. */
const void *state_of_thread(void)
{
    return own_state;
}

/* Called in each system call. */
void allocations_call(const uint64_t arguments[6])
{
    registers_check(own_state, arguments);
}

/* Position of the call stack of the mapping that is being made; 0 if it is not known. */
uint32_t stack_of_mapping(void)
{
    const uint32_t position = mapping_stack;

    mapping_stack = 0;
    return position;
}
