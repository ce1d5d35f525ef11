//! The state of a frame in the classification of misses.

use bytemuck::Zeroable;

/// How a frame lost its copy, or whether the miss that fetched its copy has no class yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum MissStatus {
    /// Neither: the class of the miss is known, or the frame was never used.
    #[default]
    Settled = 0,
    /// The copy was fetched by an invalidation miss that is not yet known to be true sharing.
    Undecided,
    /// The same for a miss of the kernel's.
    UndecidedKernel,
    /// Another processor's transaction invalidated the copy.
    Invalidated,
    /// The copy moved to another processor with its process.
    Removed,
}

impl MissStatus {
    /// Whether the miss has no class yet.
    #[inline]
    #[must_use]
    pub fn is_undecided(self) -> bool {
        matches!(self, Self::Undecided | Self::UndecidedKernel)
    }

    /// If the miss has no class yet, whether it is the kernel's.
    #[inline]
    #[must_use]
    pub fn undecided(self) -> Option<bool> {
        self.is_undecided().then_some(self == Self::UndecidedKernel)
    }
}
