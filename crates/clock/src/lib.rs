//! The parts that all timed machines share, independent of caches and interconnect.
//!
//! [`streams`] splits a trace into the operations of each process, in program order; [`pages`]
//! numbers the pages that they use. [`Clock`] simulates processors that run these processes over a
//! [`MemorySystem`]: synchronisation ([`SyncObjects`]), dispatch ([`RunQueue`]), loads and stores
//! in flight, and their timing. A machine supplies the memory system: caches, coherence protocol,
//! network and latencies. [`TimedSimulation`] is the clock of any machine with the same result.
#![forbid(unsafe_code)]

mod clock;
pub mod pages;
mod processor;
mod queue;
mod run_queue;
mod simulation;
mod step_driver;
pub mod streams;
mod sync;
mod time;
mod wakeup;

pub use clock::{Clock, ClockSetup, LiveClock};
pub use processor::{
    MemoryReference, MemorySystem, Port, ReferenceCounts, Requester, Requesters, SyncCourse,
    SyncRequest,
};
pub use queue::EventQueue;
pub use run_queue::{DispatchProgress, RunQueue};
pub use simulation::{TimedMemory, TimedSimulation};
pub use step_driver::{StepDriver, StepOutcome};
pub use sync::SyncObjects;
pub use time::{
    ClockTime, ProcessShare, ProcessorTime, StallCause, StallTime, critical_point, ratio,
};
pub use wakeup::NEVER;
