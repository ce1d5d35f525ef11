//! Layout of the shared area and its records: the same numbers as in
//! `python/homenode/capture/runtime/wire.h`, which explains them. A test compares the two.

/// First word of the area.
pub const MAGIC: u32 = 0x486e_5763;
/// Raised whenever layout or records change: runtime and recorder come from one release.
pub const VERSION: u32 = 7;
/// Number of counter lines, and limit of the number of rings.
pub const RINGS: u32 = 1024;
/// Marks frames of a thread among the call stacks of allocations.
pub const FRAMES: u64 = 1 << 32;
/// Byte offset of the counter lines, one a ring.
pub const RING_LINES_AT: usize = 4096;
/// Byte offset of the rings.
pub const RINGS_AT: usize = 69632;
/// Directed order: byte offset of the list of turns.
pub const TURNS_AT: usize = 1024;
/// Limit of the turns in a list.
pub const TURNS_MAX: usize = 64;
/// Directed order: byte offset of a bit for each thread that runs by itself again.
pub const RELEASED_AT: usize = 3072;
/// Directed order: byte offset of a bit for each thread that lost its turn to the watchdog.
pub const TAKEN_AT: usize = 3584;

/// Bit position of the size in word 0 of a reference.
pub const SIZE_SHIFT: u32 = 48;
/// Bit position of the kind.
pub const KIND_SHIFT: u32 = 55;
/// Bit of a reference to a synchronisation variable.
pub const SYNC_BIT: u32 = 57;
/// Bit position of the instructions since the thread's previous reference, if they are counted.
pub const GAP_SHIFT: u32 = 58;
/// Width of that number; if all bits are set, it is in an event before the reference.
pub const GAP_BITS: u32 = 5;
/// In its place, marks a reference that the kernel makes in a system call of the thread.
pub const TRANSFERS: u32 = 31;
/// Logical order, which counts no instructions: marks an atomic operation, which is ordered.
pub const ORDERED_BIT: u32 = 58;
/// Logical order: marks a reference that is part of the operation before it and is not counted.
pub const WITHIN_BIT: u32 = 59;
/// Whether the first word of a reference has the mark of a transfer.
#[inline(always)]
pub const fn is_transfer(first: u64) -> bool {
    first >> GAP_SHIFT & ((1 << GAP_BITS) - 1) == TRANSFERS as u64
}

/// Bit position of the number of payload records in word 0 of an event.
pub const EXTRA_SHIFT: u32 = 48;
/// Bit position of the event code.
pub const CODE_SHIFT: u32 = 56;
/// Bit of events, also set in their payload; clear in references.
pub const EVENT_BIT: u32 = 63;
/// Bit position of the thread in word 1.
pub const THREAD_SHIFT: u32 = 48;

/// One thread at a time.
pub const ORDER_DETERMINISTIC: u32 = 1;
/// Threads in parallel.
pub const ORDER_FREE: u32 = 2;
/// Threads in parallel, their operations in the order of logical clocks.
pub const ORDER_LOGICAL: u32 = 3;

/// Byte offset in a ring's line of the number of changes of its floor.
pub const CHANGES_AT: usize = 4;
/// Byte offset in a ring's line of the floor: 0 while its thread runs or waits for its turn, else
/// the least clock of what it writes next.
pub const FLOOR_AT: usize = 8;

