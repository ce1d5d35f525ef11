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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Machine, PriceModel};

    fn breakdown(machine: &str, bytes: u64) -> Breakdown {
        PricedMachine::parse(machine).unwrap().breakdown(BlockSize::new(bytes).unwrap()).unwrap()
    }

    /// Section 7.1.6: b is 2 a word, and lambda, o_h and o_s are overhead.
    #[test]
    fn the_machines_of_chapter_6_have_two_units_a_word() {
        let cc = breakdown("cc", 64);
        assert_eq!(cc.remote_reference, None);
        let whole = |n: u64| n * Breakdown::SCALE;
        let parts = |o, t| Some(PriceParts { overhead: whole(o), transfer: whole(t) });
        assert_eq!(cc.remote_move, parts(152, 32));
        let numa = breakdown("numa", 4096);
        assert_eq!(numa.remote_move, parts(275, 2048));
        assert_eq!(numa.remote_reference, parts(102, 0));
        assert_eq!(breakdown("prices:r=15,R=59.5", 64).remote_reference, parts(15, 0));
        let ace = breakdown("ace", 4096);
        assert_eq!(ace.global_move, parts(200, 2048));
    }

    #[test]
    fn the_parts_add_up_to_the_prices() {
        for preset in crate::TABLE {
            let Machine::Priced(machine) = Machine::parse(preset.name).unwrap() else { continue };
            if machine.model() == PriceModel::PageCoherence {
                assert!(machine.breakdown(BlockSize::new(64).unwrap()).is_err());
                continue;
            }
            for shift in 2..=13 {
                let block = BlockSize::new(1 << shift).unwrap();
                let (prices, parts) = (machine.prices(block, true), machine.breakdown(block));
                let (prices, parts) = (prices.unwrap(), parts.unwrap());
                let whole = |p: Option<PriceParts>| p.map(|p| p.overhead + p.transfer);
                let scaled = |p: Option<u64>| p.map(|p| p * (Breakdown::SCALE / prices.scale));
                assert_eq!(whole(parts.remote_reference), scaled(prices.remote_reference));
                assert_eq!(whole(parts.remote_move), scaled(prices.remote_move));
                assert_eq!(whole(parts.global_reference), scaled(prices.global_reference));
                assert_eq!(whole(parts.global_move), scaled(prices.global_move));
            }
        }
    }
}
