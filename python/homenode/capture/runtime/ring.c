/* Writing records: blocks of the ring, back-pressure, events, ranges.
 *
 * In deterministic order all threads write ring 0, one at a time; else every thread has its own.
 * In free order it writes a sequence number every `quantum` records and after every acquiring
 * operation, by which the recorder merges; in logical order the recorder counts the references.
 */
#include "hn.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

enum { RECORDER_PATIENCE_NS = 100000000 };

static uint32_t *given_back(uint32_t ring)
{
    return &((struct hn_ring_line *)((char *)hn_shared + HN_RING_LINES_AT))[ring].given_back;
}

struct hn_record *hn_ring_start(uint32_t ring)
{
    size_t records = (size_t)hn_shared->ring_blocks * hn_shared->block_records;

    return (struct hn_record *)((char *)hn_shared + HN_RINGS_AT) + (size_t)ring * records;
}

/* Stops recording permanently and lets all threads run. */
void hn_go_silent(void)
{
    hn_c->order = 0;
    for (uint32_t i = 0; i < hn_c->slots_used; i++) {
        hn_slots[i].limit = NULL;
        __atomic_store_n(&hn_slots[i].go, 1, __ATOMIC_RELEASE);
        hn_futex(&hn_slots[i].go, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL);
    }
    if (!hn_c->keeps_lock)
        hn_stop_user_switching();
}

static int recorder_is_gone(void)
{
    return hn_sys(SYS_kill, hn_shared->recorder_pid, 0, 0, 0) == -ESRCH;
}

/* Waits until the recorder has emptied the next block. */
static void wait_for_room(uint32_t ring, uint64_t done)
{
    uint32_t *word = given_back(ring);
    const struct timespec patience = {0, RECORDER_PATIENCE_NS};

    for (;;) {
        uint32_t back = __atomic_load_n(word, __ATOMIC_ACQUIRE);

        if ((uint32_t)done - back < hn_shared->ring_blocks)
            return;
        if (hn_futex(word, FUTEX_WAIT, back, &patience) == -ETIMEDOUT && recorder_is_gone()) {
            hn_go_silent();
            return;
        }
    }
}

/* The block is full: notifies the recorder and moves to the next one. Null if recording has
 * ended. */
struct hn_record *hn_next_block(struct hn_thread *me)
{
    uint64_t done = hn_one_ring() ? ++hn_c->blocks_done : ++me->blocks_done;
    size_t block = done % hn_shared->ring_blocks;

    __atomic_fetch_add(&hn_shared->doorbell, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&hn_shared->recorder_waits, __ATOMIC_SEQ_CST))
        hn_futex(&hn_shared->doorbell, FUTEX_WAKE, 1, NULL);
    wait_for_room(me->ring, done);
    if (hn_c->order == 0)
        return NULL;
    if (hn_logical) {
        hn_clock_write_begin(me);
        me->clock = hn_clock(me);
    }
    me->turn_left -= me->next - me->turn_start;
    me->next = hn_ring_start(me->ring) + block * hn_shared->block_records;
    me->block_end = me->next + hn_shared->block_records;
    me->turn_start = me->next;
    if (hn_logical)
        hn_clock_write_end(me);
    hn_set_limit(me);
    return me->next;
}

void hn_set_limit(struct hn_thread *me)
{
    int64_t room = me->block_end - me->next;
    int64_t left = me->turn_left - (me->next - me->turn_start);

    if (hn_logical) {
        hn_set_stop(me);
        return;
    }
    if (left < 0)
        left = 0;
    me->limit = me->next + (left < room ? left : room);
}

/* Slow path of a hook, when its one comparison fails. Returns where to record, or null. */
struct hn_record *hn_slow(struct hn_thread *me)
{
    if (me->state == HN_UNUSED || me->in_runtime || hn_c->order == 0)
        return NULL;
    if (me->state != HN_RUNNING)
        hn_enter(me);
    if (me->put_off != 0)
        hn_run_pending(me);
    me->in_runtime++;
    if (hn_c->order != 0 && hn_logical) {
        hn_leave_turn(me);
    } else if (hn_c->order != 0 && me->turn_left <= me->next - me->turn_start) {
        if (!hn_deterministic())
            hn_stamp(me);
        else if (!me->no_yield && !hn_in_handler(me))
            hn_yield(me);
    }
    if (hn_c->order != 0 && me->next >= me->block_end)
        hn_next_block(me);
    if (hn_c->order != 0 && me->next >= me->limit)
        hn_set_limit(me);
    me->in_runtime--;
    if (me->put_off != 0)
        hn_run_pending(me);
    if (me->cancelled_anywhere)
        pthread_testcancel();
    return hn_c->order != 0 ? me->next : NULL;
}

