//! The log of a walk, which every engine fills. The names of the fields are a public contract
//! (`docs/explain.md`).

use std::ops::Deref;

use homenode_base::Access;
use serde::{Serialize, Serializer};

use super::misses::WalkMiss;
use super::pieces::{WalkBlock, kind_name, touched_words};

/// A walk through references to a few blocks under one protocol.
///
/// `A` is an act, `S` a snapshot of all blocks, `C` the counts of messages and `T` the totals. A
/// field that only some engines have is `None` under the others, and left out of the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(bound(serialize = "A: Serialize, S: ShownScene, C: Serialize, T: Serialize"))]
pub struct Walk<A, S, C, T> {
    /// The caches on a bus: `P0` and so on, or where they are split `P0 data` and so on, then
    /// `P0 instructions` and so on. Other fields refer to a cache by its position here; where
    /// there is no such list, to a node by its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caches: Option<Vec<String>>,
    /// The referenced pages, if pages are kept coherent, in the order of their first reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Vec<WalkPage>>,
    /// The referenced blocks, likewise.
    pub blocks: Vec<WalkBlock>,
    /// All blocks before the first step.
    pub start: S,
    /// One step for each reference to one block, and for each acquire and release.
    pub steps: Vec<WalkStep<A, S, C>>,
    /// The engine's counts, which the steps add up to.
    pub totals: T,
    /// Cycles that all transactions take on the bus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bus_cycles: Option<u64>,
}

/// A page of a walk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkPage {
    /// Its first byte.
    pub address: u64,
    /// Positions of its lines in [`Walk::blocks`].
    pub blocks: Vec<usize>,
}

/// A reference to one block, an acquire or a release, with all its effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(bound(serialize = "A: Serialize, S: ShownScene, C: Serialize"))]
pub struct WalkStep<A, S, C> {
    /// Number among the steps given, from 0; a reference that straddles blocks has several steps.
    pub reference: usize,
    /// The thread.
    pub thread: u16,
    /// Its processor, which is that of the node with this number.
    pub processor: u16,
    /// The cache on a bus that the reference goes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<usize>,
    /// `read`, `write`, `atomic` (a write to the caches), `fetch` (a read), `acquire` or `release`.
    pub kind: &'static str,
    /// First byte, within the block; `None` for an acquire or a release.
    pub address: Option<u64>,
    /// Bytes, likewise.
    pub size: Option<u8>,
    /// The page, if pages are kept coherent.
    #[serde(flatten)]
    pub page: Option<StepPage>,
    /// Position of the block in [`Walk::blocks`]; `None` for an acquire or a release.
    pub block: Option<usize>,
    /// The touched words, by their position in the block.
    pub words: Vec<u32>,
    /// Whether the area is private.
    pub private: bool,
    /// Whether the kernel makes the reference.
    pub kernel: bool,
    /// Whether the page was not mapped with the permission that the access needs, if pages are kept
    /// coherent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<bool>,
    /// Whether the lookaside buffer lacked the page, although it was mapped, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tlb_miss: Option<bool>,
    /// Why there was no copy; `None` if there was one.
    pub miss: Option<WalkMiss>,
    /// Cycles for which the processor waited; `None` if references take no time, or if this one is
    /// in flight when the next one begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// The cells of the tables that were used, in order: first those of the replacement of another
    /// block, if there was one.
    pub acts: Vec<A>,
    /// Cycles on the bus of all acts.
    #[serde(rename = "cycles", skip_serializing_if = "Option::is_none")]
    pub bus_cycles: Option<u64>,
    /// Messages between different nodes so far, this step's included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<C>,
    /// Bytes in them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_bytes: Option<u64>,
    /// Each cache's state of the block before the step, or each node's mapping of the page.
    pub before: Vec<&'static str>,
    /// The same after it.
    pub after: Vec<&'static str>,
    /// All blocks after the step.
    #[serde(flatten)]
    pub scenes: Shown<S>,
}

/// The page of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StepPage {
    /// Its position in [`Walk::pages`]; `None` for an acquire or a release.
    pub page: Option<usize>,
}

/// A snapshot of all blocks.
pub trait ShownScene: Serialize {
    /// The name of its field in a step.
    const FIELD: &'static str;
}

impl<T: Serialize> ShownScene for Vec<T> {
    const FIELD: &'static str = "scenes";
}

/// A scene under the name of its field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown<S>(pub S);

impl<S> Deref for Shown<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: ShownScene> Serialize for Shown<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_map([(S::FIELD, &self.0)])
    }
}

impl<A, S: Default, C> WalkStep<A, S, C> {
    /// A step of a processor that has not been performed.
    pub(super) fn new(reference: usize, thread: u16, processor: u16) -> Self {
        Self {
            reference,
            thread,
            processor,
            cache: None,
            kind: "",
            address: None,
            size: None,
            page: None,
            block: None,
            words: Vec::new(),
            private: false,
            kernel: false,
            fault: None,
            tlb_miss: None,
            miss: None,
            cycles: None,
            acts: Vec::new(),
            bus_cycles: None,
            messages: None,
            message_bytes: None,
            before: Vec::new(),
            after: Vec::new(),
            scenes: Shown::default(),
        }
    }

    /// Sets the reference: to a block of `1 << shift` bytes or a part of it.
    pub(super) fn set_access(&mut self, access: &Access, shift: u32, blocks: &[WalkBlock]) {
        self.kind = kind_name(access.kind);
        self.address = Some(access.addr);
        self.size = Some(access.size);
        self.block = WalkBlock::position(blocks, access.addr >> shift, shift);
        self.words = touched_words(access, shift).collect();
        self.kernel = access.flags.by_kernel();
    }
}
