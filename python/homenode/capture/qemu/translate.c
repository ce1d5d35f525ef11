/* Translation: the callbacks of the program's code, and the callback of a reference.
 *
 * A callback runs after the access, in the thread that made it, and may block: so a reference is
 * recorded before the turn is passed on, and the order of the records is that of execution.
 *
 * Instructions are counted for the gaps between references: every block adds its length to a
 * counter when it begins (api.c); the number of instructions that follow in the block is known at
 * translation. Free order has no gaps.
 */
#include "registers.h"
#include "sites.h"

#include <stdlib.h>
#include <string.h>

enum {
    GAP_IN_RECORD = (1 << HN_GAP_BITS) - 1,     /* from this on a gap does not fit */
    PLACES_FIRST = 1 << 10
};

#define OF_16_BYTES (UINT64_C(16) << HN_SIZE_SHIFT)

static int fetches;

/* Addresses behind system calls, in a hash table: a new thread begins at one of them. */
static struct {
    uint64_t *slots;
    size_t size, used;
} places;

__thread uint64_t hn_mark __attribute__((tls_model("initial-exec")));

void translate_fetches(void)
{
    fetches = 1;
}

static size_t place_slot(uint64_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15)) & (places.size - 1);

    while (places.slots[at] != 0 && places.slots[at] != address)
        at = (at + 1) & (places.size - 1);
    return at;
}

static void note_place(uint64_t address)
{
    if (2 * (places.used + 1) > places.size) {
        uint64_t *old = places.slots;
        const size_t old_size = places.size;

        places.size = old_size == 0 ? PLACES_FIRST : 2 * old_size;
        places.slots = calloc(places.size, sizeof *places.slots);
        if (places.slots == NULL)
            abort();
        for (size_t i = 0; i < old_size; i++)
            if (old[i] != 0)
                places.slots[place_slot(old[i])] = old[i];
        free(old);
    }
    const size_t at = place_slot(address);

    if (places.slots[at] == 0) {
        places.slots[at] = address;
        places.used++;
    }
}

static int is_place(uint64_t address)
{
    return places.size != 0 && places.slots[place_slot(address)] != 0;
}

/* A reference of a thread that does not record now. */
__attribute__((noinline)) int come_in(unsigned cpu)
{
    struct hn_thread *me = hn_me;

    if (hn_c->order == 0)
        return 0;
    if (me == &hn_no_thread) {
        arrive(cpu);
        me = hn_me;
    }
    if (!recording(me) || me->in_runtime)
        return 0;
    guest_of(me)->in_block = 1;
    if (me->state != HN_RUNNING)
        hn_enter(me);
    yield_in_block(me);
    return hn_c->order != 0 && me->next != NULL && me->next < me->limit;
}

static __attribute__((noinline)) void long_gap(struct hn_thread *me, uint64_t gap)
{
    hn_event(me, HN_EV_GAP, gap, 0);
    if (me->next >= me->limit) {
        /* Not the end of the turn: the reference belongs to the gap. */
        me->no_yield++;
        settle(me);
        me->no_yield--;
    }
}

static inline void put(struct hn_thread *me, const struct site *s, uint64_t what, uint64_t address)
{
    struct hn_record *at = me->next;

    at->word[1] = s->pc | me->tag;
    __atomic_store_n(&at->word[0], (address & 0xffffffffffff) | what, __ATOMIC_RELEASE);
    me->next = at + 1;
}

static inline void reference(unsigned cpu, const struct site *s, uint64_t what, uint64_t address)
{
    struct hn_thread *me = hn_me;
    struct hn_record *at = me->next;
    uint64_t position, gap;

    if (HN_UNLIKELY(at >= me->limit)) {
        if (!come_in(cpu))
            return;
        me = hn_me;
        at = me->next;
    }
    position = *hn_count - s->to_come;
    gap = position - hn_mark;
    gap -= gap != 0;
    hn_mark = position;
    if (HN_UNLIKELY(gap >= GAP_IN_RECORD)) {
        long_gap(me, gap);
        at = me->next;
        if (at == NULL || at >= me->limit)
            return;
        gap = 0;
    }
    at->word[1] = s->pc | me->tag;
    __atomic_store_n(&at->word[0],
                     (address & 0xffffffffffff) | what | (gap << HN_GAP_SHIFT),
                     __ATOMIC_RELEASE);
    me->next = ++at;
    if (HN_UNLIKELY(at >= me->limit))
        yield_in_block(me);
}

static void on_reference(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct site *s = data;

    reference(cpu, s, what_of(s, info), address);
}

static inline void free_reference(unsigned cpu, const struct site *s, uint64_t what,
                                  uint64_t address)
{
    struct hn_thread *me = hn_me;

    if (HN_UNLIKELY(me->next >= me->limit)) {
        if (!come_in(cpu))
            return;
        me = hn_me;
    }
    put(me, s, what, address);
    if (HN_UNLIKELY(me->next >= me->limit))
        settle(me);
}

static void on_free_reference(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address,
                              void *data)
{
    struct site *s = data;

    free_reference(cpu, s, what_of(s, info), address);
}

/* Records a reference with a kind and size of its own. */
void record_reference(unsigned cpu, const struct site *s, uint64_t what, uint64_t address)
{
    if (hn_deterministic())
        reference(cpu, s, what, address);
    else
        free_reference(cpu, s, what, address);
}

