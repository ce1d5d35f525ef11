//! Protocols, caches on a bus, and the bus with a clock.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod areas;
mod clocked;
mod counts;
mod kernel;
mod laws;
mod mutants;
mod oracle;
mod protocols;
mod scheduling;
mod timing;
mod walk;
