//! Tests of importers and exporters.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../../../../fuzz/src/import.rs"]
mod fuzz;
#[path = "../../../trace/tests/it/support/mod.rs"]
mod support;
mod text;

mod import_tools;
mod interchange;
mod replay;
mod smoke;
