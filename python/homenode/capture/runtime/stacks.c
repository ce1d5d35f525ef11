/* Call stacks of allocations: the caller of malloc may be `operator new`, a container or a wrapper,
 * which allocates for a function further up. And frames of threads that start others, which use
 * their variables.
 *
 * A stack is a list of program counters in memory shared with the recorder, written once however
 * often it allocates; an allocation refers to it by its position there. Frames are marked. So the
 * ring has no stacks, and the order of the references does not depend on them.
 *
 * The compiler's unwinder (libgcc) takes microseconds. Most allocations repeat an earlier stack
 * with the same stack pointer: then it suffices to check that each return address that the unwinder
 * found is still in its place.
 */
#include "hn.h"

#include <sys/mman.h>
#include <unwind.h>

/* Number of the frame pointer's register in debug information. */
#if defined(__x86_64__)
enum { FRAME_POINTER = 6 };
#else
enum { FRAME_POINTER = 29 };
#endif

enum { MEMOS = 1024, STARTS_MAX = 4096 };

/* The unwinder's result for one program counter and stack pointer. */
struct memo {
    uint32_t busy;
    uint32_t stack;
    uintptr_t pc;
    const void *frame;
    uintptr_t saved_frame;              /* the caller's frame pointer, if it is one */
    uint32_t count;                     /* 0: cannot be checked */
    uint64_t mark;                      /* HN_FRAMES for an entry of frames, else 0 */
    uint32_t offset[HN_STACK_FRAMES]; /* of each return address, from `frame` */
    uintptr_t address[HN_STACK_FRAMES];
};

struct stacks {
    uint32_t starts;                    /* frames that were not in a memo */
    struct memo memo[MEMOS];
};

/* A stack that is being walked. */
struct walk {
    const char *frame;
    uint32_t count;
    int checkable;
    uint32_t offset[HN_STACK_FRAMES];
    uintptr_t address[HN_STACK_FRAMES];
    uintptr_t pc[HN_STACK_FRAMES];
    uintptr_t frame_pointer[HN_STACK_FRAMES];
};

static struct stacks *stacks;
extern const char __start_hn_visible[], __stop_hn_visible[];    /* ordered_calls.c */

/* The kernel wipes the memos in a forked child, as all our state. */
void hn_stacks_init(void)
{
    struct stacks *memory;

    if (!hn_stack_table_init())
        return;
    memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    if (madvise(memory, sizeof *memory, MADV_WIPEONFORK) != 0) {
        munmap(memory, sizeof *memory);
        return;
    }
    stacks = memory;
}

static _Unwind_Reason_Code walked(struct _Unwind_Context *context, void *argument)
{
    struct walk *w = argument;
    const char *stack = (const char *)_Unwind_GetCFA(context);
    int at_instruction = 0;
    const uintptr_t address = _Unwind_GetIPInfo(context, &at_instruction);

    /* Skips our own frames, up to the function that allocates. */
    if (stack <= w->frame)
        return _URC_NO_REASON;
    /* Skips these too: the C library allocates buffers of files that the program prints to. */
    if (address - 1 >= (uintptr_t)__start_hn_visible && address <= (uintptr_t)__stop_hn_visible)
        return _URC_NO_REASON;
    if (address == 0 || w->count == HN_STACK_FRAMES)
        return _URC_END_OF_STACK;
#if defined(__x86_64__)
    if (at_instruction || ((const uintptr_t *)stack)[-1] != address)
        w->checkable = 0;
#else
    w->checkable = 0;
#endif
    w->frame_pointer[w->count] = _Unwind_GetGR(context, FRAME_POINTER);
    w->offset[w->count] = (uint32_t)(stack - sizeof(uintptr_t) - w->frame);
    w->address[w->count] = address;
    w->pc[w->count] = at_instruction ? address : address - 1;
    w->count++;
    return _URC_NO_REASON;
}

