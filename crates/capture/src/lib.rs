//! The recorder: runs a program built with `homenode cc`, receives its references through shared
//! memory and writes the trace.
//!
//! The other half is in C, in `python/homenode/runtime`, and is linked into the program; `wire.h`
//! there and [`wire`] here are the contract. `docs/capture.md` tells the whole story.
//!
//! Invariant: whatever the traced process does, and however it ends, every record it completed
//! is in the trace, and the program itself never waits for a recorder that is gone.

mod area;
mod child;
mod decode;
mod emulator;
mod error;
mod family;
mod guest;
mod heap;
mod objects;
mod options;
mod private;
mod record;
mod report;
mod ring;
mod sink;
pub mod wire;

pub use error::CaptureError;
pub use options::{Order, RecordOptions, RecordSummary, SystemOptions};
pub use record::record;
