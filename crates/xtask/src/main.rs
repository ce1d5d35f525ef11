//! Housekeeping commands for the repository: `cargo xtask <command>`.
fn main() {}
