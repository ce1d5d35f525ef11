//! Frames of caches.

use bytemuck::Zeroable;

use crate::holders::NO_BLOCK;
use crate::words::WordMask;

use super::MissStatus;

/// In a label: the processor may read the copy without a transaction.
pub const MAY_READ: u64 = 1;
/// In a label: the processor may write the copy without a transaction.
pub const MAY_WRITE: u64 = 2;
pub(crate) const PERMISSIONS: u64 = 3;

/// The permission that a reference needs.
#[inline(always)]
#[must_use]
pub const fn permission(writes: bool) -> u64 {
    if writes { MAY_WRITE } else { MAY_READ }
}

/// The label of a block without permissions; 0 is that of a frame that was never used.
#[inline]
pub(crate) fn label_of(block: u64) -> u64 {
    (block << 2) + PERMISSIONS + 1
}

// A frame that was never used has the number of no block.
const _: () = assert!(NO_BLOCK == 0);

/// A frame: the block it has, and all that a reference needs to know about its copy, side by side.
///
/// A frame that was never used is all zeros. Machines of a thousand nodes have some ten million
/// frames: those never used take neither memory nor time.
#[derive(Clone, Copy, Debug, Zeroable)]
pub struct CacheFrame<W> {
    pub(super) label: u64,
    /// The words that its processor has read, and those that it has written since they were last
    /// added to the frames that lost the block ([`Self::take_written`]).
    pub touched: [W; 2],
    /// The words that others wrote since the copy was lost, or before an undecided miss.
    pub remote_written: W,
    /// Number of the block in the table of holders.
    pub number: u32,
    /// The protocol's state of the copy; 0 without one.
    pub state: u8,
    /// The state of the classification: of the miss that fetched the copy, or of its loss.
    pub status: MissStatus,
}

/// Positions in [`CacheFrame::touched`].
pub const READ: usize = 0;
/// See [`READ`].
pub const WRITTEN: usize = 1;

/// The position in [`CacheFrame::touched`] of the words of a reference that needs this permission.
#[inline(always)]
pub(crate) fn touched_by(need: u64) -> usize {
    if need & MAY_WRITE == 0 { READ } else { WRITTEN }
}

impl<W: WordMask> CacheFrame<W> {
    /// This number of frames that were never used.
    pub(super) fn unused(frames: usize) -> Vec<Self> {
        bytemuck::zeroed_vec(frames)
    }

    /// A frame for a block whose copy has no state yet.
    #[inline]
    pub fn of(block: u64, number: u32) -> Self {
        let none = W::default();
        let (touched, status) = ([none; 2], MissStatus::Settled);
        Self { label: label_of(block), touched, remote_written: none, number, state: 0, status }
    }

    /// Whether it ever had a block.
    #[inline]
    pub fn is_used(&self) -> bool {
        self.label != 0
    }

    /// The block that it has or had, if it was ever used.
    #[inline]
    pub fn block(&self) -> u64 {
        (self.label >> 2) - 1
    }

    #[inline]
    pub(super) fn is_of(&self, block: u64) -> bool {
        self.label ^ label_of(block) <= PERMISSIONS
    }

    /// Whether it has a copy of the block that permits `need` ([`MAY_READ`] or [`MAY_WRITE`])
    /// without a transaction.
    #[inline]
    pub fn permits(&self, block: u64, need: u64) -> bool {
        // All but the bit that is not needed.
        let relevant = !PERMISSIONS | need;
        (self.label ^ (label_of(block) | need)) & relevant == 0
    }

    /// The block, shifted left by two, and the permissions of the copy.
    #[inline]
    pub(crate) fn label(&self) -> u64 {
        self.label
    }

    /// Records the words of a permitted read or write.
    #[inline]
    pub(crate) fn add_words(&mut self, words: W, need: u64) {
        self.touched[touched_by(need)].add(words);
    }

    /// Sets the permissions of the copy.
    #[inline]
    pub fn permit(&mut self, permissions: u64) {
        self.label = self.label & !PERMISSIONS | permissions;
    }

    /// The words that its processor read or wrote during the lifetime of the copy.
    pub fn all_touched(&self) -> W {
        let [mut touched, written] = self.touched;
        touched.add(written);
        touched
    }

    /// The words written since the last call. They count as read from then on.
    pub fn take_written(&mut self) -> W {
        let written = std::mem::take(&mut self.touched[WRITTEN]);
        self.touched[READ].add(written);
        written
    }
}
