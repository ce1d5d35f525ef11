//! Sets of processors that hold a copy.

use homenode_base::ProcId;

/// A set of processors: a machine word where it suffices, more where it does not.
pub(crate) trait ProcessorSet: Copy {
    fn empty() -> Self;
    fn insert(&mut self, p: ProcId);
    fn contains(&self, p: ProcId) -> bool;
    /// Whether some processor other than `p` is in the set.
    fn holds_other_than(&self, p: ProcId) -> bool;

    fn single(p: ProcId) -> Self {
        let mut set = Self::empty();
        set.insert(p);
        set
    }
}

/// Up to 64 processors.
impl ProcessorSet for u64 {
    fn empty() -> Self {
        0
    }

    #[inline]
    fn insert(&mut self, p: ProcId) {
        *self |= 1 << p;
    }

    #[inline]
    fn contains(&self, p: ProcId) -> bool {
        *self >> p & 1 != 0
    }

    #[inline]
    fn holds_other_than(&self, p: ProcId) -> bool {
        *self & !(1 << p) != 0
    }
}

/// Up to 1024 processors, the most the model allows.
#[derive(Clone, Copy)]
pub(crate) struct Wide([u64; 16]);

impl ProcessorSet for Wide {
    fn empty() -> Self {
        Self([0; 16])
    }

    fn insert(&mut self, p: ProcId) {
        self.0[usize::from(p / 64)].insert(p % 64);
    }

    fn contains(&self, p: ProcId) -> bool {
        self.0[usize::from(p / 64)].contains(p % 64)
    }

    fn holds_other_than(&self, p: ProcId) -> bool {
        let own = usize::from(p / 64);
        self.0[own].holds_other_than(p % 64)
            || self.0.iter().enumerate().any(|(i, &word)| i != own && word != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behaves<S: ProcessorSet>(a: ProcId, b: ProcId) {
        let mut set = S::single(a);
        assert!(set.contains(a) && !set.contains(b));
        assert!(!set.holds_other_than(a) && set.holds_other_than(b));
        set.insert(b);
        assert!(set.contains(b) && set.holds_other_than(a) && set.holds_other_than(b));
        assert!(!S::empty().holds_other_than(a));
    }

    #[test]
    fn narrow_and_wide_sets_behave_alike() {
        behaves::<u64>(0, 63);
        behaves::<Wide>(0, 63);
        behaves::<Wide>(63, 64);
        behaves::<Wide>(1023, 5);
    }
}
