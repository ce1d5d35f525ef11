//! Tests of the transforms.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod oracle {
    pub mod filter;
    pub mod merge;
}
#[path = "../../../trace/tests/it/support/mod.rs"]
mod support;

mod common_areas;
mod filter;
mod made;
mod merge;
mod own_frames;
mod processes;
mod realign;
mod reinterleave;
mod rotate;
mod select;
mod transform;
mod words;
