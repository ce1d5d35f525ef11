/* Interface of the traced process and the recorder: the shared area and the records in it.
 *
 * crates/capture/src/wire.rs has the same numbers; a test there reads this file and compares every
 * `#define HN_NAME number` below. Numbers are in the machine's byte order: both sides run on the
 * same machine.
 *
 * The area is a header, one counter line per ring, then the rings:
 *
 *     0          struct hn_header
 *     1024       HN_TURNS_MAX turns, struct hn_granted, in directed order
 *     3072       a bit for each thread that runs again for a reason outside of the simulation
 *     3584       a bit for each thread that lost its turn to the watchdog
 *     4096       HN_RINGS lines of 64 bytes, struct hn_ring_line
 *     69632      rings, `ring_blocks` * `block_records` records each
 *     then       `stack_words` words, call stacks of allocations: the number of program counters,
 *                then these, innermost first. The first word is unused: position 0 means no stack.
 *                Frames of a thread that starts others: HN_FRAMES + number of words, then of each
 *                frame program counter, stack pointer and frame pointer.
 *
 * A record is two 64-bit words. A reference:
 *     word 0     bits 0-47 address, 48-54 size in bytes, 55-56 kind, 57 synchronisation variable,
 *                58-62 instructions since the thread's previous reference, if counted; in logical
 *                order, which counts none, 58 marks an atomic operation, which is ordered, and 59
 *                a reference that is part of the operation before it and not counted; all five
 *                bits set mark a reference that the kernel makes in a system call of the thread
 *     word 1     bits 0-47 program counter, 48-63 thread
 * An event sets bit 63 of word 0 and is followed by `extra` records of plain payload:
 *     word 0     bits 0-47 first argument, 48-55 extra, 56-62 code, 63 set
 *     word 1     bits 0-47 second argument, 48-63 thread
 * The recorder clears the records that it has read, so the first record whose word 0 is zero is the
 * end of those written, whenever and however the writer ended. (Word 0 is written last; payload
 * words that may be zero have bit 63 set.)
 */
#ifndef HN_WIRE_H
#define HN_WIRE_H

#include <stdint.h>

#define HN_MAGIC 0x486e5763
#define HN_VERSION 7
#define HN_RINGS 1024
#define HN_FRAMES 0x100000000
#define HN_RING_LINES_AT 4096
#define HN_RINGS_AT 69632
#define HN_TURNS_AT 1024
#define HN_TURNS_MAX 64
#define HN_RELEASED_AT 3072
#define HN_TAKEN_AT 3584

#define HN_SIZE_SHIFT 48
#define HN_KIND_SHIFT 55
#define HN_SYNC_BIT 57
#define HN_GAP_SHIFT 58
#define HN_ORDERED_BIT 58
#define HN_WITHIN_BIT 59
#define HN_GAP_BITS 5
#define HN_TRANSFERS 31
#define HN_EXTRA_SHIFT 48
#define HN_CODE_SHIFT 56
#define HN_EVENT_BIT 63
#define HN_THREAD_SHIFT 48

#define HN_READ 0
#define HN_WRITE 1
#define HN_ATOMIC 2
#define HN_FETCH 3

#define HN_ORDER_DETERMINISTIC 1
#define HN_ORDER_FREE 2
#define HN_ORDER_LOGICAL 3

/* Event codes: arguments; payload words in parentheses. */
#define HN_EV_THREAD_START 1    /* stack low, stack high (TLS low, TLS high) */
#define HN_EV_THREAD_EXIT 2
#define HN_EV_THREAD_CREATE 3   /* child */
#define HN_EV_THREAD_JOIN 4     /* child */
#define HN_EV_LOCK_ACQUIRE 5    /* address */
#define HN_EV_LOCK_RELEASE 6    /* address */
#define HN_EV_BARRIER_ENTER 7   /* address */
#define HN_EV_BARRIER_LEAVE 8   /* address */
#define HN_EV_CONDITION_WAIT 9  /* address */
#define HN_EV_CONDITION_WAKE 10 /* address */
#define HN_EV_ALLOC 11          /* address, site (size, position of its stack or 0) */
#define HN_EV_FREE 12           /* address */
#define HN_EV_MAP 13            /* address, 1 if shared + 2 * position of its stack
                                   (size, bytes of name, name as in markers) */
#define HN_EV_UNMAP 14          /* address (size, 0) */
#define HN_EV_SYSCALL_ENTER 15  /* number */
#define HN_EV_SYSCALL_EXIT 16   /* number */
#define HN_EV_FORK 17           /* child process */
#define HN_EV_INIT_DONE 18
#define HN_EV_PHASE 19          /* number */
#define HN_EV_MARKER 20         /* bytes (text, 7 bytes a word) */
#define HN_EV_PRIVATE 21        /* address (size, 0) */
#define HN_EV_STAMP 22          /* free order only: (sequence number, 0) */
#define HN_EV_GAP 23            /* instructions before the next reference, if too many for it */
#define HN_EV_CONTEXT 24        /* process: whole systems, the processor runs it from here on */
#define HN_EV_PROCESS 25        /* process, bytes (its name, as in markers) */
#define HN_EV_REPORT 26         /* 0, bytes (the next piece of the mark program's report) */
#define HN_EV_CODE 27           /* pc: a whole system's instruction makes its first reference */
#define HN_EV_PAGE 28           /* physical page, virtual page at which a process has mapped it */

