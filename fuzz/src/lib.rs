//! Fuzz functions: they take arbitrary bytes and must return without a panic, a hang or a large
//! allocation. The fuzz targets call them, and `cargo test` (`tests/it/replay.rs` of `crates/trace`
//! and `crates/interchange`) calls them with every input that made one of them fail.

pub mod import;
pub mod trace;
