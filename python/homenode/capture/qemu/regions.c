/* Mappings of the program: bounds of thread stacks, memory shared with other processes, and
 * events. */
#include "registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

/* Ordered by address, without overlaps. Used by the thread that has the turn, or in free order by
 * the one that has the lock. */
static struct region *regions;
static size_t count, room;
static uint32_t lock;
static uint64_t heap_end;
static unsigned anonymous_shared;

static void enter(void)
{
    uint32_t free_value = 0;

    while (!__atomic_compare_exchange_n(&lock, &free_value, 1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        free_value = 0;
        hn_sys(SYS_sched_yield, 0, 0, 0, 0);
    }
}

static void leave(void)
{
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

/* The first region that ends behind an address. */
static size_t first_behind(uint64_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (regions[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(size_t at, struct region r)
{
    if (count == room) {
        struct region *more = realloc(regions, (room * 2 + 64) * sizeof *more);

        if (more == NULL)
            return;
        regions = more;
        room = room * 2 + 64;
    }
    memmove(&regions[at + 1], &regions[at], (count - at) * sizeof *regions);
    regions[at] = r;
    count++;
}

/* Removes a range from the regions that overlap it. */
static void cut(uint64_t start, uint64_t end)
{
    size_t at = first_behind(start);

    while (at < count && regions[at].start < end) {
        struct region *r = &regions[at];
        const struct region right = {end, r->end, r->shared, r->name};

        if (r->start < start) {
            r->end = start;
            at++;
            if (right.end > end)
                insert(at, right);
        } else if (r->end > end) {
            r->start = end;
        } else {
            memmove(r, r + 1, (count - at - 1) * sizeof *r);
            count--;
        }
    }
}

/* `name` of shared memory is kept for children, which name it too; it is small and never freed. */
static void add(uint64_t start, uint64_t end, const char *name, size_t length)
{
    char *kept = name == NULL ? NULL : strndup(name, length);

    enter();
    cut(start, end);
    insert(first_behind(start), (struct region){start, end, name != NULL, kept});
    leave();
}

/* The region that holds an address, or null. */
const struct region *region_at(uint64_t address)
{
    const size_t at = first_behind(address);

    return at < count && regions[at].start <= address ? &regions[at] : NULL;
}

/* The end of the region that holds an address; 0: there is none. */
uint64_t region_end(uint64_t address)
{
    const struct region *r;
    uint64_t end;

    enter();
    r = region_at(address);
    end = r != NULL ? r->end : 0;
    leave();
    return end;
}

static int failed(uint64_t result)
{
    return result > UINT64_MAX - 4096;
}

/* Anonymous shared memory is numbered, because the system's name of it differs from run to run; a
 * child inherits mapping and number. */
void region_mmap(struct hn_thread *me, const uint64_t a[6], uint64_t start)
{
    const int type = (int)a[3] & MAP_TYPE;
    const int shared = type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
    const uint64_t size = (a[1] + 4095) & ~UINT64_C(4095);
    const uint64_t stack = stack_of_mapping();
    const uint64_t what[3] = {start, (uint64_t)shared | stack << 1, size};
    char name[HN_NAME_BYTES];
    size_t length;

    if (failed(start))
        return;
    length = hn_file_name((a[3] & MAP_ANONYMOUS) != 0 ? -1 : (int)a[4], name);
    if (length == 0 && shared)
        length = (size_t)snprintf(name, sizeof name, "anonymous:%u", ++anonymous_shared);
    add(start, start + size, shared ? name : NULL, length);
    hn_map_event(me, what, name, length);
    if ((a[2] & PROT_EXEC) != 0 && (a[3] & MAP_ANONYMOUS) == 0) {
        /* The recorder must read a library's mapping while it exists. */
        me->in_runtime++;
        hn_greet();
        file_mapped((int)a[4], start, a[5]);
        me->in_runtime--;
    }
}

void region_munmap(struct hn_thread *me, uint64_t start, uint64_t size)
{
    const uint64_t words[4] = {start, 0, size, 0};

    enter();
    cut(start, start + ((size + 4095) & ~UINT64_C(4095)));
    leave();
    hn_event_with(me, HN_EV_UNMAP, words);
}

void region_mremap(struct hn_thread *me, const uint64_t a[6], uint64_t start)
{
    const struct region *old = region_at(a[0]);
    const char *name = old != NULL ? old->name : NULL;
    const size_t length = name != NULL ? strlen(name) : 0;
    const uint64_t stack = stack_of_mapping();
    const uint64_t what[3] = {start, (uint64_t)(name != NULL) | stack << 1, a[2]};

    if (failed(start))
        return;
    region_munmap(me, a[0], a[1]);
    add(start, start + a[2], name, length);
    hn_map_event(me, what, name, length);
}

/* The heap's end has moved; the first call only asks for it. */
void region_brk(struct hn_thread *me, uint64_t end)
{
    static const char name[] = "[heap]";

    if (heap_end != 0 && end > heap_end) {
        const uint64_t what[3] = {heap_end, 0, end - heap_end};

        hn_map_event(me, what, name, sizeof name - 1);
    }
    heap_end = end;
}

/* A System V shared memory segment, named by its key, as its number differs from run to run. */
void region_attach(struct hn_thread *me, uint64_t segment, uint64_t start)
{
    struct shmid_ds status;
    uint64_t what[3] = {start, 1, 0};
    char name[HN_NAME_BYTES];
    size_t length;

    if (failed(start) || shmctl((int)segment, IPC_STAT, &status) != 0)
        return;
    what[2] = (status.shm_segsz + 4095) & ~UINT64_C(4095);
    length = status.shm_perm.__key == IPC_PRIVATE
                 ? (size_t)snprintf(name, sizeof name, "sysv:private")
                 : (size_t)snprintf(name, sizeof name, "sysv:%#x", (unsigned)status.shm_perm.__key);
    add(start, start + what[2], name, length);
    hn_map_event(me, what, name, length);
}

void region_detach(struct hn_thread *me, uint64_t start)
{
    const struct region *r = region_at(start);

    if (r != NULL)
        region_munmap(me, r->start, r->end - r->start);
}

/* In a child of fork: events of the memory that it shares with other processes. */
void regions_inherited(struct hn_thread *me)
{
    for (size_t i = 0; i < count; i++) {
        const struct region *r = &regions[i];
        const uint64_t what[3] = {r->start, 1, r->end - r->start};

        if (r->shared)
            hn_map_event(me, what, r->name, strlen(r->name));
    }
}

/* The main thread's stack, before the program runs: the lowest anonymous mapping with an
 * inaccessible page below it, because the program's memory is below QEMU's own. */
int main_stack_of_guest(uint64_t *low, uint64_t *high)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    uint64_t guard_end = 0;
    char line[512];

    *low = *high = 0;
    while (maps != NULL && *high == 0 && fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, end, inode;
        char mode[8];

        if (sscanf(line, "%lx-%lx %7s %*s %*s %lu", &start, &end, mode, &inode) != 4)
            continue;
        if (start == guard_end && strcmp(mode, "rw-p") == 0 && inode == 0) {
            *low = start;
            *high = end;
        }
        guard_end = strcmp(mode, "---p") == 0 && inode == 0 ? end : 0;
    }
    if (maps != NULL)
        fclose(maps);
    return *high != 0;
}