/// Event codes; `wire.h` lists the arguments.
pub mod code {
    /// A thread begins.
    pub const THREAD_START: u8 = 1;
    /// A thread ends.
    pub const THREAD_EXIT: u8 = 2;
    /// A thread makes another.
    pub const THREAD_CREATE: u8 = 3;
    /// A thread has waited for another's end.
    pub const THREAD_JOIN: u8 = 4;
    /// A lock is taken.
    pub const LOCK_ACQUIRE: u8 = 5;
    /// A lock is given back.
    pub const LOCK_RELEASE: u8 = 6;
    /// Arrival at a barrier.
    pub const BARRIER_ENTER: u8 = 7;
    /// Departure from a barrier.
    pub const BARRIER_LEAVE: u8 = 8;
    /// A wait for a condition or semaphore begins.
    pub const CONDITION_WAIT: u8 = 9;
    /// A condition is signalled or a semaphore posted.
    pub const CONDITION_WAKE: u8 = 10;
    /// Memory is allocated.
    pub const ALLOC: u8 = 11;
    /// Memory is freed.
    pub const FREE: u8 = 12;
    /// A mapping is made.
    pub const MAP: u8 = 13;
    /// A mapping is removed.
    pub const UNMAP: u8 = 14;
    /// A system call begins.
    pub const SYSCALL_ENTER: u8 = 15;
    /// A system call returns.
    pub const SYSCALL_EXIT: u8 = 16;
    /// A child process is made.
    pub const FORK: u8 = 17;
    /// Initialisation is over.
    pub const INIT_DONE: u8 = 18;
    /// A phase begins.
    pub const PHASE: u8 = 19;
    /// Free text.
    pub const MARKER: u8 = 20;
    /// A region is declared private.
    pub const PRIVATE: u8 = 21;
    /// Sequence number, in free order.
    pub const STAMP: u8 = 22;
    /// Instructions before the next reference.
    pub const GAP: u8 = 23;
    /// Whole system: the process that a processor runs from now on.
    pub const CONTEXT: u8 = 24;
    /// The name of a process.
    pub const PROCESS: u8 = 25;
    /// The next bytes of the mark program's report on its system.
    pub const REPORT: u8 = 26;
    /// An instruction of a whole system makes its first reference.
    pub const CODE: u8 = 27;
    /// Which virtual page of the running process a physical page is.
    pub const PAGE: u8 = 28;
    /// Directed order: a thread asks for a lock.
    pub const ASKS: u8 = 29;
    /// Directed order: a thread waits for the others at a barrier.
    pub const LEAVES: u8 = 30;
    /// Directed order: a thread waits for another's end.
    pub const JOINS: u8 = 31;
    /// Directed order: a thread waits for a condition or semaphore.
    pub const WAITS: u8 = 32;
    /// Directed order: a thread ends another's wait for a condition or semaphore.
    pub const ENDS: u8 = 33;
    /// Directed order: a thread gives up its wait.
    pub const GIVES_UP: u8 = 34;
    /// Directed order: a thread waits for something else.
    pub const PAUSES: u8 = 35;
    /// Directed order: a thread ends another's wait for something else.
    pub const RESUMES: u8 = 36;
    /// In logical order, the clock of what follows.
    pub const CLOCK: u8 = 37;
    /// In logical order, threads synchronise without a reference.
    pub const SYNC: u8 = 38;
}

/// Byte offsets of the header's fields.
pub mod at {
    /// `magic`
    pub const MAGIC: usize = 0;
    /// `version`
    pub const VERSION: usize = 4;
    /// `order`
    pub const ORDER: usize = 8;
    /// `quantum`
    pub const QUANTUM: usize = 12;
    /// `ring_count`
    pub const RING_COUNT: usize = 16;
    /// `ring_blocks`
    pub const RING_BLOCKS: usize = 20;
    /// `block_records`
    pub const BLOCK_RECORDS: usize = 24;
    /// `recorder_pid`
    pub const RECORDER_PID: usize = 28;
    /// `claimed_by`
    pub const CLAIMED_BY: usize = 32;
    /// `doorbell`
    pub const DOORBELL: usize = 36;
    /// `recorder_waits`
    pub const RECORDER_WAITS: usize = 40;
    /// `forced`
    pub const FORCED: usize = 44;
    /// `lost_threads`
    pub const LOST_THREADS: usize = 48;
    /// `outside`
    pub const OUTSIDE: usize = 52;
    /// `rings_used`
    pub const RINGS_USED: usize = 56;
    /// `greeted`
    pub const GREETED: usize = 60;
    /// `stamp`
    pub const STAMP: usize = 64;
    /// `seed`
    pub const SEED: usize = 72;
    /// `seeded`
    pub const SEEDED: usize = 76;
    /// `fork_fd`
    pub const FORK_FD: usize = 80;
    /// `numbers`
    pub const NUMBERS: usize = 84;
    /// `stack_words`
    pub const STACK_WORDS: usize = 88;
    /// `stacks_used`
    pub const STACKS_USED: usize = 92;
    /// `connections`
    pub const CONNECTIONS: usize = 96;
    /// `directed`
    pub const DIRECTED: usize = 100;
    /// `turns_made`
    pub const TURNS_MADE: usize = 104;
    /// `turns_count`
    pub const TURNS_COUNT: usize = 108;
    /// `turns_done`
    pub const TURNS_DONE: usize = 112;
    /// `program_waits`
    pub const PROGRAM_WAITS: usize = 116;
    /// `director_waits`
    pub const DIRECTOR_WAITS: usize = 120;
    /// `strays`
    pub const STRAYS: usize = 124;
    /// `ends_at`
    pub const ENDS_AT: usize = 128;
    /// `ended_by`
    pub const ENDED_BY: usize = 136;
    /// `signals`
    pub const SIGNALS: usize = 140;
    /// `heap_unseen`
    pub const HEAP_UNSEEN: usize = 144;
    /// `executions`
    pub const EXECUTIONS: usize = 148;
    /// `unseen`
    pub const UNSEEN: usize = 152;
    /// `began_ns`
    pub const BEGAN_NS: usize = 160;
    /// `by_exec`
    pub const BY_EXEC: usize = 168;
    /// `emulator_failed`
    pub const EMULATOR_FAILED: usize = 172;
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = include_str!("../../../python/homenode/capture/runtime/wire.h");

