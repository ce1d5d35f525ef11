//! Integration tests of the clock.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod fixed_latency;
mod forecast;
mod live_waits;
