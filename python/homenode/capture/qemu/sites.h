/* Sites: the instructions that access memory, for their callbacks. */
#ifndef HN_SITES_H
#define HN_SITES_H

#include "guest.h"

/* `what` has kind, size and synchronisation bits, as in a record, of the last load and the last
 * store of the instruction: most make one kind of access. */
struct site {
    uint64_t pc;
    uint64_t what[2];
    qemu_plugin_meminfo_t info[2];
    uint32_t flags;             /* SITE_ */
    uint32_t to_come;           /* instructions of the block behind this one */
    unsigned operand;           /* register with the address of a block that it clears */
};

/* Of 16 bytes if atomic; a repeated string instruction, and one that stores. */
enum { SITE_ATOMIC = 1, SITE_SYNC = 2, SITE_WIDE = 4, SITE_REPEATS = 8, SITE_STORES = 16 };

struct site *site_new(const struct qemu_plugin_insn *insn, uint32_t flags, size_t to_come);
uint64_t site_learn(struct site *s, qemu_plugin_meminfo_t info);
void sites_forget(void);

/* guest_isa.c: SITE_REPEATS and SITE_STORES for repeated string instructions, else 0. */
uint32_t repeats_of(const uint8_t *code, size_t size);

/* unshown.c */
qemu_plugin_vcpu_mem_cb_t watch_unshown(struct qemu_plugin_tb *tb, size_t at, const uint8_t *code,
                                        struct site *s);

/* translate.c */
void record_reference(unsigned cpu, const struct site *s, uint64_t what, uint64_t address);

/* repeats.c */
void on_repeat(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);
int repeat_goes_on(const struct site *s);

static inline uint64_t what_of(struct site *s, qemu_plugin_meminfo_t info)
{
    if (HN_LIKELY(info == s->info[0]))
        return s->what[0];
    return HN_LIKELY(info == s->info[1]) ? s->what[1] : site_learn(s, info);
}

#endif
