//! Small sets of processors, by processor index: the processors of a region, numbered from 0.

pub(crate) const FEW: usize = 64;

/// Elements of bits for the most processors that the model allows.
pub(crate) const ELEMENTS_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RegionProcessors<const W: usize>([u64; W]);

impl<const W: usize> RegionProcessors<W> {
    pub(crate) const NONE: Self = Self([0; W]);
    pub(crate) const ALL: Self = Self([u64::MAX; W]);

    pub(crate) fn one(proc: u16) -> Self {
        let mut one = Self::NONE;
        one.insert(proc);
        one
    }

    pub(crate) fn insert(&mut self, proc: u16) {
        self.0[usize::from(proc / 64)] |= 1 << (proc % 64);
    }

    pub(crate) fn holds(&self, proc: u16) -> bool {
        self.0[usize::from(proc / 64)] >> (proc % 64) & 1 == 1
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|bits| u64::from(bits.count_ones())).sum()
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(crate) fn union(mut self, other: &Self) -> Self {
        for (bits, more) in self.0.iter_mut().zip(&other.0) {
            *bits |= more;
        }
        self
    }
}
