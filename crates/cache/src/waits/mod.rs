//! Misses and waiting, by the word that was referenced.

mod collector;
mod elapsed;
mod log;
mod ports;
mod words;

use serde::Serialize;

pub use collector::{AwaitedTransaction, WaitCollector};
pub use ports::AwaitedPorts;
pub use words::WordWaits;

/// Causes of waiting for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitCause {
    /// The processor never had the block.
    Cold,
    /// The copy was replaced, or moved with its process.
    Replacement,
    /// Other processors share the word.
    TrueSharing,
    /// Other processors use only other words of the block.
    FalseSharing,
}

impl WaitCause {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Cold, Self::Replacement, Self::TrueSharing, Self::FalseSharing];
}

/// Transactions and the cycles that processors waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Misses, and invalidations or updates of others' copies.
    pub transactions: u64,
    /// Cycles for which processors waited for them.
    pub cycles: u64,
}

impl Waits {
    pub(crate) fn add(&mut self, other: Self) {
        self.transactions += other.transactions;
        self.cycles += other.cycles;
    }
}

/// [`Waits`] by cause, in the order of [`WaitCause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitsByCause([Waits; 4]);

impl WaitsByCause {
    /// Those of a cause.
    #[must_use]
    pub fn of(&self, cause: WaitCause) -> Waits {
        self.0[cause as usize]
    }

    /// Those of a cause, to be changed.
    pub fn of_mut(&mut self, cause: WaitCause) -> &mut Waits {
        &mut self.0[cause as usize]
    }

    /// Adds all of others.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            sum.add(more);
        }
    }

    /// Cycles for all causes.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.0.iter().map(|waits| waits.cycles).sum()
    }
}