/* An atomic operation is one reference. While there is one thread, QEMU makes a load and a store of
 * it; the store stands for both. */
static void on_atomic(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct site *s = data;
    uint64_t what;

    if (!qemu_plugin_mem_is_store(info))
        return;
    what = what_of(s, info);
    if ((s->flags & SITE_WIDE) != 0 && (what & OF_16_BYTES) == 0) {
        /* Of 16 bytes it makes two stores. */
        if (address % 16 == 0)
            return;
        address -= 8;
        what = (what & ~(UINT64_C(0x7f) << HN_SIZE_SHIFT)) | OF_16_BYTES;
    }
    if (!hn_deterministic() && recording(hn_me))
        hn_stamp(hn_me);
    record_reference(cpu, s, what, address);
}

/* QEMU performs operations that are not atomic on the host while everything else stands still, in a
 * block of one instruction: there the turn must not end. */
static void on_lone_atomic(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    struct hn_thread *me = hn_me;
    const int known = me != &hn_no_thread;

    me->no_yield += known;
    on_atomic(cpu, info, address, data);
    me->no_yield -= known;
}

/* Called before an atomic operation: waits until others have done all that is earlier in simulated
 * time. */
static void on_synchronising(unsigned cpu, void *data)
{
    (void)data;
    if (hn_me->next >= hn_me->limit && !come_in(cpu))
        return;
    exact_turn_in_block(hn_me);
}

static void on_fetch(unsigned cpu, void *data)
{
    const struct site *s = data;
    struct hn_thread *me = hn_me;

    if ((s->flags & SITE_REPEATS) != 0 && repeat_goes_on(s))
        return;
    if (me->next >= me->limit) {
        if (!come_in(cpu))
            return;
        me = hn_me;
    }
    put(me, s, s->what[0], s->pc);
    if (me->next >= me->limit)
        yield_in_block(me);
}

static void watch_fetch(struct qemu_plugin_insn *insn, uint32_t flags, size_t size, size_t to_come)
{
    struct site *s = site_new(insn, flags, to_come);

    if (s == NULL)
        return;
    s->what[0] = ((uint64_t)HN_FETCH << HN_KIND_SHIFT) | ((uint64_t)size << HN_SIZE_SHIFT);
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_fetch, QEMU_PLUGIN_CB_NO_REGS, s);
}

/* One callback for both directions: with one for each, QEMU 7.2 reports wrong directions, and omits
 * some of the accesses that it makes in functions of its own. */
static void watch_instruction(struct qemu_plugin_tb *tb, size_t at, const uint8_t *code, int marked)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);
    const size_t to_come = count - 1 - at;
    const int alone = count == 1;
    struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, at);
    const size_t size = qemu_plugin_insn_size(insn);
    qemu_plugin_vcpu_mem_cb_t callback = hn_deterministic() ? on_reference : on_free_reference;
    qemu_plugin_vcpu_mem_cb_t other;
    int synchronises;
    const int atomic = is_atomic(code, size, &synchronises);
    const uint32_t repeats = repeats_of(code, size);
    struct site *s =
        site_new(insn,
                 (atomic ? SITE_ATOMIC : 0) | (synchronises ? SITE_SYNC : 0) | repeats |
                     (atomic && is_wide(code, size) ? SITE_WIDE : 0),
                 to_come);

    if (fetches)
        watch_fetch(insn, repeats, size, to_come);
    if (atomic)
        callback = alone ? on_lone_atomic : on_atomic;
    else if (repeats != 0)
        callback = on_repeat;
    if (synchronises && !alone && hn_directed)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_synchronising, QEMU_PLUGIN_CB_NO_REGS,
                                               NULL);
    other = is_aarch64() ? watch_unshown(tb, at, code, s) : NULL;
    if (other != NULL)
        callback = other;
    if (marked)
        callback = on_mark;
    if (s != NULL)
        qemu_plugin_register_vcpu_mem_cb(insn, callback, QEMU_PLUGIN_CB_NO_REGS,
                                         QEMU_PLUGIN_MEM_RW, s);
}

static void on_new_thread(unsigned cpu, void *data)
{
    (void)data;
    if (HN_UNLIKELY(hn_me == &hn_no_thread) && hn_c->order != 0)
        arrive(cpu);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);

    (void)id;
    guest_threads_begin();
    if (hn_c->order == 0)
        return;
    if (is_place(qemu_plugin_tb_vaddr(tb)))
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_new_thread, QEMU_PLUGIN_CB_NO_REGS, NULL);
    watch_allocations(tb);
    if (hn_deterministic())
        count_block(tb, count);
    for (size_t i = 0, marked = behind_mark(qemu_plugin_tb_vaddr(tb)); i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        const size_t size = qemu_plugin_insn_size(insn);
        uint8_t code[CODE_BYTES_MAX];

        instruction_code(insn, code);
        if (is_system_call(code, size))
            note_place(qemu_plugin_insn_vaddr(insn) + size);
        if (hn_deterministic() && reads_tsc(code, size))
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_tsc_read, QEMU_PLUGIN_CB_NO_REGS, NULL);
        watch_instruction(tb, i, code, marked != 0);
        marked = (size_t)is_mark(code, size);
    }
}

static void on_flush(qemu_plugin_id_t id)
{
    (void)id;
    sites_forget();
}

void translate_register(qemu_plugin_id_t id)
{
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
    qemu_plugin_register_flush_cb(id, on_flush);
}
