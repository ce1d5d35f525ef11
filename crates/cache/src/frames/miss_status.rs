//! What a frame keeps for the classification of misses.

use bytemuck::Zeroable;

/// What the classification of misses has to know of a frame: how it lost its copy, or that the miss
/// which fetched its copy has no class yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum MissStatus {
    /// Nothing.
    #[default]
    Settled = 0,
    /// The copy was fetched by an invalidation miss that is not yet known to be true sharing.
    Undecided,
    /// The same, and it was the kernel's reference that missed.
    UndecidedKernel,
    /// Another processor's transaction invalidated the copy.
    Invalidated,
    /// The copy went with its process.
    Removed,
}

impl MissStatus {
    /// Whether the miss has no class yet.
    #[inline]
    #[must_use]
    pub fn is_undecided(self) -> bool {
        matches!(self, Self::Undecided | Self::UndecidedKernel)
    }

    /// Whether the miss has no class yet, and then whether it is the kernel's.
    #[inline]
    #[must_use]
    pub fn undecided(self) -> Option<bool> {
        self.is_undecided().then_some(self == Self::UndecidedKernel)
    }
}
