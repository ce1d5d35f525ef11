//! Prices in two components: overhead for each operation, and transfer for each byte.

use homenode_base::BlockSize;

use super::PricedMachine;
use crate::error::MachineError;

/// A price in its two parts, in millionths of a local reference.
///
/// Source: Bolosky equation 7.1, R = o + b s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PriceParts {
    /// o: latency, traps, decisions.
    pub overhead: u64,
    /// b s: the terms `block_bytes` and `block_words`.
    pub transfer: u64,
}

/// The prices of a machine at one block size, by component; `None` is infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown {
    /// r.
    pub remote_reference: Option<PriceParts>,
    /// R.
    pub remote_move: Option<PriceParts>,
    /// g.
    pub global_reference: Option<PriceParts>,
    /// G.
    pub global_move: Option<PriceParts>,
}

impl Breakdown {
    /// Steps in the price of a local reference.
    pub const SCALE: u64 = crate::decimal::ONE;
}

impl PricedMachine {
    /// The prices at a block size, by component. Prices given in place are all overhead.
    ///
    /// # Errors
    /// When a price cannot be kept exactly.
    pub fn breakdown(&self, block: BlockSize) -> Result<Breakdown, MachineError> {
        let mut parts = [None; 4];
        for (i, part) in parts.iter_mut().enumerate() {
            if let Some((all, transfer)) = self.price_and_transfer(i, block)? {
                *part = Some(PriceParts { overhead: all - transfer, transfer });
            }
        }
        let [remote_reference, remote_move, global_reference, global_move] = parts;
        Ok(Breakdown { remote_reference, remote_move, global_reference, global_move })
    }
}
