//! Integration tests of symbols.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod programs;
mod replay;
mod separate;
mod support;
mod types;
mod units;
