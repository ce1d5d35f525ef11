/* Accesses of aarch64 that QEMU shows to no plugin.
 *
 * `dc zva` clears a block of memory whose address is in a register. Behind the instruction the
 * register is up to date in the processor's state, as QEMU clears the block in a function of its
 * own; so the block is recorded by a callback of the next instruction.
 *
 * Loads and stores of SVE are made by such functions, too. The recorder chooses a processor without
 * SVE; if the user chooses one with it, they are counted.
 */
#include "registers.h"
#include "sites.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 64, BLOCK_BYTES_OF_MAX = 512, BLOCK_BYTES_OF_A64FX = 256 };

static uint64_t cleared_bytes;      /* by one instruction */

/* Of the calling thread: an instruction that has cleared a block, and one of SVE that has not shown
 * an access. */
static __thread const struct site *clearing __attribute__((tls_model("initial-exec")));
static __thread uint64_t silent_pc __attribute__((tls_model("initial-exec")));

/* The size of a block follows from the processor's model (target/arm/cpu64.c). */
void unshown_begin(int argc, char **argv)
{
    const char *model = getenv("QEMU_CPU");

    for (int i = 1; i + 1 < argc && strcmp(argv[i], "-0") != 0; i++)
        if (strcmp(argv[i], "-cpu") == 0)
            model = argv[i + 1];
    if (model == NULL || strncmp(model, "max", 3) == 0)
        cleared_bytes = BLOCK_BYTES_OF_MAX;
    else
        cleared_bytes = strncmp(model, "a64fx", 5) == 0 ? BLOCK_BYTES_OF_A64FX : PIECE_BYTES;
}

static void on_clearing(unsigned cpu, void *data)
{
    (void)cpu;
    clearing = data;
}

static void on_cleared(unsigned cpu, void *data)
{
    const struct site *s = clearing;
    const void *state = state_of_thread();
    const uint64_t what = ((uint64_t)HN_WRITE << HN_KIND_SHIFT) |
                          ((uint64_t)PIECE_BYTES << HN_SIZE_SHIFT);
    uint64_t address;

    clearing = NULL;
    if (s == NULL || s->pc + sizeof(uint32_t) != (uintptr_t)data)
        return;
    if (state == NULL || !registers_are_right()) {
        __atomic_fetch_add(&hn_shared->unseen, 1, __ATOMIC_RELAXED);
        return;
    }
    address = s->operand == ZERO_REGISTER ? 0 : register_value(state, s->operand);
    address &= ~(cleared_bytes - 1);
    for (uint64_t i = 0; i < cleared_bytes; i += PIECE_BYTES)
        record_reference(cpu, s, what, address + i);
}

static void on_silent(unsigned cpu, void *data)
{
    const struct site *s = data;

    (void)cpu;
    if (!recording(hn_me))
        return;
    __atomic_fetch_add(&hn_shared->unseen, 1, __ATOMIC_RELAXED);
    silent_pc = s->pc;
}

/* It does show its accesses, as loads and stores of whole registers do. */
static void on_shown(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct site *s = data;

    if (silent_pc == s->pc) {
        __atomic_fetch_sub(&hn_shared->unseen, 1, __ATOMIC_RELAXED);
        silent_pc = 0;
    }
    record_reference(cpu, s, what_of(s, info), address);
}

/* Called when an instruction is translated; `at` is its place in the block. Returns the callback of
 * its references, or null for the usual one. */
qemu_plugin_vcpu_mem_cb_t watch_unshown(struct qemu_plugin_tb *tb, size_t at, const uint8_t *code,
                                        struct site *s)
{
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);
    const uint64_t place = qemu_plugin_insn_vaddr(insn);
    uint8_t before[sizeof(uint32_t)];
    unsigned operand;

    /* The instruction in front of a block is in another block. */
    if (at == 0 && peek(place - sizeof before, before, sizeof before) &&
        clears_block(before, &operand))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_cleared, QEMU_PLUGIN_CB_R_REGS,
                                             (void *)(uintptr_t)(place & 0xffffffffffff));
    if (s == NULL)
        return NULL;
    if (clears_block(code, &s->operand)) {
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_clearing, QEMU_PLUGIN_CB_NO_REGS, s);
        if (at + 1 < qemu_plugin_tb_n_insns(tb))
            qemu_plugin_register_vcpu_insn_exec_cb(
                qemu_plugin_tb_get_insn(tb, at + 1), on_cleared, QEMU_PLUGIN_CB_R_REGS,
                (void *)(uintptr_t)(s->pc + sizeof(uint32_t)));
    }
    if (!accesses_by_sve(code))
        return NULL;
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_silent, QEMU_PLUGIN_CB_NO_REGS, s);
    return on_shown;
}
