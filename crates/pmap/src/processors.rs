//! Sets of processors.

use homenode_base::ProcId;

/// A set of up to 1024 processors, the most the engines allow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Processors([u64; 16]);

impl Processors {
    /// The set of one processor.
    pub(crate) fn single(p: ProcId) -> Self {
        let mut set = Self::default();
        set.insert(p);
        set
    }

    pub(crate) fn insert(&mut self, p: ProcId) {
        self.0[usize::from(p / 64)] |= 1 << (p % 64);
    }

    pub(crate) fn remove(&mut self, p: ProcId) {
        self.0[usize::from(p / 64)] &= !(1 << (p % 64));
    }

    /// Whether the processor is in the set.
    #[must_use]
    pub fn contains(&self, p: ProcId) -> bool {
        self.0[usize::from(p / 64)] >> (p % 64) & 1 != 0
    }

    /// Number of processors in the set.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether every processor of this set is in the other.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }

    /// The set without one processor.
    pub(crate) fn without(mut self, p: ProcId) -> Self {
        self.remove(p);
        self
    }

    /// Takes the members of `gone` out; returns how many there were.
    pub(crate) fn take_out(&mut self, gone: &Self) -> u64 {
        let mut count = 0;
        for (own, gone) in self.0.iter_mut().zip(&gone.0) {
            count += u64::from((*own & gone).count_ones());
            *own &= !gone;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_count_and_compare() {
        let mut set = Processors::single(3);
        set.insert(1023);
        assert_eq!((set.len(), set.contains(1023), set.contains(64)), (2, true, false));
        assert!(Processors::single(3).is_within(&set) && !set.is_within(&Processors::single(3)));
        assert_eq!(set.without(3), Processors::single(1023));
        assert_eq!(set.take_out(&Processors::single(3)), 1);
        assert_eq!(set.take_out(&Processors::single(3)), 0);
        assert!(!set.is_empty() && Processors::default().is_empty());
    }
}
