//! Acts of controllers in the log of a walk, and what a walk shows of blocks at their homes. The
//! names of the fields are a public contract (`docs/explain.md`).

use homenode_cache::ClockError;
use homenode_cache::walk::{BlockSnapshot, CopySnapshot, Walk, WalkStep, WrittenStep};
use homenode_protocol::Labelled;
use serde::Serialize;

use crate::cell::{ControllerTable, MessageWay, is_any};
use crate::counts::{CountedMessage, DirectoryCounts, MessageCounts};
use crate::setup::DirectorySetupError;
use crate::sheet::SheetAction;

/// A walk under a protocol with a directory of blocks.
pub type DirectoryWalk<C = MessageCounts> =
    Walk<ControllerAct, Vec<DirectoryScene>, C, DirectoryWalkTotals<C>>;
/// A step of it.
pub type DirectoryWalkStep<C = MessageCounts> = WalkStep<ControllerAct, Vec<DirectoryScene>, C>;

/// Totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryWalkTotals<C = MessageCounts> {
    /// All counts but messages.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Messages between different nodes.
    pub messages: C,
}

/// Why a walk failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PagedWalkError {
    /// The configuration is invalid.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks an invariant.
    #[error(transparent)]
    Check(#[from] ClockError),
    /// A step never ends.
    #[error("step {number}: the protocol never lets node {node} go on")]
    Stuck {
        /// Its number, from 1.
        number: usize,
        /// Its node.
        node: u16,
    },
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
    /// The home notifies the cache of its own node, without a message.
    Home,
    /// It follows at once from what the node did before.
    Node,
}

/// An act of a controller of a node or home, or of a cache or memory without a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerAct<E = DirectoryEntry> {
    /// The page it is about, if pages are kept coherent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
    /// The block it is about; `None` if it is about a whole page.
    pub block: Option<usize>,
    /// Why.
    pub cause: ActCause,
    /// The message that arrived, if it is the cause.
    pub message: Option<WalkMessage>,
    /// The node.
    pub node: u16,
    /// Whether it is about the node's proxy cache, and not about its second level.
    #[serde(skip_serializing_if = "is_false")]
    pub proxy_cache: bool,
    /// What it did.
    #[serde(flatten)]
    pub used: UsedCell,
    /// The entry of the block or page at its home after it.
    pub entry: E,
}

/// What a controller did, with names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UsedCell {
    /// Which of its controllers, by its name in the tables; or `cache` or `memory`, if these have
    /// no table.
    pub controller: &'static str,
    /// Its event.
    pub event: &'static str,
    /// The sender's role at the home.
    pub sender: Option<&'static str>,
    /// Its state, if it has a table.
    pub state: Option<&'static str>,
    /// Its next state, likewise.
    pub next: Option<&'static str>,
    /// Its actions. The home's own cache does not acknowledge an invalidation.
    pub actions: Vec<SheetAction>,
}

impl UsedCell {
    /// What a cache or memory did, which have no table.
    pub(crate) fn without_table(
        controller: &'static str,
        event: &'static str,
        action: &'static str,
    ) -> Self {
        let (sender, state, next, actions) = (None, None, None, vec![SheetAction::does(action)]);
        Self { controller, event, sender, state, next, actions }
    }

    /// The act at a node, with the entry of the block or page after it.
    pub(crate) fn act<E>(self, cause: ActCause, node: u16, entry: E) -> ControllerAct<E> {
        let (page, block, message, proxy_cache) = (None, None, None, false);
        ControllerAct { page, block, cause, message, node, proxy_cache, used: self, entry }
    }
}

impl<E: Labelled, B: Labelled, A: Copy + Into<SheetAction>> ControllerTable<E, B, A> {
    /// The use of the cell with these actions, between two states.
    pub(crate) fn used(
        &self,
        (event, by): (E, B),
        actions: impl IntoIterator<Item = A>,
        states: [u8; 2],
    ) -> UsedCell {
        let [state, next] = states.map(|state| Some(self.name(state)));
        UsedCell {
            controller: self.name,
            event: event.name(),
            sender: (!is_any::<B>()).then(|| by.name()),
            state,
            next,
            actions: actions.into_iter().map(Into::into).collect(),
        }
    }
}

/// An act with its block's number in the address space, before the walk has a position for it.
pub(crate) type LoggedAct = (u64, ControllerAct);

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

impl WalkMessage {
    pub(crate) fn new(message: impl CountedMessage, from: u16, to: u16) -> Self {
        let way = if from == to { MessageWay::Within } else { MessageWay::Network };
        Self { name: message.name(), kind: message.kind(), from, to, way, number: None }
    }
}

/// Gives messages across the network their numbers, after `crossed` earlier ones.
pub(crate) fn number_messages<'a>(
    messages: impl Iterator<Item = &'a mut WalkMessage>,
    crossed: &mut u64,
) {
    for message in messages.filter(|message| message.way == MessageWay::Network) {
        *crossed += 1;
        message.number = Some(*crossed);
    }
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
    /// the copies in order from the head, as far as it is linked.
    pub listed: Vec<u16>,
    /// Positions in `listed` of copies that are in the proxy cache of their node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub in_proxy_caches: Vec<usize>,
    /// Whether more nodes have copies than can be listed, so that a write invalidates all.
    pub overflow: bool,
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

/// Sets the counts of references to those of the steps, of which an engine is given one for each
/// block.
pub(crate) fn count_references(counts: &mut DirectoryCounts, steps: &[WrittenStep]) {
    let accesses = || steps.iter().filter_map(WrittenStep::access);
    counts.references = accesses().count() as u64;
    counts.writes = accesses().filter(|access| access.kind.writes()).count() as u64;
    counts.reads = counts.references - counts.writes;
}
