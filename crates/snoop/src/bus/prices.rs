//! Bus cycles of transactions.

use homenode_machine::{BusCycles, BusModel};

use crate::counts::Transactions;
use crate::setup::BusSetupError;

/// Bus cycles of the transactions of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TransactionTiming {
    /// Cycles for which the bus is held now.
    pub(super) hold: u64,
    /// Cycles until the request is complete; without meaning if memory answers later.
    pub(super) ready: u64,
    /// Cycles until memory requests the bus, and for which it then holds it; `None` if memory does
    /// not answer later.
    pub(super) answer: Option<(u64, u64)>,
}

/// Cycles of transactions on one bus at one block size.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransactionPrices {
    cycles: BusCycles,
    split: bool,
    request: u64,
    wait: u64,
}

impl TransactionPrices {
    pub(super) fn new(cycles: BusCycles, bus: &BusModel) -> Result<Self, BusSetupError> {
        let prices = Self {
            cycles,
            split: bus.split_transactions,
            request: bus.request_cycles,
            wait: bus.wait_cycles,
        };
        let memory = cycles.read_block_memory.min(cycles.read_invalidate_memory);
        let parts = bus.request_cycles.saturating_add(bus.wait_cycles);
        if prices.split && memory < parts {
            return Err(BusSetupError::Split { memory, parts });
        }
        Ok(prices)
    }

    /// The timing of these transactions: a fetch and its coherence transaction, then the write-back
    /// of the evicted block. If memory answers later, the write-back overlaps its access.
    pub(super) fn timing(&self, made: &Transactions) -> TransactionTiming {
        let all = made.cycles(&self.cycles);
        let written_back = made.update_block * self.cycles.update_block;
        if !self.split || made.read_block_memory + made.read_invalidate_memory == 0 {
            return TransactionTiming { hold: all, ready: all - written_back, answer: None };
        }
        let due = self.request + self.wait;
        let answer = Some((due, all - written_back - due));
        TransactionTiming { hold: self.request + written_back, ready: 0, answer }
    }
}
