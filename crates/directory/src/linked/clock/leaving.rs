//! Blocks without a frame that a node's controller still handles.

use super::posted::ListPointer;

/// A block replaced in a node's cache while copies behind it are still being invalidated, or its
/// write-back is not acknowledged; or a block that the node relays to clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeavingBlock {
    pub(super) block: u64,
    pub(super) state: u8,
    /// The request that fetched the copy; 0 if there was none.
    pub(super) tag: u32,
    /// The copy behind it.
    pub(super) behind: Option<ListPointer>,
}
