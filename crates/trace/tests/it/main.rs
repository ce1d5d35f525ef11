//! Tests of the file format, reader, writer, repair and compaction.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../fuzz/src/trace.rs"]
mod fuzz;
mod support;

mod compact;
mod damage;
mod formats;
mod replay;
mod round_trip;
