//! Tables with every single change, each explored: minutes of processor time.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "../it/changes.rs"]
mod changes;
mod list_mutants;
mod page_mutants;
