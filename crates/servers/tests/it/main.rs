//! Traces of servers have the statistics that were asked for.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod hostile;
mod measured;
mod small;