/* Whether the stack is that of the memo. */
static int is_same(const struct memo *memo, const void *frame, uintptr_t pc)
{
    if (memo->count == 0 || memo->pc != pc || memo->frame != frame ||
        memo->saved_frame != *(const uintptr_t *)frame)
        return 0;
    for (uint32_t i = 0; i < memo->count; i++)
        if (*(const uintptr_t *)((const char *)frame + memo->offset[i]) != memo->address[i])
            return 0;
    return 1;
}

static void remember(struct memo *memo, const struct walk *found, uintptr_t pc)
{
    memo->count = found->checkable ? found->count : 0;
    memo->pc = pc;
    memo->frame = found->frame;
    memo->saved_frame = *(const uintptr_t *)found->frame;
    for (uint32_t i = 0; i < memo->count; i++) {
        memo->offset[i] = found->offset[i];
        memo->address[i] = found->address[i];
    }
}

/* Writes a stack: its program counters, or for frames program counter, stack pointer and frame
 * pointer of each. */
static uint32_t written(const struct walk *found, uint64_t mark)
{
    struct hn_stack_entry entry = {.count = 0};

    if (mark != 0 && __atomic_fetch_add(&stacks->starts, 1, __ATOMIC_RELAXED) >= STARTS_MAX)
        return 0;
    for (uint32_t i = 0; i < found->count; i++) {
        entry.word[entry.count++] = found->pc[i];
        if (mark != 0) {
            entry.word[entry.count++] =
                (uintptr_t)found->frame + found->offset[i] + sizeof(uintptr_t);
            entry.word[entry.count++] = found->frame_pointer[i];
        }
    }
    entry.head = mark | entry.count;
    return hn_stack_position(&entry);
}

static uint32_t unwound(struct hn_thread *me, const void *frame, uintptr_t pc, struct memo *memo,
                        uint64_t mark)
{
    struct walk found;
    uint32_t at;

    found.frame = frame;
    found.count = 0;
    found.checkable = 1;
    /* In a static program the unwinder calls interposed functions. */
    me->in_runtime++;
    me->limit = NULL;
    _Unwind_Backtrace(walked, &found);
    me->in_runtime--;
    if (hn_c->order != 0)
        hn_set_limit(me);
    if (found.count == 0)
        return 0;
    /* The first program counter is that of the program's caller, also through a function of
     * ours. */
    if (mark == 0)
        found.pc[0] = pc;
    at = written(&found, mark);
    if (memo != NULL) {
        remember(memo, &found, pc);
        memo->mark = mark;
        memo->stack = at;
    }
    return at;
}

static uint32_t position_of(struct hn_thread *me, const void *frame, uintptr_t pc, uint64_t mark)
{
    const uint64_t key = hn_mixed(hn_mixed(mark, pc), (uintptr_t)frame);
    struct memo *memo;
    uint32_t at;

    if (stacks == NULL)
        return 0;
    memo = &stacks->memo[key >> 20 & (MEMOS - 1)];
    /* Another thread, or the code that a signal handler has interrupted, uses it. */
    if (__atomic_exchange_n(&memo->busy, 1, __ATOMIC_ACQUIRE))
        return unwound(me, frame, pc, NULL, mark);
    if (memo->mark == mark && is_same(memo, frame, pc))
        at = memo->stack;
    else
        at = unwound(me, frame, pc, memo, mark);
    __atomic_store_n(&memo->busy, 0, __ATOMIC_RELEASE);
    return at;
}

/* Position of the stack of an allocation, by the frame of the called function and the program
 * counter of its caller. */
uint32_t hn_stack(struct hn_thread *me, const void *frame, uintptr_t pc)
{
    return position_of(me, frame, pc, 0);
}

/* Writes the frames of a thread that starts others: their variables may be shared. */
void hn_frames(struct hn_thread *me, const void *frame, uintptr_t pc)
{
    position_of(me, frame, pc, HN_FRAMES);
}
