//! What a walk shows. The names of the fields are a public contract (`docs/explain.md`).

use homenode_cache::walk::{BlockSnapshot, CopySnapshot, WalkBlock, WalkMiss};
use serde::Serialize;

use crate::cell::MessageWay;
use crate::counts::{DirectoryCounts, MessageCounts};
use crate::sheet::SheetAction;

/// A walk through references to a few blocks under one protocol. Nodes are meant by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryWalk<C = MessageCounts> {
    /// The blocks that are referenced, in the order of their first reference.
    pub blocks: Vec<WalkBlock>,
    /// The blocks before the first step.
    pub start: Vec<DirectoryScene>,
    /// One step for each reference to one block.
    pub steps: Vec<DirectoryWalkStep<C>>,
    /// Totals, which equal the sums of the steps.
    pub totals: DirectoryWalkTotals<C>,
}

/// Totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryWalkTotals<C = MessageCounts> {
    /// All counts but messages.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Messages between different nodes.
    pub messages: C,
}

/// One reference to one block, done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryWalkStep<C = MessageCounts> {
    /// Number of the reference among those given, from 0; one that straddles blocks has several
    /// steps.
    pub reference: usize,
    /// The thread.
    pub thread: u16,
    /// Its processor, which is that of the node with this number.
    pub processor: u16,
    /// `read`, `write`, or `atomic`, which is a write to the caches.
    pub kind: &'static str,
    /// First byte, within the block.
    pub address: u64,
    /// Bytes.
    pub size: u8,
    /// Position of the block in [`DirectoryWalk::blocks`].
    pub block: usize,
    /// The words that are touched, by their position in the block.
    pub words: Vec<u32>,
    /// Whether the area is private.
    pub private: bool,
    /// Whether the kernel referenced it.
    pub kernel: bool,
    /// Why there was no copy; nothing if there was one.
    pub miss: Option<WalkMiss>,
    /// Cycles for which the processor waited; nothing if the references of a walk take no time, or
    /// if this one is under way when the next one begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// The cells of the tables that were used, in order: first those of the replacement of another
    /// block, if there was one.
    pub acts: Vec<ControllerAct>,
    /// Messages between different nodes so far, this step's included.
    pub messages: C,
    /// Bytes in them.
    pub message_bytes: u64,
    /// Each cache's state of the block before the step.
    pub before: Vec<&'static str>,
    /// The same after it.
    pub after: Vec<&'static str>,
    /// All blocks after the step.
    pub scenes: Vec<DirectoryScene>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_false(it: &bool) -> bool {
    !it
}

/// The cause of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ActCause {
    /// Its processor's operation, or a replacement for one.
    Processor,
    /// A message has arrived.
    Message,
    /// The home of the node tells its own cache, without a message.
    Home,
    /// It follows at once from what the node did before.
    Node,
}

/// A use of a controller's cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerAct {
    /// The block it is about.
    pub block: usize,
    /// Why.
    pub cause: ActCause,
    /// The message that arrived, if it is the cause.
    pub message: Option<WalkMessage>,
    /// The node.
    pub node: u16,
    /// Whether it is about the node's proxy cache, and not about its second level.
    #[serde(skip_serializing_if = "is_false")]
    pub proxy_cache: bool,
    /// Which of its controllers, by its name in the tables.
    pub controller: &'static str,
    /// Its event.
    pub event: &'static str,
    /// The sender's role at the home.
    pub sender: Option<&'static str>,
    /// Its state.
    pub state: &'static str,
    /// Its next state.
    pub next: &'static str,
    /// Its actions. The home's own cache does not acknowledge an invalidation.
    pub actions: Vec<SheetAction>,
    /// The directory's entry after it.
    pub entry: DirectoryEntry,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WalkMessage {
    /// Its name.
    pub name: &'static str,
    /// What it is counted as.
    pub kind: &'static str,
    /// The node that sent it.
    pub from: u16,
    /// The node that it came to.
    pub to: u16,
    /// Its way; only messages across the network are counted.
    pub way: MessageWay,
    /// Its number among those that are counted, from 1.
    pub number: Option<u64>,
}

/// The directory's entry of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryEntry {
    /// The node that is the home; nothing before the first reference to the page.
    pub home: Option<u16>,
    /// State of the home's controller.
    pub state: &'static str,
    /// The node that owns the block.
    pub owner: Option<u16>,
    /// The listed nodes, including those that have replaced their copy silently. For a linked list,
    /// the copies in order from the head.
    pub listed: Vec<u16>,
    /// Positions in `listed` of copies that are in the proxy cache of their node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_proxy_caches: Vec<usize>,
    /// Whether more nodes have copies than can be listed, so that a write invalidates all.
    pub overflow: bool,
}

/// A block in all caches, in memory and in the directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryScene {
    /// The directory's entry.
    pub entry: DirectoryEntry,
    /// Caches, by node, and memory.
    #[serde(flatten)]
    pub data: BlockSnapshot,
    /// Proxy caches, by node, if nodes have such caches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxy_copies: Vec<CopySnapshot>,
}
