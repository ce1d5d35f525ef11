//! Processes and processors of the slow simulator: what each has before it and under way.

use std::collections::{BTreeSet, VecDeque};

use super::system::{Does, Op};

/// A process: what it has still to do, and whether it has fetched instructions.
pub(super) struct Process {
    pub(super) does: VecDeque<Does>,
    pub(super) fetches: bool,
    pub(super) ended: bool,
}

/// A reference to one block.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) op: Op,
    pub(super) block: u64,
    pub(super) words: BTreeSet<u64>,
    pub(super) first: bool,
    /// Whether it goes to the instruction cache, if there is one.
    pub(super) beside: bool,
}

impl Part {
    /// The block and which cache it is for.
    pub(super) fn place(&self) -> (u64, bool) {
        (self.block, self.beside)
    }
}

/// A load under way.
pub(super) struct Load {
    pub(super) id: u64,
    pub(super) part: Part,
    pub(super) instruction: u64,
    pub(super) happened: bool,
    pub(super) with_store: bool,
    pub(super) followers: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Load(u64),
    Store,
    Wait,
}

#[derive(Default)]
pub(super) struct Cpu {
    pub(super) process: Option<usize>,
    /// References left of the time slice.
    pub(super) left: u64,
    /// What is left of the reference that it makes.
    pub(super) parts: VecDeque<Part>,
    /// When it looks next; nothing without a process, the end of time until something is over.
    pub(super) looks_at: Option<u64>,
    /// Until when an operation lasts.
    pub(super) operates: u64,
    pub(super) instructions: u64,
    pub(super) loads: Vec<Load>,
    pub(super) stores: VecDeque<Part>,
    pub(super) store_asked: bool,
    pub(super) store_happened: bool,
    pub(super) waits: Option<Part>,
    pub(super) busy: u64,
    pub(super) delay: u64,
}

impl Cpu {
    pub(super) fn is_quiet(&self) -> bool {
        self.loads.is_empty() && self.stores.is_empty() && self.waits.is_none()
    }

    pub(super) fn own_fetch(&self, part: &Part) -> bool {
        self.loads.iter().any(|load| !load.with_store && load.part.place() == part.place())
    }
}
