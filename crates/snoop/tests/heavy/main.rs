//! The bus with a clock beside a slow simulator that looks at every processor in every cycle.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod clock_oracle;
#[path = "../it/clocked/mod.rs"]
mod clocked;
#[path = "../it/oracle/mod.rs"]
mod oracle;