    fn defined(name: &str) -> u64 {
        let line = HEADER
            .lines()
            .find(|line| line.split_whitespace().nth(1) == Some(name))
            .unwrap_or_else(|| panic!("wire.h does not define {name}"));
        let value = line.split_whitespace().nth(2).unwrap();
        value
            .strip_prefix("0x")
            .map_or_else(|| value.parse(), |hex| u64::from_str_radix(hex, 16))
            .unwrap()
    }

    /// Numbers that only directed and logical order use.
    fn of_simulations() -> Vec<(&'static str, u64)> {
        vec![
            ("HN_TURNS_AT", TURNS_AT as u64),
            ("HN_TURNS_MAX", TURNS_MAX as u64),
            ("HN_RELEASED_AT", RELEASED_AT as u64),
            ("HN_TAKEN_AT", TAKEN_AT as u64),
            ("HN_EV_ASKS", code::ASKS.into()),
            ("HN_EV_LEAVES", code::LEAVES.into()),
            ("HN_EV_JOINS", code::JOINS.into()),
            ("HN_EV_WAITS", code::WAITS.into()),
            ("HN_EV_ENDS", code::ENDS.into()),
            ("HN_EV_GIVES_UP", code::GIVES_UP.into()),
            ("HN_EV_PAUSES", code::PAUSES.into()),
            ("HN_EV_RESUMES", code::RESUMES.into()),
            ("HN_EV_CLOCK", code::CLOCK.into()),
            ("HN_EV_SYNC", code::SYNC.into()),
        ]
    }

    #[test]
    fn numbers_are_those_of_the_c_header() {
        let pairs: &[(&str, u64)] = &[
            ("HN_MAGIC", MAGIC.into()),
            ("HN_VERSION", VERSION.into()),
            ("HN_FRAMES", FRAMES),
            ("HN_RINGS", RINGS.into()),
            ("HN_RING_LINES_AT", RING_LINES_AT as u64),
            ("HN_RINGS_AT", RINGS_AT as u64),
            ("HN_SIZE_SHIFT", SIZE_SHIFT.into()),
            ("HN_KIND_SHIFT", KIND_SHIFT.into()),
            ("HN_SYNC_BIT", SYNC_BIT.into()),
            ("HN_GAP_SHIFT", GAP_SHIFT.into()),
            ("HN_GAP_BITS", GAP_BITS.into()),
            ("HN_TRANSFERS", TRANSFERS.into()),
            ("HN_ORDERED_BIT", ORDERED_BIT.into()),
            ("HN_WITHIN_BIT", WITHIN_BIT.into()),
            ("HN_EXTRA_SHIFT", EXTRA_SHIFT.into()),
            ("HN_CODE_SHIFT", CODE_SHIFT.into()),
            ("HN_EVENT_BIT", EVENT_BIT.into()),
            ("HN_THREAD_SHIFT", THREAD_SHIFT.into()),
            ("HN_READ", 0),
            ("HN_WRITE", 1),
            ("HN_ATOMIC", 2),
            ("HN_FETCH", 3),
            ("HN_ORDER_DETERMINISTIC", ORDER_DETERMINISTIC.into()),
            ("HN_ORDER_FREE", ORDER_FREE.into()),
            ("HN_ORDER_LOGICAL", ORDER_LOGICAL.into()),
            ("HN_EV_THREAD_START", code::THREAD_START.into()),
            ("HN_EV_THREAD_EXIT", code::THREAD_EXIT.into()),
            ("HN_EV_THREAD_CREATE", code::THREAD_CREATE.into()),
            ("HN_EV_THREAD_JOIN", code::THREAD_JOIN.into()),
            ("HN_EV_LOCK_ACQUIRE", code::LOCK_ACQUIRE.into()),
            ("HN_EV_LOCK_RELEASE", code::LOCK_RELEASE.into()),
            ("HN_EV_BARRIER_ENTER", code::BARRIER_ENTER.into()),
            ("HN_EV_BARRIER_LEAVE", code::BARRIER_LEAVE.into()),
            ("HN_EV_CONDITION_WAIT", code::CONDITION_WAIT.into()),
            ("HN_EV_CONDITION_WAKE", code::CONDITION_WAKE.into()),
            ("HN_EV_ALLOC", code::ALLOC.into()),
            ("HN_EV_FREE", code::FREE.into()),
            ("HN_EV_MAP", code::MAP.into()),
            ("HN_EV_UNMAP", code::UNMAP.into()),
            ("HN_EV_SYSCALL_ENTER", code::SYSCALL_ENTER.into()),
            ("HN_EV_SYSCALL_EXIT", code::SYSCALL_EXIT.into()),
            ("HN_EV_FORK", code::FORK.into()),
            ("HN_EV_INIT_DONE", code::INIT_DONE.into()),
            ("HN_EV_PHASE", code::PHASE.into()),
            ("HN_EV_MARKER", code::MARKER.into()),
            ("HN_EV_PRIVATE", code::PRIVATE.into()),
            ("HN_EV_STAMP", code::STAMP.into()),
            ("HN_EV_GAP", code::GAP.into()),
            ("HN_EV_CONTEXT", code::CONTEXT.into()),
            ("HN_EV_PROCESS", code::PROCESS.into()),
            ("HN_EV_REPORT", code::REPORT.into()),
            ("HN_EV_CODE", code::CODE.into()),
            ("HN_EV_PAGE", code::PAGE.into()),
        ];
        let pairs = [pairs.to_vec(), of_simulations()].concat();
        for (name, value) in &pairs {
            assert_eq!(defined(name), *value, "{name}");
        }
        let listed = HEADER
            .lines()
            .filter(|line| line.starts_with("#define HN_") && line.split_whitespace().count() > 2);
        assert_eq!(listed.count(), pairs.len(), "wire.h defines a number that is not compared");
    }

