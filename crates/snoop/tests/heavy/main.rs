//! The bus with a clock, compared with a slow simulator that checks every processor in every cycle.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod clock_oracle;
#[path = "../it/clocked/mod.rs"]
mod clocked;
#[path = "../it/oracle/mod.rs"]
mod oracle;
