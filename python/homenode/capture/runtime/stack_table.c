/* The table of call stacks: each is written once, in memory shared with the recorder, and referred
 * to by its position there. Frames are marked.
 */
#include "hn.h"

#include <sys/mman.h>

enum { KNOWN = 1 << 15, PROBES = 16 };

/* Positions of all stacks, by their contents; null: no stacks are recorded. */
static uint32_t *known_stacks;

/* The kernel wipes the known stacks in a forked child, as all our state. */
int hn_stack_table_init(void)
{
    const size_t size = KNOWN * sizeof *known_stacks;
    uint32_t *memory;

    if (hn_shared->stack_words == 0)
        return 0;
    memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    if (madvise(memory, size, MADV_WIPEONFORK) != 0) {
        munmap(memory, size);
        return 0;
    }
    known_stacks = memory;
    return 1;
}

static uint64_t *shared_words(void)
{
    return (uint64_t *)hn_ring_start(hn_shared->ring_count);
}

static int is_at(const struct hn_stack_entry *entry, uint32_t at)
{
    const uint64_t *words = shared_words() + at;

    if (words[0] != entry->head)
        return 0;
    for (uint32_t i = 0; i < entry->count; i++)
        if (words[1 + i] != entry->word[i])
            return 0;
    return 1;
}

/* Appends an entry; position 0 means none. Two threads may append the same one, which is
 * harmless. */
static uint32_t appended(const struct hn_stack_entry *entry)
{
    const uint32_t words = entry->count + 1;
    const uint32_t at = 1 + __atomic_fetch_add(&hn_shared->stacks_used, words, __ATOMIC_RELAXED);
    uint64_t *to = shared_words() + at;

    if (at > hn_shared->stack_words - words) {
        __atomic_fetch_sub(&hn_shared->stacks_used, words, __ATOMIC_RELAXED);
        return 0;
    }
    for (uint32_t i = 0; i < entry->count; i++)
        to[1 + i] = entry->word[i];
    /* Written last, so that a reader of all entries sees complete ones. */
    __atomic_store_n(&to[0], entry->head, __ATOMIC_RELEASE);
    return at;
}

/* Position of a stack, which is written if it is new; 0: there is no room. */
uint32_t hn_stack_position(const struct hn_stack_entry *entry)
{
    uint64_t sum = entry->head;
    uint32_t at = 0;

    if (known_stacks == NULL)
        return 0;
    for (uint32_t i = 0; i < entry->count; i++)
        sum = hn_mixed(sum, entry->word[i]);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t *slot = &known_stacks[(sum + i) % KNOWN];

        at = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
        if (at == 0) {
            at = appended(entry);
            __atomic_store_n(slot, at, __ATOMIC_RELEASE);
            return at;
        }
        if (is_at(entry, at))
            return at;
    }
    return appended(entry);
}
