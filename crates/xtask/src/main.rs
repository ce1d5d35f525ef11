//! Housekeeping commands for the repository: `cargo xtask <command>`.
//!
//! Logic that would otherwise be in a Makefile or shell scripts, in one language, with tests.

mod instructions;
mod rooms;
mod source;
mod tidy;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Housekeeping for the homenode repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check sizes, names, layering and words that mark unfinished work.
    Tidy,
    /// Draw which room uses which, into docs/rooms-*.svg.
    Rooms,
    /// Count instructions per reference with cachegrind against benches/instructions.toml.
    Instructions {
        /// Write the measured counts into the file instead of comparing.
        #[arg(long)]
        bless: bool,
    },
}

fn main() -> ExitCode {
    let root = repository_root();
    let result = match Arguments::parse().command {
        Command::Tidy => tidy::run(&root),
        Command::Rooms => rooms::run(&root),
        Command::Instructions { bless } => instructions::run(&root, bless),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo xtask: error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// The folder of the workspace, two levels above this crate's manifest.
fn repository_root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}
