/* The process that each processor of a whole system runs.
 *
 * The guest's kernel keeps a pointer to the running task at a fixed offset of every processor's
 * per-CPU data, and a store to it is a context switch. The task is read from the guest's memory,
 * which is QEMU's. The mark program in the guest finds out the offsets (mark.c).
 */
#include "guest.h"
#include "mark.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { NAME_BYTES = 16, SEEN = 1 << 12, RAM_NAME_BYTES = 64 };

#define NOWHERE UINT64_MAX

struct task {
    uint32_t process;
    char name[NAME_BYTES + 1];
};

uint64_t hn_current_task[SYSTEM_CPUS_MAX];
uint64_t *hn_pages, hn_page_count;

static const uint8_t *guest_ram;
static uint64_t guest_ram_size;
static struct mark_table tasks_table;
static struct task seen_tasks[SEEN];

/* The guest's memory in QEMU's address space. */
static int find_ram(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long low, high;

        if (strstr(line, "memory-backend-memfd") == NULL ||
            sscanf(line, "%lx-%lx", &low, &high) != 2 || high - low <= guest_ram_size)
            continue;
        guest_ram = (const uint8_t *)low;
        guest_ram_size = high - low;
    }
    if (maps != NULL)
        fclose(maps);
    return guest_ram != NULL;
}

static int read_physical(uint64_t address, void *to, size_t size)
{
    if (guest_ram == NULL || address >= guest_ram_size || guest_ram_size - address < size)
        return 0;
    memcpy(to, guest_ram + address, size);
    return 1;
}

static int read_kernel(uint64_t address, void *to, size_t size)
{
    return read_physical(address - (address >= KERNEL_IMAGE ? KERNEL_IMAGE : ALL_MEMORY), to, size);
}

/* Physical address in the guest of an address of QEMU, if it has one. */
int physical_of_host(const void *address, uint64_t *physical)
{
    *physical = (uint64_t)((uintptr_t)address - (uintptr_t)guest_ram);
    return guest_ram != NULL && *physical < guest_ram_size;
}

/* The mark program has read its table at this physical address. */
void tasks_learn(uint64_t physical)
{
    if (!find_ram() || !read_physical(physical, &tasks_table, sizeof tasks_table) ||
        tasks_table.magic != MARK_MAGIC)
        memset(&tasks_table, 0, sizeof tasks_table);
}

static void tell_report(struct hn_thread *me, const char *text, size_t length)
{
    for (size_t done = 0; done < length; done += HN_NAME_BYTES) {
        const size_t more = length - done;

        hn_text_event(me, HN_EV_REPORT, 0, text + done,
                      more < HN_NAME_BYTES ? more : HN_NAME_BYTES);
    }
}

/* A page of the mark program's report is at this physical address. */
void tasks_report(struct hn_thread *me, uint64_t physical)
{
    struct mark_page page;

    if (find_ram() && read_physical(physical, &page, sizeof page) && page.used <= sizeof page.text)
        tell_report(me, page.text, page.used);
}

/* Announces the virtual page of a physical page if it has changed. */
__attribute__((noinline)) void page_noted(struct hn_thread *me, uint64_t physical, uint64_t address)
{
    const uint64_t page = address / PAGE_BYTES_OF_GUEST;

    hn_pages[physical / PAGE_BYTES_OF_GUEST] = page;
    hn_event(me, HN_EV_PAGE, physical / PAGE_BYTES_OF_GUEST, page);
}

/* Allocates the table of pages, once the guest's memory has been found. */
static void make_pages(void)
{
    const size_t bytes = guest_ram_size / PAGE_BYTES_OF_GUEST * sizeof *hn_pages;
    void *room = hn_pages != NULL || bytes == 0 ? MAP_FAILED
                                                : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (room == MAP_FAILED)
        return;
    hn_pages = room;
    hn_page_count = guest_ram_size / PAGE_BYTES_OF_GUEST;
}

static int tasks_known(void)
{
    return tasks_table.magic == MARK_MAGIC;
}

/* A process has the name of its first thread. Each processor has an idle task, "swapper/3", and all
 * of them are process 0. */
static int current_task(unsigned cpu, struct task *found)
{
    uint64_t task, leader;

    memset(found, 0, sizeof *found);
    if (!read_kernel(hn_current_task[cpu], &task, sizeof task) ||
        !read_kernel(task + tasks_table.process, &found->process, sizeof found->process) ||
        !read_kernel(task + tasks_table.leader, &leader, sizeof leader) ||
        !read_kernel(leader + tasks_table.name, found->name, NAME_BYTES))
        return 0;
    if (found->process == 0)
        found->name[strcspn(found->name, "/")] = '\0';
    return 1;
}

/* Announces a process when it is first seen, and when exec has changed its name. */
static void tell_name(struct hn_thread *me, const struct task *t)
{
    struct task *known = &seen_tasks[t->process % SEEN];

    if (known->process == t->process && memcmp(known->name, t->name, NAME_BYTES) == 0)
        return;
    *known = *t;
    hn_text_event(me, HN_EV_PROCESS, t->process, t->name, strlen(t->name));
}

/* The processor's kernel has stored a task. The slot's tag is the processor's. */
void task_switched(struct hn_thread *me, unsigned cpu)
{
    struct task now;

    if (!current_task(cpu, &now))
        return;
    hn_event(me, HN_EV_CONTEXT, now.process, 0);
    tell_name(me, &now);
}

/* Adds the line of the report that the program in the guest cannot write. */
static void tell_own_data(struct hn_thread *me, unsigned cpu, uint64_t own_data)
{
    char line[64];
    const int length = snprintf(line, sizeof line, "C %u %lx\n", cpu, (unsigned long)own_data);

    tell_report(me, line, (size_t)length);
}

/* The processor with this per-CPU data, or `cpus`. */
unsigned task_processor(uint64_t own_data, unsigned cpus)
{
    unsigned cpu = 0;

    while (cpu < cpus && (cpu >= SYSTEM_CPUS_MAX ||
                          hn_current_task[cpu] != own_data + tasks_table.current))
        cpu++;
    return cpu;
}

/* Called when recording begins, while every processor stands still. */
void tasks_begin(struct hn_thread *me, unsigned cpus)
{
    for (unsigned cpu = 0; cpu < SYSTEM_CPUS_MAX; cpu++)
        hn_current_task[cpu] = NOWHERE;
    if (tasks_known())
        make_pages();
    for (unsigned cpu = 0; cpu < cpus && cpu < SYSTEM_CPUS_MAX; cpu++) {
        uint64_t own_data;

        me->tag = (uint64_t)cpu << HN_THREAD_SHIFT;
        if (!tasks_known() || !read_kernel(tasks_table.own_data + cpu * sizeof own_data, &own_data,
                                           sizeof own_data)) {
            hn_event(me, HN_EV_CONTEXT, 0, 0);
            continue;
        }
        hn_current_task[cpu] = own_data + tasks_table.current;
        tell_own_data(me, cpu, own_data);
        task_switched(me, cpu);
    }
}