    /// The offsets of all fields of `struct hn_header`.
    #[test]
    fn fields_are_where_the_c_compiler_puts_them() {
        let body = HEADER.split("struct hn_header {").nth(1).unwrap();
        let body = body.split("};").next().unwrap();
        let mut offset = 0;
        let mut fields = Vec::new();
        for line in body.lines() {
            let mut words = line.split_whitespace();
            let size = match words.next() {
                Some("uint32_t") => 4,
                Some("uint64_t") => 8,
                _ => continue,
            };
            assert_eq!(offset % size, 0, "the compiler would pad before {line}");
            fields.push((words.next().unwrap().trim_end_matches(';').to_owned(), offset));
            offset += size;
        }
        let expected = [
            ("magic", at::MAGIC),
            ("version", at::VERSION),
            ("order", at::ORDER),
            ("quantum", at::QUANTUM),
            ("ring_count", at::RING_COUNT),
            ("ring_blocks", at::RING_BLOCKS),
            ("block_records", at::BLOCK_RECORDS),
            ("recorder_pid", at::RECORDER_PID),
            ("claimed_by", at::CLAIMED_BY),
            ("doorbell", at::DOORBELL),
            ("recorder_waits", at::RECORDER_WAITS),
            ("forced", at::FORCED),
            ("lost_threads", at::LOST_THREADS),
            ("outside", at::OUTSIDE),
            ("rings_used", at::RINGS_USED),
            ("greeted", at::GREETED),
            ("stamp", at::STAMP),
            ("seed", at::SEED),
            ("seeded", at::SEEDED),
            ("fork_fd", at::FORK_FD),
            ("numbers", at::NUMBERS),
            ("stack_words", at::STACK_WORDS),
            ("stacks_used", at::STACKS_USED),
            ("connections", at::CONNECTIONS),
            ("directed", at::DIRECTED),
            ("turns_made", at::TURNS_MADE),
            ("turns_count", at::TURNS_COUNT),
            ("turns_done", at::TURNS_DONE),
            ("program_waits", at::PROGRAM_WAITS),
            ("director_waits", at::DIRECTOR_WAITS),
            ("strays", at::STRAYS),
            ("ends_at", at::ENDS_AT),
            ("ended_by", at::ENDED_BY),
            ("signals", at::SIGNALS),
            ("heap_unseen", at::HEAP_UNSEEN),
            ("executions", at::EXECUTIONS),
            ("unseen", at::UNSEEN),
            ("began_ns", at::BEGAN_NS),
            ("by_exec", at::BY_EXEC),
            ("emulator_failed", at::EMULATOR_FAILED),
        ];
        let expected: Vec<_> = expected.iter().map(|(n, o)| ((*n).to_owned(), *o)).collect();
        assert_eq!(fields, expected);
    }
}
