/* Memory for sites, the instructions that access memory; it lasts as long as translated code. */
#include "sites.h"

#include <sys/mman.h>

enum { SITES_A_PIECE = 1 << 15 };

/* Sites are allocated from pieces, which are all freed when QEMU discards its code. */
struct piece {
    struct piece *next;
    size_t used;
    struct site sites[SITES_A_PIECE];
};

static struct piece *pieces, *current_piece;

static struct site *unused_site(void)
{
    if (current_piece == NULL || current_piece->used == SITES_A_PIECE) {
        struct piece *next = current_piece == NULL ? pieces : current_piece->next;

        if (next == NULL) {
            next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0);
            if (next == MAP_FAILED)
                return NULL;
            if (current_piece == NULL)
                pieces = next;
            else
                current_piece->next = next;
        }
        next->used = 0;
        current_piece = next;
    }
    return &current_piece->sites[current_piece->used++];
}

struct site *site_new(const struct qemu_plugin_insn *insn, uint32_t flags, size_t to_come)
{
    struct site *s = unused_site();

    if (s == NULL)
        return NULL;
    s->pc = qemu_plugin_insn_vaddr(insn) & 0xffffffffffff;
    s->flags = flags;
    s->info[0] = s->info[1] = UINT32_MAX;
    s->what[0] = s->what[1] = 0;
    s->to_come = (uint32_t)to_come;
    return s;
}

/* Kind and size of an access that differs from the site's last one. */
__attribute__((noinline)) uint64_t site_learn(struct site *s, qemu_plugin_meminfo_t info)
{
    const uint64_t size = UINT64_C(1) << qemu_plugin_mem_size_shift(info);
    const int slot = qemu_plugin_mem_is_store(info);
    uint64_t kind = slot ? HN_WRITE : HN_READ;

    if ((s->flags & SITE_ATOMIC) != 0)
        kind = HN_ATOMIC;
    s->info[slot] = info;
    s->what[slot] = (kind << HN_KIND_SHIFT) | (size << HN_SIZE_SHIFT) |
                    ((s->flags & SITE_SYNC) != 0 ? UINT64_C(1) << HN_SYNC_BIT : 0);
    return s->what[slot];
}

void sites_forget(void)
{
    current_piece = pieces;
    if (pieces != NULL)
        pieces->used = 0;
}
