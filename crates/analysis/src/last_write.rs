//! The last write to a word or block, as other processors see it.

use homenode_base::ProcId;

/// The last write, at position or visit `at`, counted from 1; 0 is never.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastWrite<T> {
    pub(crate) by: ProcId,
    pub(crate) at: T,
    /// The last write by another processor than `by`.
    by_another_at: T,
}

impl<T: Copy> LastWrite<T> {
    #[inline]
    pub(crate) fn write(&mut self, processor: ProcId, now: T) {
        if self.by != processor {
            (self.by, self.by_another_at) = (processor, self.at);
        }
        self.at = now;
    }

    /// The last write by any processor but this one.
    #[inline]
    pub(crate) fn by_others(self, processor: ProcId) -> T {
        if self.by == processor { self.by_another_at } else { self.at }
    }
}
