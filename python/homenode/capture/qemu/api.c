/* Differences between the versions of QEMU's plugin interface.
 *
 * The emulator's functions are looked up before it asks the plugin for a version, so one object
 * works in all of them, and no list of releases is needed.
 *
 * To count instructions, a block of translated code adds its length to a word when it begins. With
 * version 1 that is one word for all processors, which is exact where one thread runs at a time;
 * from version 2 on each processor has its own, which is always exact. QEMU moves those words when
 * it makes room for more processors; then no thread is in translated code, so each looks its own up
 * again before it returns to it.
 */
#include "guest.h"

#include <dlfcn.h>
#include <string.h>

enum { GLOBAL_COUNT = 1, COUNT_A_PROCESSOR = 2, BYTES_ARE_COPIED = 3, REPEATS_INSIDE = 4 };

/* Functions that were added with a version (3 added none). */
static const struct {
    const char *function;
    int version;
} news[] = {
    {"qemu_plugin_scoreboard_new", 2},
    {"qemu_plugin_read_memory_vaddr", 4},
    {"qemu_plugin_write_register", 5},
};

HN_EXPORT int qemu_plugin_version = GLOBAL_COUNT;

typedef const void *point_at_bytes(const struct qemu_plugin_insn *insn);
typedef size_t copy_bytes(const struct qemu_plugin_insn *insn, void *to, size_t size);

/* The version that the emulator has, which may be newer than the requested one. */
static int version;
static struct qemu_plugin_scoreboard *counts;
static void *insn_data;
static uint64_t unused_count;
static __thread unsigned own_cpu;

uint64_t hn_instructions;
__thread uint64_t *hn_count __attribute__((tls_model("initial-exec"))) = &unused_count;

/* The newest version that is both supported here and possible in the emulator, which refuses
 * versions that it no longer has. */
void api_choose(void)
{
    for (size_t i = 0; i < sizeof news / sizeof *news; i++)
        if (dlsym(RTLD_DEFAULT, news[i].function) != NULL)
            qemu_plugin_version = news[i].version;
}

void api_begin(const qemu_info_t *info)
{
    version = info->version.cur;
    insn_data = dlsym(RTLD_DEFAULT, "qemu_plugin_insn_data");
    if (version >= COUNT_A_PROCESSOR)
        counts = qemu_plugin_scoreboard_new(sizeof(uint64_t));
}

/* The first bytes of an instruction. */
void instruction_code(const struct qemu_plugin_insn *insn, uint8_t code[CODE_BYTES_MAX])
{
    size_t size = qemu_plugin_insn_size(insn);

    size = size < CODE_BYTES_MAX ? size : CODE_BYTES_MAX;
    if (version >= BYTES_ARE_COPIED)
        ((copy_bytes *)insn_data)(insn, code, size);
    else
        memcpy(code, ((point_at_bytes *)insn_data)(insn), size);
}

static void on_short_block(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    ++*hn_count;
}

/* QEMU may run a block of one instruction while everything else stands still, and QEMU 9 and later
 * then take the processor that translated the block for the one that runs it. */
void count_block(struct qemu_plugin_tb *tb, size_t length)
{
    if (version < COUNT_A_PROCESSOR)
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &hn_instructions,
                                                 length);
    else if (length == 1)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_short_block, QEMU_PLUGIN_CB_NO_REGS, NULL);
    else
        qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(
            tb, QEMU_PLUGIN_INLINE_ADD_U64, (qemu_plugin_u64){counts, 0}, length);
}

/* Called when the calling thread runs on processor `cpu`. */
void count_on(unsigned cpu)
{
    own_cpu = cpu;
    count_again();
}

/* Called when the calling thread may have left translated code meanwhile. */
void count_again(void)
{
    hn_count = version < COUNT_A_PROCESSOR ? &hn_instructions
                                           : qemu_plugin_scoreboard_find(counts, own_cpu);
}

/* Whether callbacks may get the number of another processor than the running one (processors.c). */
int api_confuses_processors(void)
{
    return version >= COUNT_A_PROCESSOR;
}

/* Whether a repeated instruction is executed once for each repetition and once more. */
int repeats_are_executed_again(void)
{
    return version < REPEATS_INSIDE;
}

unsigned processors_of_system(void)
{
    const int found = version < COUNT_A_PROCESSOR ? qemu_plugin_n_vcpus() : qemu_plugin_num_vcpus();

    return found > 0 ? (unsigned)found : 0;
}