/* hn_ref when its comparison fails; a function of its own, so hooks need no stack frame. */
__attribute__((noinline)) void hn_ref_slow(const volatile void *address, uint64_t what,
                                           uintptr_t pc)
{
    struct hn_thread *me = hn_me;
    struct hn_record *at = hn_slow(me);

    if (at == NULL) {
        if (me == &hn_no_thread && hn_recording && hn_c->order != 0)
            hn_meet_unknown_thread();
        return;
    }
    at->word[1] = (pc & 0xffffffffffff) | me->tag;
    __atomic_store_n(&at->word[0], ((uintptr_t)address & 0xffffffffffff) | what,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&me->next, at + 1, __ATOMIC_RELEASE);
}

/* Writes one record without a check of the quantum: events, payload, the rest of a range. */
void hn_put(struct hn_thread *me, uint64_t word0, uint64_t word1)
{
    struct hn_record *at = me->next;

    if (at >= me->block_end)
        at = hn_next_block(me);
    if (at == NULL)
        return;
    at->word[1] = word1;
    __atomic_store_n(&at->word[0], word0, __ATOMIC_RELEASE);
    __atomic_store_n(&me->next, at + 1, __ATOMIC_RELEASE);
}

/* Records up to hn_end_uncounted do not advance the clock of logical order. Returns that clock. */
uint64_t hn_begin_uncounted(struct hn_thread *me)
{
    me->in_runtime++;
    if (!hn_logical)
        return 0;
    hn_clock_write_begin(me);
    return hn_clock(me);
}

void hn_end_uncounted(struct hn_thread *me, uint64_t clock)
{
    if (hn_logical) {
        me->clock = clock;
        me->turn_start = me->next;
        hn_clock_write_end(me);
    }
    me->in_runtime--;
    if (hn_c->order != 0)
        hn_set_limit(me);
}

/* Whether the calling thread can record what it has just done. The watchdog takes the baton of a
 * thread that sleeps in unseen code (posix_spawn, fread): then it waits for a turn first. */
int hn_may_record(struct hn_thread *me)
{
    if (HN_UNLIKELY(me->state == HN_OUTSIDE) && !me->in_runtime)
        hn_enter(me);
    return me->state == HN_RUNNING && hn_c->order != 0;
}

/* An event with `extra` records of payload behind the first two words. */
void hn_event_words(struct hn_thread *me, int code, const uint64_t *words, unsigned extra)
{
    const uint64_t low = 0xffffffffffff;
    const uint64_t mark = UINT64_C(1) << HN_EVENT_BIT;
    uint64_t clock;

    if (!hn_may_record(me))
        return;
    if (hn_logical && me->fresh && code != HN_EV_CLOCK)
        hn_note_turn(me);
    clock = hn_begin_uncounted(me);
    hn_put(me,
           mark | ((uint64_t)code << HN_CODE_SHIFT) | ((uint64_t)extra << HN_EXTRA_SHIFT) |
               (words[0] & low),
           (words[1] & low) | me->tag);
    for (unsigned i = 1; i <= extra; i++)
        hn_put(me, words[2 * i] | mark, words[2 * i + 1]);
    hn_end_uncounted(me, clock);    /* the clock counts references only */
}

/* An event that is one record. */
void hn_event(struct hn_thread *me, int code, uint64_t first, uint64_t second)
{
    const uint64_t words[2] = {first, second};

    hn_event_words(me, code, words, 0);
}

/* An event with two more words. */
void hn_event_with(struct hn_thread *me, int code, const uint64_t words[4])
{
    hn_event_words(me, code, words, 1);
}

/* Free order: takes a new sequence number. The thread's records from here on happened after all
 * records of all threads with smaller numbers. Does nothing in deterministic order. */
void hn_stamp(struct hn_thread *me)
{
    uint64_t words[4] = {0, 0, 0, 0};

    if (hn_deterministic() || hn_c->order == 0)
        return;
    words[2] = __atomic_add_fetch(&hn_shared->stamp, 1, __ATOMIC_SEQ_CST);
    me->turn_left = hn_c->quantum + 2;
    me->turn_start = me->next;
    hn_event_words(me, HN_EV_STAMP, words, 1);
}

/* Records a range as references of at most 64 bytes that do not cross a 64-byte line: one check of
 * the quantum, then all of it, then the caller accesses the memory. */
void hn_range(const void *start, size_t size, uint64_t kind, uintptr_t pc)
{
    uintptr_t at = (uintptr_t)start;
    const uintptr_t end = at + size;
    struct hn_thread *me;
    size_t part = 64 - (at & 63);
    int in_library;

    if (size == 0)
        return;
    in_library = hn_in_library(hn_me);
    if (part > size)
        part = size;
    hn_ref(start, HN_WHAT(kind, part), pc);
    me = hn_me;
    if (me->limit == NULL)
        return;
    me->in_runtime++;
    for (at += part; at < end && hn_c->order != 0; at += part) {
        part = end - at < 64 ? end - at : 64;
        if (hn_logical && me->next >= me->block_end)
            hn_leave_turn(me);
        hn_put(me, (at & 0xffffffffffff) | HN_WHAT(kind, part),
               pc | me->tag);
    }
    me->in_runtime--;
    if (in_library)
        me->op_clock = hn_clock(me);
    if (hn_c->order != 0 && me->state == HN_RUNNING)
        hn_set_limit(me);
}
