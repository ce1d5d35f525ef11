//! Cells of the table that were used, recorded for `walk`.

use crate::vocabulary::{Action, ProcessorEvent};

/// One cell of the table that was used.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) block: u64,
    pub(crate) state: u8,
    pub(crate) event: ProcessorEvent,
    pub(crate) condition: u8,
    pub(crate) action: Action<u8>,
    /// The first of the other caches with a copy: the owner, if there is one.
    pub(crate) supplier: Option<usize>,
    /// The responses of the other copies.
    pub(crate) responses: Vec<SnoopResponse>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SnoopResponse {
    pub(crate) holder: usize,
    pub(crate) state: u8,
    pub(crate) next: u8,
    pub(crate) memory: bool,
    pub(crate) word: bool,
}
