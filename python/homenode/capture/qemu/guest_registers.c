/* The program's registers.
 *
 * QEMU 7.2 shows plugins no registers. But translated code has the address of the processor's state
 * in a register of the host that every callback preserves, and the general registers are at a fixed
 * place of that state, where they are up to date when a block begins. So a callback of a block
 * starts with an instruction of ours that passes the address on. Whether the registers are where
 * they are expected is checked once, with the arguments of a system call.
 */
#include "registers.h"

#include <string.h>

#if defined(__x86_64__)
#define WITH_STATE(name, function)                                                              \
    __asm__(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name ", @function\n" \
            name ":\n\tmovq %rbp, %rdx\n\tjmp " function "\n.popsection\n")
#elif defined(__aarch64__)
#define WITH_STATE(name, function)                                                              \
    __asm__(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name ", %function\n" \
            name ":\n\thint #34\n\tmov x2, x19\n\tb " function "\n.popsection\n")
#else
#define WITH_STATE(name, function)                                                              \
    __asm__(".pushsection .text\n.globl " name "\n.hidden " name "\n" name ":\n.popsection\n")
#endif

WITH_STATE("on_allocator", "allocator_entered");
WITH_STATE("on_return_place", "return_place_reached");

static const struct register_layout x86_registers = {
    .first = 0, .result = 0, .second = 3, .stack = 4, .frame = 5, .frame_distance = 16,
    .link = NO_REGISTER,
    .arguments = {7, 6, 2, 1}, .go_argument = 0,
    .call_arguments = {7, 6, 2, 10, 8, 9},
    .dwarf_count = 16, .dwarf_link = 16,
    .of_dwarf = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15},
};

/* Behind 16 registers of 32 bits. */
static const struct register_layout aarch64_registers = {
    .first = 64, .result = 0, .second = 1, .stack = 31, .frame = 29, .frame_distance = 16,
    .link = 30,
    .arguments = {0, 1, 2, 3}, .go_argument = 0,
    .call_arguments = {0, 1, 2, 3, 4, 5},
    .dwarf_count = 32, .dwarf_link = 30,
};

static const struct register_layout riscv64_registers = {
    .first = 0, .result = 10, .second = 11, .stack = 2, .frame = 8, .link = 1,
    .arguments = {10, 11, 12, 13}, .go_argument = 10,
    .call_arguments = {10, 11, 12, 13, 14, 15},
    .dwarf_count = 32, .dwarf_link = 1,
};

static enum { UNCHECKED, RIGHT, WRONG } checked;

const struct register_layout *hn_registers;

void registers_of(enum machine machine)
{
    static const struct register_layout *const layouts[MACHINES] = {
        &x86_registers, &aarch64_registers, &riscv64_registers};

    hn_registers = layouts[machine];
#if !defined(__x86_64__) && !defined(__aarch64__)
    checked = WRONG;
#endif
}

/* Index of a register by its number in debug information. */
unsigned register_of_dwarf(unsigned number)
{
    return hn_registers == &x86_registers ? hn_registers->of_dwarf[number] : number;
}

/* Whether blocks get callbacks with registers. */
int registers_are_possible(void)
{
    return checked != WRONG;
}

int registers_are_right(void)
{
    return checked == RIGHT;
}

/* In a system call with these arguments; `state` may be null. */
void registers_check(const void *state, const uint64_t arguments[6])
{
    if (checked != UNCHECKED || state == NULL)
        return;
    checked = RIGHT;
    for (int i = 0; i < 6; i++)
        if (register_value(state, hn_registers->call_arguments[i]) != arguments[i])
            checked = WRONG;
    hn_shared->heap_unseen = checked == WRONG;
}
