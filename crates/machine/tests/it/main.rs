//! Integration tests of machine files.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod bus;
mod kinds;
mod machines;
mod prices;
