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
};

enum { SITE_ATOMIC = 1, SITE_SYNC = 2 };

struct site *site_new(const struct qemu_plugin_insn *insn, uint32_t flags, size_t to_come);
uint64_t site_learn(struct site *s, qemu_plugin_meminfo_t info);
void sites_forget(void);

static inline uint64_t what_of(struct site *s, qemu_plugin_meminfo_t info)
{
    if (HN_LIKELY(info == s->info[0]))
        return s->what[0];
    return HN_LIKELY(info == s->info[1]) ? s->what[1] : site_learn(s, info);
}

#endif
