/* Children of fork: each is recorded to a trace of its own.
 *
 * The parent makes the memory that its child will share with the recorder, offers its descriptor to
 * the recorder, and waits until the recorder has opened it; the child inherits the mapping, and
 * begins in it as a process of one thread. So the assignment of traces to children depends only on
 * the order of the forks. The child's time continues from the parent's.
 */
#include "registers.h"

#include <linux/futex.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATIENCE_S = 2, NO_CHILD = 0x7fffffff };

static struct hn_header *next_area;
static uint64_t fork_ns;
static int was_deterministic;

static size_t area_bytes(const struct hn_header *area)
{
    return HN_RINGS_AT + (size_t)area->ring_count * area->ring_blocks * area->block_records *
                             sizeof(struct hn_record) +
           area->stack_words * sizeof(uint64_t);
}

static struct hn_header *make_area(int *fd)
{
    const size_t size = area_bytes(hn_shared);
    struct hn_header *area;

    *fd = (int)hn_sys(SYS_memfd_create, (long)"homenode", MFD_CLOEXEC, 0, 0);
    if (*fd < 0)
        return NULL;
    area = ftruncate(*fd, (off_t)size) != 0
               ? MAP_FAILED
               : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (area == MAP_FAILED) {
        close(*fd);
        return NULL;
    }
    area->magic = hn_shared->magic;
    area->version = hn_shared->version;
    area->order = hn_shared->order;
    area->quantum = hn_shared->quantum;
    area->ring_count = hn_shared->ring_count;
    area->ring_blocks = hn_shared->ring_blocks;
    area->block_records = hn_shared->block_records;
    area->recorder_pid = hn_shared->recorder_pid;
    area->seed = hn_shared->seed;
    area->stack_words = hn_shared->stack_words;
    return area;
}

/* Offers a descriptor to the recorder; returns whether that has opened it. */
static int show(int fd)
{
    const struct timespec patience = {PATIENCE_S, 0};
    const uint32_t shown = (uint32_t)fd + 1;

    __atomic_store_n(&hn_shared->fork_fd, shown, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&hn_shared->doorbell, 1, __ATOMIC_SEQ_CST);
    hn_futex(&hn_shared->doorbell, FUTEX_WAKE, 1, NULL);
    hn_futex(&hn_shared->fork_fd, FUTEX_WAIT, shown, &patience);
    return __atomic_exchange_n(&hn_shared->fork_fd, 0, __ATOMIC_SEQ_CST) == 0;
}

/* Makes the memory of a process and shows it to the recorder; returns its descriptor, or -1. */
static int offer(struct hn_thread *me, int by_exec)
{
    int fd;

    was_deterministic = hn_deterministic();
    fork_ns = was_deterministic ? hn_virtual_ns(me->next, me->block_end) : 0;
    next_area = make_area(&fd);
    if (next_area == NULL)
        return -1;
    next_area->by_exec = (uint32_t)by_exec;
    next_area->began_ns = fork_ns;
    me->in_runtime++;
    if (!show(fd)) {
        munmap(next_area, area_bytes(hn_shared));
        next_area = NULL;
        close(fd);
        fd = -1;
    }
    me->in_runtime--;
    return fd;
}

/* Called before the calling thread makes a child. */
void process_expect(struct hn_thread *me)
{
    const int fd = offer(me, 0);

    if (fd >= 0)
        close(fd);
}

/* Called before the program executes another; returns the descriptor of its memory, or -1. */
int process_offer_exec(struct hn_thread *me)
{
    return offer(me, 1);
}

/* Called if it does not. */
void process_withdraw(int fd)
{
    if (next_area != NULL) {
        __atomic_store_n(&next_area->claimed_by, NO_CHILD, __ATOMIC_SEQ_CST);
        munmap(next_area, area_bytes(hn_shared));
        next_area = NULL;
    }
    if (fd >= 0)
        close(fd);
}

/* Called after that, also if it has failed: the parent no longer needs the child's memory. */
void process_made(struct hn_thread *me, int64_t result)
{
    if (next_area != NULL) {
        if (result < 0)
            __atomic_store_n(&next_area->claimed_by, NO_CHILD, __ATOMIC_SEQ_CST);
        munmap(next_area, area_bytes(hn_shared));
        next_area = NULL;
    }
    if (result > 0) {
        random_after_fork(0);
        hn_event(me, HN_EV_FORK, (uint64_t)result, 0);
    }
}

/* A child without a trace of its own records nothing: the kernel has wiped the state in it. */
static void be_silent(void)
{
    hn_user_switching = 0;
    hn_me = &hn_no_thread;
    hn_recording = 0;
    if (was_deterministic)
        hn_sys(SYS_sched_setaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0);
}

/* Called first in a child, in its one thread. */
static void reset_child(void)
{
    struct hn_header *area = next_area;
    struct guest g;

    next_area = NULL;
    if (area == NULL || hn_me == &hn_no_thread) {
        be_silent();
        return;
    }
    g = *guest_of(hn_me);
    hn_shared = area;
    madvise(area, area_bytes(area), MADV_DONTFORK);
    area->claimed_by = (uint32_t)hn_sys(SYS_getpid, 0, 0, 0, 0);
    if (!hn_make_control()) {
        be_silent();
        return;
    }
    hn_greet();
    hn_read_settings();
    signals_after_fork();
    hn_user_threads_init();
    call_stacks_after_fork();
    hn_c->skipped_ns = hn_c->idle_ns = fork_ns;
    random_after_fork(1);
    guest_threads_alone(&g);
    hn_me->turn_began_ns = fork_ns;
    regions_inherited(hn_me);
    settle(hn_me);
}

void processes_begin(void)
{
    pthread_atfork(NULL, NULL, reset_child);
}
