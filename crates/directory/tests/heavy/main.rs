//! Explorations of three nodes, and of tables with every single change: minutes of processor time.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "../it/changes.rs"]
mod changes;
#[path = "../it/invariants.rs"]
mod explored;
mod invariants;
mod list_mutants;
mod page_mutants;
