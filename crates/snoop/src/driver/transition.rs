//! What the table was asked and what it said, recorded for those who observe (`walk`).

use crate::vocabulary::{Action, ProcessorEvent};

/// One cell of the table, done.
#[derive(Clone, Debug)]
pub(crate) struct Transition {
    pub(crate) block: u64,
    pub(crate) state: u8,
    pub(crate) event: ProcessorEvent,
    pub(crate) condition: u8,
    pub(crate) action: Action<u8>,
    /// The first of the other caches with a copy: the owner, if there is one.
    pub(crate) supplier: Option<usize>,
    /// What the other copies did about it.
    pub(crate) responses: Vec<SnoopResponse>,
}

/// What a copy that saw a transaction did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SnoopResponse {
    pub(crate) holder: usize,
    pub(crate) state: u8,
    pub(crate) next: u8,
    /// Whether memory took the copy's data.
    pub(crate) memory: bool,
    /// Whether the copy took the written word.
    pub(crate) word: bool,
}
