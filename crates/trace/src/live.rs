//! A running program as a source of references and of waits.
//!
//! A trace records the past. A program driven by a simulation also reports what it waits for,
//! before it continues ([`LiveFact`]). Only the simulation uses these facts; they are not part of a
//! trace.

use crate::model::{Batch, Event};

/// No time-out.
pub const NO_LIMIT_NS: u64 = (1 << 48) - 1;

/// Permission for a thread to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveTurn {
    /// The thread.
    pub thread: u16,
    /// Most references of the turn. The thread stops earlier where it needs an answer of the
    /// simulation.
    pub references: u32,
    /// Whether no other thread has less simulated time: only then may it synchronise.
    pub exact: bool,
    /// Whether its wait timed out.
    pub timed_out: bool,
    /// Simulated time of the thread, in nanoseconds.
    pub now_ns: u64,
}

/// What a thread waits for, or whose wait it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveFact {
    /// It requests a lock.
    Asks {
        /// The lock.
        lock: u64,
        /// How long it waits, or [`NO_LIMIT_NS`].
        limit_ns: u64,
    },
    /// It waits for the other threads at a barrier.
    Leaves {
        /// The barrier.
        barrier: u64,
        /// Threads that use the barrier.
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
    /// It no longer waits for a condition or semaphore: the wait timed out or was interrupted.
    GivesUp,
    /// It waits for something else, or for time to pass.
    Pauses {
        /// How long, or [`NO_LIMIT_NS`].
        limit_ns: u64,
    },
    /// It wakes another thread that pauses.
    Resumes {
        /// The other thread.
        thread: u16,
    },
}

/// An event or fact between two references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiveMark {
    /// An event, as in a trace.
    Event(Event),
    /// What a thread waits for, or whose wait it ends.
    Fact(u16, LiveFact),
}

/// The activity of a program during some turns.
#[derive(Clone, Debug, Default)]
pub struct LiveBatch {
    /// References without events: threads, kinds, sizes, addresses and flags, and gaps if
    /// instructions are counted.
    pub rows: Batch,
    /// Events and facts, each with the row before which it happened.
    pub marks: Vec<(u32, LiveMark)>,
    /// Threads that continue for reasons outside the simulation, such as a signal.
    pub released: Vec<u16>,
    /// Whether the program has ended.
    pub over: bool,
}

impl LiveBatch {
    /// Empties it and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.marks.clear();
        self.released.clear();
        self.over = false;
    }
}

/// A program whose threads run in turns given by a simulation.
pub trait LiveProgram {
    /// Why the program cannot continue.
    type Error;

    /// Runs turns one after the other and fills `done` with their activity. Without turns, it only
    /// collects what happened meanwhile; with `patience`, it waits until something happens.
    ///
    /// # Errors
    /// When the program cannot run.
    fn run(
        &mut self,
        turns: &[LiveTurn],
        patience: bool,
        done: &mut LiveBatch,
    ) -> Result<(), Self::Error>;
}
