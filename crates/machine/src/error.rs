//! Errors in machine descriptions.

use std::path::PathBuf;

use crate::kind::MachineKind;
use crate::prices::Violation;

/// Why a text, a name or a file describes no machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// No such name in the table, and not a file or price list either.
    #[error(
        "unknown machine {name:?}: expected one of {known}, a TOML file (its path ends in \
             .toml), or prices such as prices:r=15,R=59"
    )]
    Unknown {
        /// The given text.
        name: String,
        /// The names in the table.
        known: String,
    },
    /// A `prices:` list that cannot be read.
    #[error(
        "machine {spec:?}: {problem}; write prices:r=15,R=59 or prices:r=15,R=59,g=4,G=40 \
             (each price a number or inf; r and R differ)"
    )]
    PriceList {
        /// The given text.
        spec: String,
        /// The problem.
        problem: String,
    },
    /// A file that cannot be opened or read.
    #[error("machine file {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not TOML, or not a machine.
    #[error("machine {origin}: {problem}")]
    File {
        /// The file, or the name in the table.
        origin: String,
        /// The problem, with its line.
        problem: String,
    },
    /// A price that cannot be computed.
    #[error("machine {machine}: price {price}: {problem}")]
    Price {
        /// The machine.
        machine: String,
        /// r, R, g, G, or the name of a latency, packet count or transaction.
        price: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A machine that prices page-coherence events where r, R, g and G are needed.
    #[error(
        "machine {machine} prices the events of page-coherence policies and has no r, R, g and G: \
             choose a --machine that has, such as numa, or prices in place (prices:r=15,R=59)"
    )]
    NoPrices {
        /// The machine.
        machine: String,
    },
    /// A machine of one kind where one of another kind is needed.
    #[error(
        "machine {machine} has {} and no {}: simulate it with {} (homenode simulate \
             --machine {machine} {}), or choose another machine, such as {}",
        kind.entry().has, wanted.entry().has, kind.entry().simulated_with,
        kind.entry().option, wanted.entry().example
    )]
    OtherKind {
        /// The machine.
        machine: String,
        /// What it is.
        kind: MachineKind,
        /// What is needed.
        wanted: MachineKind,
    },
    /// Prices that break a rule of the model.
    #[error(
        "machine {machine} at {block_size_bytes}-byte blocks: {violation}; see thesis section \
             4.1.1, correct the prices, or use --force to simulate it all the same"
    )]
    Invalid {
        /// The machine.
        machine: String,
        /// The block size.
        block_size_bytes: u64,
        /// The first broken rule.
        violation: Violation,
    },
}
