//! What a walk through accesses to pages shows. The names of the fields are a public contract
//! (`docs/explain.md`).

use homenode_cache::walk::{BlockSnapshot, WalkBlock, WalkMiss};
use serde::Serialize;

use crate::counts::DirectoryCounts;
use crate::lrc::counts::PageMessageCounts;
use crate::record::{ActCause, WalkMessage};
use crate::sheet::SheetAction;

/// A walk through accesses, acquires and releases under a protocol that keeps pages coherent. Nodes
/// are meant by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagedWalk {
    /// The pages that are referenced, in the order of their first reference.
    pub pages: Vec<WalkPage>,
    /// The lines that are referenced, likewise.
    pub blocks: Vec<WalkBlock>,
    /// Everything before the first step.
    pub start: PagedScene,
    /// One step for each access to one line, and for each acquire and release.
    pub steps: Vec<PagedWalkStep>,
    /// Totals, which equal the sums of the steps.
    pub totals: PagedWalkTotals,
}

/// A page of a walk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkPage {
    /// Its first byte.
    pub address: u64,
    /// Positions of its lines in [`PagedWalk::blocks`].
    pub blocks: Vec<usize>,
}

/// Totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PagedWalkTotals {
    /// All counts but messages.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Messages between different nodes.
    pub messages: PageMessageCounts,
    /// Traps because of a page that was not mapped, or not for writing.
    pub page_faults: u64,
    /// Fills of TLBs.
    pub tlb_misses: u64,
}

/// An access to one line, an acquire or a release, with all its effects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagedWalkStep {
    /// Number among the steps that were given, from 0; an access that straddles lines is several.
    pub reference: usize,
    /// The thread.
    pub thread: u16,
    /// Its processor, which is that of the node with this number.
    pub processor: u16,
    /// `read`, `write`, `atomic`, `acquire` or `release`.
    pub kind: &'static str,
    /// First byte of an access, within the line.
    pub address: Option<u64>,
    /// Its bytes.
    pub size: Option<u8>,
    /// Position of the page in [`PagedWalk::pages`].
    pub page: Option<usize>,
    /// Position of the line in [`PagedWalk::blocks`].
    pub block: Option<usize>,
    /// The words that are touched, by their position in the line.
    pub words: Vec<u32>,
    /// Whether the area is private.
    pub private: bool,
    /// Whether the kernel makes the access.
    pub kernel: bool,
    /// Whether the page was not mapped as the access needs it.
    pub fault: bool,
    /// Whether the lookaside buffer lacked the page, although it was mapped.
    pub tlb_miss: bool,
    /// Why there was no line; nothing if there was one.
    pub miss: Option<WalkMiss>,
    /// Cycles for which the processor waited, without contention.
    pub cycles: u64,
    /// Actions of nodes, homes and caches, in order.
    pub acts: Vec<PageAct>,
    /// Messages between different nodes so far, this step's included.
    pub messages: PageMessageCounts,
    /// Bytes in them.
    pub message_bytes: u64,
    /// Each node's mapping of the page before an access.
    pub before: Vec<&'static str>,
    /// The same after it.
    pub after: Vec<&'static str>,
    /// Everything after the step.
    pub scene: PagedScene,
}

/// An action of a node, a home or a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageAct {
    /// The page it is about.
    pub page: usize,
    /// The line, if it is about one.
    pub block: Option<usize>,
    /// Why.
    pub cause: ActCause,
    /// The message that arrived, if it is the cause.
    pub message: Option<WalkMessage>,
    /// The node.
    pub node: u16,
    /// What acts there: a controller, by its name in the tables, or `cache` or `memory`, which have
    /// none.
    pub controller: &'static str,
    /// Its event.
    pub event: &'static str,
    /// The sender's role at the home.
    pub sender: Option<&'static str>,
    /// Its state, if it has a table.
    pub state: Option<&'static str>,
    /// Its next state, likewise.
    pub next: Option<&'static str>,
    /// Its actions.
    pub actions: Vec<SheetAction>,
    /// The page at its home after it.
    pub entry: PageEntry,
}

/// A page at its home.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageEntry {
    /// The node that is the home; nothing before the first access.
    pub home: Option<u16>,
    /// State of the home's controller; a page that is `weak` is on the weak list.
    pub state: &'static str,
    /// The nodes that are listed: those that map the page.
    pub listed: Vec<u16>,
}

/// All pages and lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagedScene {
    /// Pages, by position.
    pub pages: Vec<PageView>,
    /// Lines, by position.
    pub lines: Vec<LineView>,
}

/// A page at its home and at all nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PageView {
    /// At its home.
    pub entry: PageEntry,
    /// The state of the mapping at each node.
    pub mappings: Vec<&'static str>,
    /// The state of the release at each node.
    pub releases: Vec<&'static str>,
}

/// A line in all caches and in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineView {
    /// Caches, by node, and memory.
    #[serde(flatten)]
    pub data: BlockSnapshot,
    /// For each node the words that its cache has written and memory lacks.
    pub dirty: Vec<Vec<u32>>,
}
