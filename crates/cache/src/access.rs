//! A reference to one block.

use homenode_base::Flags;

use crate::frames::permission;

/// A reference to one block. A reference that straddles blocks is split into several of these.
#[derive(Clone, Copy, Debug)]
pub struct BlockAccess<W> {
    /// The number of the cache.
    pub cache: usize,
    /// The address of the block, divided by its size.
    pub block: u64,
    /// The words of the block that it touches.
    pub words: W,
    /// Whether it writes them.
    pub write: bool,
    /// Whether they belong to a private area.
    pub private: bool,
    /// Its flags in the trace.
    pub flags: Flags,
}

impl<W> BlockAccess<W> {
    /// Whether both are to the same block in the same cache.
    #[inline(always)]
    #[must_use]
    pub const fn same_block(&self, other: &Self) -> bool {
        self.block == other.block && self.cache == other.cache
    }

    /// The permission that a copy needs for it.
    #[inline(always)]
    #[must_use]
    pub const fn need(&self) -> u64 {
        permission(self.write)
    }

    /// Whether it is a reference by the kernel.
    #[inline]
    #[must_use]
    pub const fn is_kernel(&self) -> bool {
        self.flags.contains(Flags::KERNEL)
    }
}
