//! What every timed machine shares, whatever connects its processors.
//!
//! [`streams`] takes a trace apart into what each process does, in its own order; [`sync`] says who
//! may go on; [`run_queue`] says who runs where; [`pages`] where memory is. A machine brings what
//! happens at a reference and what it costs.
#![forbid(unsafe_code)]

pub mod pages;
pub mod run_queue;
pub mod streams;
pub mod sync;
