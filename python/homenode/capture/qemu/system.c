/* Whole systems: every reference of kernel and processes, between the guest's marks.
 *
 * QEMU runs all processors of the guest in one host thread, in turns (-accel tcg,thread=single), so
 * the order of the records is that of execution, and one ring is enough. A record's thread is the
 * processor, its address the physical one; whether the kernel made the reference shows in the
 * program counter, which process made it in the context event before it.
 *
 * Until the first start mark code is translated without callbacks, and then all of it is discarded,
 * so that a system boots quickly. That cannot be reversed at the stop mark: when an instruction
 * faults, QEMU 7.2 keeps the address of its callbacks, and would call them in code that has none.
 */
#include "guest.h"
#include "mark.h"
#include "sites.h"

#include <stdio.h>
#include <string.h>

enum { MARK_BYTES = 8 };

static struct hn_thread *processors;
static qemu_plugin_id_t own_id;
static int wanted;      /* the guest has executed the start mark, not yet the stop mark */
static int on;          /* between the marks */
static int watching;    /* translated code has callbacks */
static int forgetting;  /* QEMU has been asked to discard its code */
static int fetches;     /* instruction fetches are recorded too */

static void on_system_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* Where the next record goes; null if the recorder has ended. */
static inline struct hn_record *next_place(void)
{
    if (HN_UNLIKELY(processors->next == NULL || processors->next >= processors->block_end))
        return hn_next_block(processors);
    return processors->next;
}

/* Announces the first reference of an instruction, and to a page at its present virtual address:
 * the recorder looks up names only for these. */
static inline void note_places(const struct site *s, uint64_t physical, uint64_t address)
{
    if (HN_UNLIKELY(s->info[0] == UINT32_MAX && s->info[1] == UINT32_MAX))
        hn_event(processors, HN_EV_CODE, s->pc, 0);
    if (!is_direct(address) && physical / PAGE_BYTES_OF_GUEST < hn_page_count &&
        HN_UNLIKELY(hn_pages[physical / PAGE_BYTES_OF_GUEST] != address / PAGE_BYTES_OF_GUEST))
        page_noted(processors, physical, address);
}

static inline void record(const struct site *s, uint64_t what, uint64_t physical)
{
    struct hn_record *at = next_place();

    if (at == NULL)
        return;
    at->word[1] = s->pc | processors->tag;
    __atomic_store_n(&at->word[0], (physical & 0xffffffffffff) | what, __ATOMIC_RELEASE);
    processors->next = at + 1;
}

static void on_system_reference(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address,
                                void *data)
{
    struct site *s = data;
    const struct qemu_plugin_hwaddr *physical = qemu_plugin_get_hwaddr(info, address);

    cpu = processor_now(cpu);
    if (!on || hn_c->order == 0 || physical == NULL || qemu_plugin_hwaddr_is_io(physical))
        return;
    processors->tag = (uint64_t)cpu << HN_THREAD_SHIFT;
    note_places(s, qemu_plugin_hwaddr_phys_addr(physical), address);
    record(s, what_of(s, info), qemu_plugin_hwaddr_phys_addr(physical));
    if (HN_UNLIKELY(cpu < SYSTEM_CPUS_MAX && address == hn_current_task[cpu]) &&
        qemu_plugin_mem_is_store(info))
        task_switched(processors, cpu);
}

/* An instruction is fetched, at the physical address that its site keeps. */
static void on_system_fetch(unsigned cpu, void *data)
{
    struct site *s = data;

    cpu = processor_now(cpu);
    if (!on || hn_c->order == 0)
        return;
    processors->tag = (uint64_t)cpu << HN_THREAD_SHIFT;
    note_places(s, s->what[1], (uint64_t)((int64_t)(s->pc << 16) >> 16));
    s->info[0] = 0;
    record(s, s->what[0], s->what[1]);
}

/* An atomic operation is one reference: its store stands for both. */
static void on_system_atomic(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    if (qemu_plugin_mem_is_store(info))
        on_system_reference(cpu, info, address, data);
}

static void on_system_flush(qemu_plugin_id_t id)
{
    (void)id;
    sites_forget();
}

/* The first start mark: has QEMU translate again, with callbacks. */
static int begin_system(void)
{
    if (processors != NULL)
        return 1;
    if (!hn_make_control())
        return 0;
    hn_read_settings();
    processors = hn_first_thread();
    return 1;
}

static void tell_mark(const char *what)
{
    uint64_t words[4] = {strlen(what), 0, 0, 0};

    memcpy(&words[2], what, words[0]);
    hn_event_words(processors, HN_EV_MARKER, words, 1);
}

