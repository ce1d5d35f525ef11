/* The running processor of a whole system.
 *
 * QEMU passes the processor's number to every callback. But from 9.0 on, if one host thread runs
 * all processors, it is the number of the processor for which the code was translated, and others
 * run the same code (accel/tcg/plugin-gen.c, gen_cpu_index). Registers are read from the processor
 * that really runs: so every block first reads the one in which Linux keeps the address of per-CPU
 * data, the base of segment GS, or while a process runs the base that the kernel will swap in.
 */
#include "guest.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Linux on x86-64 keeps to the upper half of the addresses. */
#define UPPER_HALF UINT64_C(0xffff800000000000)

enum { REGISTER_BYTES = 8 };

typedef struct glib_bytes *make_bytes(void);
typedef struct glib_bytes *set_size_of_bytes(struct glib_bytes *, unsigned);

static struct qemu_plugin_register *gs_base, *kernel_gs_base;
static struct glib_bytes *bytes;
static set_size_of_bytes *set_size;
static unsigned system_cpus, running, known;
static uint64_t last_base, bases[SYSTEM_CPUS_MAX];

static struct qemu_plugin_register *register_called(const struct glib_array *all, const char *name)
{
    const struct register_description *r = (const struct register_description *)all->data;

    for (unsigned i = 0; i < all->length; i++)
        if (strcmp(r[i].name, name) == 0)
            return r[i].handle;
    return NULL;
}

/* Called before QEMU translates with callbacks, and when recording begins. */
void processors_begin(unsigned cpus)
{
    make_bytes *make = (make_bytes *)dlsym(RTLD_DEFAULT, "g_byte_array_new");
    const struct glib_array *all;

    system_cpus = cpus;
    last_base = 0;
    if (bytes != NULL || cpus < 2 || !api_confuses_processors())
        return;
    set_size = (set_size_of_bytes *)dlsym(RTLD_DEFAULT, "g_byte_array_set_size");
    all = qemu_plugin_get_registers();
    gs_base = register_called(all, "gs_base");
    kernel_gs_base = register_called(all, "k_gs_base");
    if (make == NULL || set_size == NULL || gs_base == NULL || kernel_gs_base == NULL) {
        fprintf(stderr, "homenode: this QEMU does not tell which processor runs; give the machine "
                        "one (--processors 1), or record with another QEMU (--emulator)\n");
        exit(EXIT_FAILURE);
    }
    bytes = make();
}

static uint64_t read_register(struct qemu_plugin_register *r)
{
    uint64_t value = 0;

    set_size(bytes, 0);
    qemu_plugin_read_register(r, bytes);
    if (bytes->length == REGISTER_BYTES)
        memcpy(&value, bytes->data, REGISTER_BYTES);
    return value;
}

/* The processor with this per-CPU data: by the kernel's table, else in order of appearance. */
static unsigned number_of(uint64_t base)
{
    const unsigned by_table = task_processor(base, system_cpus);
    unsigned cpu = 0;

    if (by_table < system_cpus)
        return by_table;
    while (cpu < known && bases[cpu] != base)
        cpu++;
    if (cpu == known && known < system_cpus)
        bases[known++] = base;
    return cpu < system_cpus ? cpu : 0;
}

static void on_block(unsigned cpu, void *in_kernel)
{
    struct qemu_plugin_register *r = in_kernel != NULL ? gs_base : kernel_gs_base;
    uint64_t base = read_register(r);

    (void)cpu;
    if (base < UPPER_HALF)
        base = read_register(r == gs_base ? kernel_gs_base : gs_base);
    if (base == last_base || base < UPPER_HALF)
        return;
    last_base = base;
    running = number_of(base);
}

/* Called when a block that will be recorded is translated. */
void processors_watch(struct qemu_plugin_tb *tb)
{
    const int in_kernel = qemu_plugin_tb_vaddr(tb) >= UPPER_HALF;

    if (bytes != NULL)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_R_REGS,
                                             in_kernel ? (void *)&gs_base : NULL);
}

/* The running processor, for which QEMU passes `cpu`. */
unsigned processor_now(unsigned cpu)
{
    return bytes == NULL ? cpu : running;
}
