//! Block geometry. A block is the coherence unit: a page or a cache line.

use std::fmt;

/// Size of a block in bytes: a power of two from 4 (one word) to 1 GiB.
///
/// ```
/// use homenode_base::BlockSize;
/// let b = BlockSize::new(64)?;
/// assert_eq!(b.words(), 16);
/// assert_eq!(b.block_of(0x1047), 0x41);
/// // An 8-byte reference at 0x103c straddles two blocks.
/// assert_eq!(b.blocks_touched(0x103c, 8), 0x40..=0x41);
/// # Ok::<(), homenode_base::BlockSizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockSize {
    shift: u32,
}

/// A block size that is not a power of two between 4 bytes and 1 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockSizeError {
    /// The rejected size, in bytes.
    pub size_bytes: u64,
}

impl fmt::Display for BlockSizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "block size {} is not a power of two between 4 and 1073741824 bytes",
            self.size_bytes
        )
    }
}

impl std::error::Error for BlockSizeError {}

impl BlockSize {
    /// Bytes in a word, the unit of blocks and references in the thesis.
    pub const WORD_BYTES: u64 = 4;

    /// A block of `size_bytes` bytes.
    ///
    /// # Errors
    /// When the size is not a power of two between 4 and 2^30.
    pub const fn new(size_bytes: u64) -> Result<Self, BlockSizeError> {
        if size_bytes.is_power_of_two() && size_bytes >= 4 && size_bytes <= 1 << 30 {
            Ok(Self { shift: size_bytes.trailing_zeros() })
        } else {
            Err(BlockSizeError { size_bytes })
        }
    }

    /// Bytes in the block.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        1 << self.shift
    }

    /// Four-byte words in the block.
    #[must_use]
    pub const fn words(self) -> u64 {
        self.bytes() / Self::WORD_BYTES
    }

    /// Number of the block that holds the byte at `addr`.
    #[must_use]
    pub const fn block_of(self, addr: u64) -> u64 {
        addr >> self.shift
    }

    /// Numbers of all blocks that `size` bytes from `addr` touch. A reference beyond the end of the
    /// address space is cut there.
    #[must_use]
    pub const fn blocks_touched(self, addr: u64, size: u8) -> std::ops::RangeInclusive<u64> {
        let last = addr.saturating_add((size as u64).saturating_sub(1));
        self.block_of(addr)..=self.block_of(last)
    }
}
