//! Blocks that a node has replaced, and with which its controller is not done.

use super::posted::ListPointer;

/// A block that is out of a node's cache: those behind its copy are not gone yet, or home has not
/// acknowledged its write-back.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeavingBlock {
    pub(super) block: u64,
    /// The protocol's state.
    pub(super) state: u8,
    /// The request that had brought the copy.
    pub(super) tag: u32,
    /// The copy behind it.
    pub(super) behind: Option<ListPointer>,
}
