//! What every timed machine shares, whatever connects its processors to memory.
//!
//! [`streams`] takes a trace apart into what each process does, in its own order; [`pages`] numbers
//! the pages they use. [`Clock`] simulates processors that run these processes over a
//! [`MemorySystem`]: who may go on ([`SyncObjects`]), who runs where ([`RunQueue`]), loads and
//! stores under way, and the time of each. A machine brings a memory system: its caches and what
//! keeps them coherent, its network, its prices.
#![forbid(unsafe_code)]

mod clock;
mod one_by_one;
pub mod pages;
mod processor;
mod queue;
mod run_queue;
pub mod streams;
mod sync;
mod time;
mod wakeup;

pub use clock::{Clock, ClockSetup, LiveClock};
pub use one_by_one::{OneByOne, ReferenceCourse};
pub use processor::{
    MemoryReference, MemorySystem, Port, ReferenceCounts, Requester, Requesters, SyncCourse,
    SyncRequest,
};
pub use queue::EventQueue;
pub use run_queue::RunQueue;
pub use sync::SyncObjects;
pub use time::{ClockTime, ProcessorTime, StallCause, StallTime, critical_point, ratio};
pub use wakeup::NEVER;
