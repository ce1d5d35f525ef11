//! Blocks of which a node has no frame, and with which its controller is not done.

use super::posted::ListPointer;

/// A block that is out of a node's cache: those behind its copy are not gone yet, or home has not
/// acknowledged its write-back. Or one that the node is to hand on to clients, and not to keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeavingBlock {
    pub(super) block: u64,
    /// The protocol's state.
    pub(super) state: u8,
    /// The request that had brought the copy; 0 if there was none.
    pub(super) tag: u32,
    /// The copy behind it.
    pub(super) behind: Option<ListPointer>,
}
