//! A reference to one block.

use homenode_base::Flags;

/// A reference to one block: one that straddles blocks is several of these.
#[derive(Clone, Copy, Debug)]
pub struct BlockAccess<W> {
    /// The cache that it goes to.
    pub cache: usize,
    /// The number of the block: its address without the offset.
    pub block: u64,
    /// The words of the block that it touches.
    pub words: W,
    /// Whether it writes them.
    pub write: bool,
    /// Whether they are of a private area.
    pub private: bool,
    /// What the trace says of it.
    pub flags: Flags,
}

impl<W> BlockAccess<W> {
    /// Whether the kernel made it.
    #[inline]
    #[must_use]
    pub const fn is_kernel(&self) -> bool {
        self.flags.contains(Flags::KERNEL)
    }
}
