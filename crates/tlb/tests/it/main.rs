//! Integration tests of the TLB designs.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod designs;
mod misses;
