//! Integration tests of machines with a directory.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod changes;
mod checked_reads;
mod clock_oracle;
mod controllers;
mod counts;
mod homes;
mod invariants;
mod latency;
mod laws;
mod list_allocation;
mod list_checked;
mod list_latency;
mod list_oracle;
mod list_walk;
mod mutants;
mod oracle;
mod page_classes;
mod page_walk;
mod programs;
mod release_latency;
mod rows;
mod slow_clock;
mod slow_lists;
mod support;
mod timed;
mod today;
mod walk;
mod walked;
