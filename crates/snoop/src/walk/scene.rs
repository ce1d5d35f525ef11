//! The output of a walk. The names of the fields are a public contract (`docs/explain.md`).

use homenode_cache::SharingClass;
use homenode_cache::walk::{BlockSnapshot, WalkBlock, WalkMiss};
use serde::Serialize;

use crate::counts::BusCounts;

/// A walk through references to a few blocks under one protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtocolWalk {
    /// The caches: `P0` and so on, or where they are split `P0 data` and so on, then
    /// `P0 instructions` and so on. Others mean them by their position here.
    pub caches: Vec<String>,
    /// The blocks that are referenced, in the order of their first reference.
    pub blocks: Vec<WalkBlock>,
    /// The blocks before the first step.
    pub start: Vec<BlockSnapshot>,
    /// One step for each reference to one block.
    pub steps: Vec<WalkStep>,
    /// The engine's counts, which the steps add up to.
    pub totals: BusCounts,
    /// Cycles that all transactions take on the bus.
    pub bus_cycles: u64,
}

/// One reference to one block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkStep {
    /// Number of the reference among those given, from 0; one that straddles blocks has several
    /// steps.
    pub reference: usize,
    /// The thread.
    pub thread: u16,
    /// Its processor.
    pub processor: usize,
    /// The cache it goes to.
    pub cache: usize,
    /// `read`, `write`, `atomic` (a write to the caches) or `fetch` (a read).
    pub kind: &'static str,
    /// First byte, within the block.
    pub address: u64,
    /// Bytes.
    pub size: u8,
    /// Position of the block in [`ProtocolWalk::blocks`].
    pub block: usize,
    /// The words that are touched, by their position in the block.
    pub words: Vec<u32>,
    /// Whether the area is private.
    pub private: bool,
    /// Whether the kernel referenced it.
    pub kernel: bool,
    /// The miss; `None` if there was a copy.
    pub miss: Option<WalkMiss>,
    /// The cells of the table that were used, in order: first the replacement of another block, if
    /// there was one.
    pub acts: Vec<CellUse>,
    /// Cycles on the bus of all of them.
    pub cycles: u64,
    /// Each cache's state of the block before the step.
    pub before: Vec<&'static str>,
    /// The same after it.
    pub after: Vec<&'static str>,
    /// All blocks after the step.
    pub scenes: Vec<BlockSnapshot>,
}

/// A use of a cell of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellUse {
    /// The block it is about.
    pub block: usize,
    /// What happens.
    pub event: &'static str,
    /// The state of the copy.
    pub state: &'static str,
    /// What the others have.
    pub condition: &'static str,
    /// Transaction on the bus, if any.
    pub transaction: Option<&'static str>,
    /// Where the data come from.
    pub source: &'static str,
    /// The cache that supplies them, if one does.
    pub supplier: Option<usize>,
    /// The next state.
    pub next: &'static str,
    /// Whether the event happens again in the next state.
    pub again: bool,
    /// Cycles on the bus at the machine's prices.
    pub cycles: u64,
    /// The kind of sharing, if it is a coherence transaction.
    pub sharing: Option<SharingClass>,
    /// The signal that other caches see, if any.
    pub signal: Option<&'static str>,
    /// The answers of copies in other caches.
    pub answers: Vec<SnoopAnswer>,
}

/// The answer of a copy in another cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SnoopAnswer {
    /// The cache, by its position among all.
    pub processor: usize,
    /// Its state.
    pub state: &'static str,
    /// Its next state.
    pub next: &'static str,
    /// Whether memory takes its data.
    pub memory: bool,
    /// Whether it takes the written word.
    pub word: bool,
}
