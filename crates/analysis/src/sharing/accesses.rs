//! Converts references to accesses to blocks.

use homenode_base::BlockSize;

/// Counts of references and of accesses to blocks of some sizes: a reference that straddles blocks
/// is one access to each.
#[derive(Clone, Debug, Default)]
pub struct BlockAccesses {
    /// References.
    pub references: u64,
    /// For each size: log2 of its bytes, and the blocks touched beyond the first of each reference.
    beyond: Vec<(u32, u64)>,
    /// The same for the smallest size.
    least: u32,
}

impl BlockAccesses {
    /// No references yet, at these sizes.
    #[must_use]
    pub fn new(sizes: &[BlockSize]) -> Self {
        let shifts = sizes.iter().map(|size| size.bytes().trailing_zeros());
        let beyond: Vec<(u32, u64)> = shifts.map(|shift| (shift, 0)).collect();
        let least = beyond.iter().map(|&(shift, _)| shift).min().unwrap_or(0);
        Self { references: 0, beyond, least }
    }

    #[inline]
    pub(super) fn add(&mut self, first: u64, last: u64) {
        self.references += 1;
        if (first ^ last) >> self.least != 0 {
            self.straddles(first, last);
        }
    }

    #[cold]
    fn straddles(&mut self, first: u64, last: u64) {
        for (shift, beyond) in &mut self.beyond {
            *beyond += (last >> *shift) - (first >> *shift);
        }
    }

    /// Accesses to blocks of the size with this index.
    ///
    /// # Panics
    /// When there is no such size.
    #[must_use]
    pub fn at(&self, size: usize) -> u64 {
        self.references + self.beyond[size].1
    }

    /// Adds the counts of other references at the same sizes.
    pub fn merge(&mut self, other: &Self) {
        self.references += other.references;
        for (sum, more) in self.beyond.iter_mut().zip(&other.beyond) {
            sum.1 += more.1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_one_access_to_every_block_that_it_touches() {
        let sizes = [64, 4, 4096].map(|bytes| BlockSize::new(bytes).unwrap());
        let mut accesses = BlockAccesses::new(&sizes);
        let references = [(0x1000, 4), (0x103c, 8), (0x1ffd, 64), (u64::MAX, 9)];
        for (addr, size) in references {
            accesses.add(addr, u64::saturating_add(addr, size - 1));
        }
        accesses.merge(&accesses.clone());
        assert_eq!(accesses.references, 8);
        for (index, size) in sizes.iter().enumerate() {
            let some = |&(addr, bytes): &(u64, u64)| {
                size.blocks_touched(addr, u8::try_from(bytes).unwrap()).count() as u64
            };
            assert_eq!(accesses.at(index), 2 * references.iter().map(some).sum::<u64>());
        }
    }
}