/* Directed order: what a thread waits for, or whose wait it ends, for the simulation that schedules
 * the threads. A limit is in nanoseconds of simulated time; all 48 bits set: none. */
#define HN_EV_ASKS 29           /* lock, limit */
#define HN_EV_LEAVES 30         /* barrier, number of threads that arrive at it */
#define HN_EV_JOINS 31          /* thread, limit */
#define HN_EV_WAITS 32          /* 0, limit: for the condition or semaphore of its last event */
#define HN_EV_ENDS 33           /* thread that waits for a condition or semaphore */
#define HN_EV_GIVES_UP 34       /* gives up its own wait of any of these kinds */
#define HN_EV_PAUSES 35         /* 0, limit */
#define HN_EV_RESUMES 36        /* thread that pauses */

/* Logical order. */
#define HN_EV_CLOCK 37          /* 1 + thread that ended this one's wait, or 0 (clock, 0) */
#define HN_EV_SYNC 38           /* address: after all others that had it, before all that will */

struct hn_record {
    uint64_t word[2];
};

struct hn_header {
    uint32_t magic;
    uint32_t version;
    uint32_t order;
    uint32_t quantum;
    uint32_t ring_count;
    uint32_t ring_blocks;
    uint32_t block_records;
    uint32_t recorder_pid;
    uint32_t claimed_by;    /* process that records; 0 until the runtime has started */
    uint32_t doorbell;      /* futex: raised at the end of every block */
    uint32_t recorder_waits;
    uint32_t forced;        /* times the baton was taken from a thread stuck in foreign code */
    uint32_t lost_threads;  /* beyond the largest number, or not the C library's: not recorded */
    uint32_t outside;       /* times a thread returned from a wait outside of the order */
    uint32_t rings_used;
    uint32_t greeted;       /* futex: the recorder has seen the process and its mappings */
    uint64_t stamp;         /* free order: last sequence number given out */
    uint32_t seed;          /* deterministic order: turns of random length, unless 0 */
    uint32_t seeded;        /* set by a runtime that knows `seed` */
    uint32_t fork_fd;       /* futex: descriptor + 1 of the area of a child that is being made */
    uint32_t numbers;       /* times the program asked for the number of a process or thread */
    uint32_t stack_words;   /* words for call stacks behind the rings; 0: none are recorded */
    uint32_t stacks_used;
    uint32_t connections;   /* accepted: data from other programs differs from run to run */
    uint32_t directed;      /* deterministic order: a simulation schedules the threads */
    uint32_t turns_made;    /* futex: raised with each list of turns */
    uint32_t turns_count;   /* turns in the list */
    uint32_t turns_done;    /* futex: = turns_made once all of them are over */
    uint32_t program_waits; /* the program sleeps on turns_made */
    uint32_t director_waits; /* the simulation sleeps on turns_done */
    uint32_t strays;        /* raised when a thread's bit is set at HN_RELEASED_AT or HN_TAKEN_AT */
    uint64_t ends_at;       /* logical order: clock at which the program ended by itself */
    uint32_t ended_by;      /* thread + 1 */
    uint32_t signals;       /* logical order: signals and cancellations at arbitrary places */
    uint32_t heap_unseen;   /* emulation: allocations are not seen, as registers are elsewhere */
    uint32_t executions;    /* calls of exec behind which nothing is recorded */
    uint64_t unseen;        /* emulation: executed instructions whose accesses are not seen */
    uint64_t began_ns;      /* emulation: virtual time at which exec began this program */
    uint32_t by_exec;       /* emulation: this program was begun by exec of a recorded one */
    uint32_t emulator_failed; /* it has ended by an assertion of its own */
};

/* State of a ring and of the thread that writes it. */
struct hn_ring_line {
    uint32_t given_back;    /* futex: blocks that the recorder has emptied */
    uint32_t changes;       /* logical order: raised whenever `floor` changes */
    uint64_t floor;         /* logical order: 0 while the thread runs or waits for its turn, else
                               the least clock of what it writes next */
    uint64_t unused[6];
};

/* A turn that the simulation gives to a thread. */
struct hn_granted {
    uint32_t thread;
    uint32_t references;
    uint32_t timed_out;     /* its wait has timed out */
    uint32_t exact;         /* no thread has less simulated time, so that it may synchronise */
    uint64_t now_ns;        /* simulated time */
    uint64_t also_unused;
};

#endif