/* Begins to record. The guest stands still: one host thread runs all its processors. */
static void go_on(void)
{
    static int introduced;
    const unsigned cpus = processors_of_system();

    on = begin_system();
    processors_begin(cpus);
    for (unsigned cpu = 0; on && !introduced && cpu < cpus; cpu++) {
        processors->tag = (uint64_t)cpu << HN_THREAD_SHIFT;
        hn_event_with(processors, HN_EV_THREAD_START, (const uint64_t[4]){0, 0, 0, 0});
    }
    introduced |= on;
    if (on) {
        tasks_begin(processors, cpus);
        tell_mark("start");
    }
}

/* Called when QEMU has discarded its code; code that it translates now has callbacks. */
static void on_forgotten(qemu_plugin_id_t id)
{
    sites_forget();
    watching = 1;
    processors_begin(processors_of_system());
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_system_translation);
    qemu_plugin_register_flush_cb(id, on_system_flush);
    if (wanted)
        go_on();
}

static void on_start(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    wanted = 1;
    if (watching && !on)
        go_on();
    else if (!watching && !forgetting)
        qemu_plugin_reset(own_id, on_forgotten);
    forgetting |= !watching;
}

static void on_stop(unsigned cpu, void *data)
{
    (void)cpu, (void)data;
    wanted = 0;
    if (on)
        tell_mark("stop");
    on = 0;
}

/* The load behind the start mark is of the mark program's table. (Registered for both directions:
 * QEMU 7.2 never calls a callback that is for loads only.) */
static void on_table(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    const struct qemu_plugin_hwaddr *physical = qemu_plugin_get_hwaddr(info, address);

    (void)cpu, (void)data;
    if (!on && physical != NULL && !qemu_plugin_hwaddr_is_io(physical))
        tasks_learn(qemu_plugin_hwaddr_phys_addr(physical));
}

/* The load behind the mark of a page is of the report's page. */
static void on_page(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    const struct qemu_plugin_hwaddr *physical = qemu_plugin_get_hwaddr(info, address);

    (void)data;
    if (on || physical == NULL || qemu_plugin_hwaddr_is_io(physical) || !begin_system())
        return;
    processors->tag = (uint64_t)cpu << HN_THREAD_SHIFT;
    tasks_report(processors, qemu_plugin_hwaddr_phys_addr(physical));
}

static uint32_t mark_of(const uint8_t *code, size_t size)
{
    static const uint8_t nop[] = {0x0f, 0x1f, 0x84, 0x00};
    uint32_t number = 0;

    if (size == MARK_BYTES && memcmp(code, nop, sizeof nop) == 0)
        memcpy(&number, code + sizeof nop, sizeof number);
    return number;
}

/* Code outside of the guest's memory is in a device, and left out like references to devices. */
static void watch_system_fetch(struct qemu_plugin_insn *insn, size_t to_come)
{
    const uint64_t size = qemu_plugin_insn_size(insn);
    uint64_t physical;
    struct site *s;

    if (!physical_of_host(qemu_plugin_insn_haddr(insn), &physical))
        return;
    s = site_new(insn, 0, to_come);
    if (s == NULL)
        return;
    s->what[0] = ((uint64_t)HN_FETCH << HN_KIND_SHIFT) | (size << HN_SIZE_SHIFT);
    s->what[1] = physical;
    qemu_plugin_register_vcpu_insn_exec_cb(insn, on_system_fetch, QEMU_PLUGIN_CB_NO_REGS, s);
}

static void watch_system(struct qemu_plugin_insn *insn, const uint8_t *code, size_t to_come)
{
    int synchronises;
    const int atomic = is_atomic(code, qemu_plugin_insn_size(insn), &synchronises);
    struct site *s = site_new(insn, (atomic ? SITE_ATOMIC : 0) | (synchronises ? SITE_SYNC : 0),
                              to_come);

    if (fetches)
        watch_system_fetch(insn, to_come);
    if (s != NULL)
        qemu_plugin_register_vcpu_mem_cb(insn, atomic ? on_system_atomic : on_system_reference,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, s);
}

static void on_system_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    const size_t count = qemu_plugin_tb_n_insns(tb);

    (void)id;
    if (watching)
        processors_watch(tb);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        uint8_t code[CODE_BYTES_MAX];
        uint32_t number;

        instruction_code(insn, code);
        number = mark_of(code, qemu_plugin_insn_size(insn));
        if (number == MARK_START)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_start, QEMU_PLUGIN_CB_NO_REGS, NULL);
        if (number == MARK_STOP)
            qemu_plugin_register_vcpu_insn_exec_cb(insn, on_stop, QEMU_PLUGIN_CB_NO_REGS, NULL);
        if (i + 1 < count && (number == MARK_START || number == MARK_PAGE))
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i + 1),
                                             number == MARK_START ? on_table : on_page,
                                             QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, NULL);
        if (watching)
            watch_system(insn, code, count - 1 - i);
    }
}

int system_install(qemu_plugin_id_t id, int with_fetches)
{
    own_id = id;
    fetches = with_fetches;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_system_translation);
    qemu_plugin_register_flush_cb(id, on_system_flush);
    return 0;
}
