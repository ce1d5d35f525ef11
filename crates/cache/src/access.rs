//! A reference to one block.

use homenode_base::Flags;

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
    /// Whether it is a reference by the kernel.
    #[inline]
    #[must_use]
    pub const fn is_kernel(&self) -> bool {
        self.flags.contains(Flags::KERNEL)
    }
}
