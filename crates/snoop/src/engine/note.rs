//! What the table was asked and what it said, noted for those who look on (`walk`).

use crate::vocabulary::{Action, Event};

/// One cell of the table, done.
#[derive(Clone, Debug)]
pub(crate) struct Deed {
    pub(crate) block: u64,
    pub(crate) state: u8,
    pub(crate) event: Event,
    pub(crate) condition: u8,
    pub(crate) action: Action<u8>,
    /// The first of the other caches with a copy: the owner, if there is one.
    pub(crate) supplier: Option<usize>,
    /// What the other copies did about it.
    pub(crate) echoes: Vec<Echo>,
}

/// A copy that saw a transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Echo {
    pub(crate) holder: usize,
    pub(crate) state: u8,
    pub(crate) next: u8,
    /// Whether memory took the copy's data.
    pub(crate) memory: bool,
    /// Whether the copy took the written word.
    pub(crate) word: bool,
}

impl Deed {
    pub(crate) fn new(
        block: u64,
        (state, event, condition): (u8, Event, u8),
        (action, supplier): (Action<u8>, Option<usize>),
    ) -> Self {
        let echoes = Vec::new();
        Self { block, state, event, condition, action, supplier, echoes }
    }
}
