//! A running program as a source of references: what it did in a few turns, and what it waits for.
//!
//! A trace says what was; a program that is driven by a simulation also says, before it goes on,
//! what it waits for ([`LiveFact`]). These facts are for the simulation alone.

use crate::model::{Batch, Event};

/// No time-out.
pub const NO_LIMIT_NS: u64 = (1 << 48) - 1;

/// A thread may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveTurn {
    /// The thread.
    pub thread: u16,
    /// References that it may make; it stops before where it has to know what the simulation says.
    pub references: u32,
    /// Whether nobody has less simulated time: only then may it synchronise.
    pub exact: bool,
    /// Whether what it waits for has not come in time.
    pub timed_out: bool,
    /// What its clock shows: nanoseconds of simulated time.
    pub now_ns: u64,
}

/// What a thread waits for, or whose wait it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveFact {
    /// It asks for a lock.
    Asks {
        /// The lock.
        lock: u64,
        /// How long it waits, or [`NO_LIMIT_NS`].
        limit_ns: u64,
    },
    /// It waits for the other threads at a barrier, which so many use.
    Leaves {
        /// The barrier.
        barrier: u64,
        /// How many arrive.
        count: u32,
    },
    /// It waits for the end of another thread.
    Joins {
        /// The other thread.
        child: u16,
        /// How long it waits, or [`NO_LIMIT_NS`].
        limit_ns: u64,
    },
    /// It waits for the condition or semaphore of its last event.
    Waits {
        /// How long it waits, or [`NO_LIMIT_NS`].
        limit_ns: u64,
    },
    /// It ends the wait of another thread for a condition or semaphore.
    Ends {
        /// The other thread.
        thread: u16,
    },
    /// It no longer waits for a condition or semaphore: its time is up, or something else came.
    GivesUp,
    /// It waits for something else, or lets time pass.
    Pauses {
        /// How long, or [`NO_LIMIT_NS`].
        limit_ns: u64,
    },
    /// It lets another thread go on that pauses.
    Resumes {
        /// The other thread.
        thread: u16,
    },
}

/// What happened between two references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveMark {
    /// An event, as a trace has it.
    Event(Event),
    /// What a thread waits for, or whose wait it ends.
    Fact(u16, LiveFact),
}

/// What a program did in a few turns.
#[derive(Clone, Debug, Default)]
pub struct LiveBatch {
    /// References, without events: their threads, kinds, sizes, addresses and flags, and gaps
    /// where instructions are counted.
    pub rows: Batch,
    /// What happened between them, each with the row before which it was.
    pub marks: Vec<(u32, LiveMark)>,
    /// Threads that go on for reasons that are none of the simulation's, such as a signal.
    pub released: Vec<u16>,
    /// Whether the program has ended: nothing more will come.
    pub over: bool,
}

impl LiveBatch {
    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.marks.clear();
        self.released.clear();
        self.over = false;
    }
}

/// A program that runs piece by piece, as it is told to.
pub trait LiveProgram {
    /// Why it cannot go on.
    type Error;

    /// Lets threads run, one after the other; `done` is what they did. Without turns it is only
    /// seen what happened meanwhile; with `patience`, for which something is waited.
    ///
    /// # Errors
    /// When the program cannot be run.
    fn run(
        &mut self,
        turns: &[LiveTurn],
        patience: bool,
        done: &mut LiveBatch,
    ) -> Result<(), Self::Error>;
}
