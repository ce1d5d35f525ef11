//! References that callers filter or re-align before histories are built.

use homenode_base::{BlockSize, ProcId, Time};

use crate::tally::Tally;

/// References that all become part of histories, as columns, in Time order.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceColumns<'a> {
    /// Time of each.
    pub time: &'a [Time],
    /// Processor that makes it.
    pub processor: &'a [ProcId],
    /// Whether it writes.
    pub write: &'a [bool],
    /// Bytes touched.
    pub size: &'a [u8],
    /// First byte touched.
    pub addr: &'a [u64],
}

/// Shift of the largest block.
const SHIFT_MAX: usize = 30;

/// References outside of histories, counted as local, for any block size.
#[derive(Clone, Copy, Debug, Default)]
pub struct OutsideReferences {
    references: [u64; 2],
    /// Blocks they touch beyond the first, by shift of the block size; reads and writes.
    beyond: [[u64; SHIFT_MAX + 1]; 2],
}

impl OutsideReferences {
    /// Adds a reference.
    pub fn add(&mut self, addr: u64, size: u8, write: bool) {
        let last = addr.saturating_add(u64::from(size).saturating_sub(1));
        self.references[usize::from(write)] += 1;
        for (shift, beyond) in self.beyond[usize::from(write)].iter_mut().enumerate().skip(2) {
            let more = (last >> shift) - (addr >> shift);
            // A reference that stays within these blocks stays within larger ones, too.
            if more == 0 {
                break;
            }
            *beyond += more;
        }
    }

    /// References.
    #[must_use]
    pub const fn references(&self) -> u64 {
        self.references[0] + self.references[1]
    }

    /// The counts at a block size: a local reference to each block touched.
    #[must_use]
    pub fn tally(&self, block: BlockSize) -> Tally {
        let shift = usize::try_from(block.bytes().trailing_zeros()).unwrap_or(SHIFT_MAX);
        let touched = |write: usize| self.references[write] + self.beyond[write][shift];
        Tally { local_reads: touched(0), local_writes: touched(1), ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_counts_once_in_every_block_it_touches() {
        let mut outside = OutsideReferences::default();
        let accesses =
            [(0x1000, 4, false), (0x103c, 8, true), (0x1ffd, 64, true), (u64::MAX, 9, false)];
        accesses.iter().for_each(|&(addr, size, write)| outside.add(addr, size, write));
        assert_eq!(outside.references(), 4);
        for shift in 2..=30 {
            let block = BlockSize::new(1 << shift).unwrap();
            let expected = |wanted| -> u64 {
                let some = accesses.iter().filter(|access| access.2 == wanted);
                some.map(|&(addr, size, _)| block.blocks_touched(addr, size).count() as u64).sum()
            };
            let tally = outside.tally(block);
            assert_eq!((tally.local_reads, tally.local_writes), (expected(false), expected(true)));
        }
    }
}
