//! Walks under a block protocol: the trace-order engine performs one reference at a time.
//!
//! Values are checked, so every reference goes through the tables.

use homenode_base::Access;
use homenode_cache::walk::WalkBlock;
use homenode_cache::{CheckError, IndexedSets, MissCounts, WIDE_WORDS};
use homenode_protocol::Labelled;
use homenode_trace::Batch;

use crate::counts::{DirectoryCounts, MessageCounts};
use crate::dash::driver::{
    ObservedCell, ObservedController, ObservedEntry, ObservedMessage, is_implicit,
};
use crate::dash::table::DirectoryTable;
use crate::dash::trace_order::{DirectoryEngine, DirectoryRows};
use crate::home::{HomePolicy, PageDemands};
use crate::record::{
    ActCause, ControllerAct, DirectoryEntry, DirectoryRecorder, DirectoryScene, DirectoryWalk,
    DoneReference, WalkMessage, WalkedEngine,
};
use crate::setup::{DirectorySetup, DirectorySetupError};
use crate::sheet;

/// Why a walk failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryWalkError {
    /// The configuration is invalid.
    #[error(transparent)]
    Setup(#[from] DirectorySetupError),
    /// The protocol breaks an invariant.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Walks through references in order. Values are always checked, regardless of the setup.
/// Instruction fetches are not references here.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk(
    setup: &DirectorySetup,
    table: &DirectoryTable,
    homes: Box<dyn HomePolicy>,
    references: &[Access],
) -> Result<DirectoryWalk, DirectoryWalkError> {
    let engine = ObservedDirectory::new(setup, table, homes)?;
    let recorder = DirectoryRecorder::new(engine, setup.nodes);
    let (walk, _) = recorder.record(references)?;
    Ok(walk)
}

/// One kind of cache that serves every block size and number of nodes is fast enough here.
type ObservedRows = DirectoryRows<IndexedSets<[u64; 4]>, [u64; 4], WIDE_WORDS>;

/// An engine that can be inspected.
pub(super) struct ObservedDirectory<'a> {
    rows: Box<ObservedRows>,
    table: &'a DirectoryTable,
}

impl<'a> ObservedDirectory<'a> {
    pub(super) fn new(
        setup: &DirectorySetup,
        table: &'a DirectoryTable,
        homes: Box<dyn HomePolicy>,
    ) -> Result<Self, DirectorySetupError> {
        let setup = DirectorySetup { check: true, ..setup.clone() };
        let mut rows = DirectoryRows::new(&setup, table.clone(), homes)?;
        rows.engine.driver.log = Some(Vec::new());
        Ok(Self { rows: Box::new(rows), table })
    }

    fn counts(&self) -> DirectoryCounts {
        self.rows.engine.driver.counts(self.rows.writes)
    }

    fn act(&self, cell: ObservedCell) -> (u64, ControllerAct) {
        let (state, next) = cell.states;
        let table = self.table;
        let (controller, names, event, sender, actions) = match cell.controller {
            ObservedController::Cache(event, actions) => {
                let at_home = cell.entry.home == Some(cell.node);
                let sent = actions.iter().filter(|&&action| !is_implicit(action, at_home));
                let actions = sent.map(|&action| action.into()).collect();
                let names = [state, next].map(|state| table.cache.name(state));
                (sheet::CACHE, names, event.name(), None, actions)
            }
            ObservedController::Home(event, sender, actions) => {
                let actions = actions.iter().map(|&action| action.into()).collect();
                let names = [state, next].map(|state| table.home.name(state));
                (sheet::HOME, names, event.name(), Some(sender.name()), actions)
            }
        };
        let cause = match (cell.message, cell.controller) {
            (Some(_), _) => ActCause::Message,
            (None, ObservedController::Cache(event, _)) if event.is_of_processor() => {
                ActCause::Processor
            }
            (None, _) => ActCause::Home,
        };
        let act = ControllerAct {
            cause,
            block: 0,
            message: cell.message.map(shown_message),
            node: cell.node,
            proxy_cache: false,
            controller,
            event,
            sender,
            state: names[0],
            next: names[1],
            actions,
            entry: shown_entry(table, cell.entry),
        };
        (cell.block, act)
    }
}

impl WalkedEngine for ObservedDirectory<'_> {
    type Sent = MessageCounts;
    type Error = CheckError;

    fn shift(&self) -> u32 {
        self.rows.engine.shift()
    }

    fn is_private(&self, access: &Access) -> bool {
        self.rows.engine.is_private(access.addr, access.flags.0)
    }

    fn push(&mut self, _: usize, access: &Access) -> Result<DoneReference, CheckError> {
        self.rows.push(&Batch {
            thread: vec![access.thread],
            kind: vec![access.kind.code()],
            size: vec![access.size],
            addr: vec![access.addr],
            flags: vec![access.flags.0],
            ..Batch::default()
        })?;
        let cells = self.rows.engine.driver.log.as_mut().map(std::mem::take).unwrap_or_default();
        let acts = cells.into_iter().map(|cell| self.act(cell)).collect();
        Ok(DoneReference { acts, cycles: None })
    }

    fn state_of(&self, node: usize, block: u64) -> (u8, bool) {
        self.rows.engine.driver.caches.state_of(node, block)
    }

    fn state_name(&self, state: u8) -> &'static str {
        self.table.cache.name(state)
    }

    fn misses(&self) -> MissCounts {
        self.counts().misses
    }

    fn sent(&self) -> (MessageCounts, u64) {
        let counts = self.counts();
        (counts.messages, counts.message_bytes)
    }

    fn scene(&mut self, block: &WalkBlock, nodes: usize) -> DirectoryScene {
        let (shift, table) = (self.shift(), self.table);
        let driver = &mut self.rows.engine.driver;
        let data = driver.caches.snapshot(block, shift, nodes, |state| table.cache.name(state));
        let number = driver.caches.holders.number(block.address >> shift);
        DirectoryScene {
            entry: shown_entry(table, driver.observed_entry(number)),
            data,
            proxy_copies: Vec::new(),
        }
    }

    fn finish(self) -> (DirectoryCounts, MessageCounts, Option<PageDemands>) {
        let counts = self.rows.finish().counts;
        (counts, counts.messages, None)
    }
}

fn shown_message(observed: ObservedMessage) -> WalkMessage {
    let ObservedMessage { message, from, to, way } = observed;
    WalkMessage { name: message.name(), kind: message.kind().name(), from, to, way, number: None }
}

/// An entry with names instead of numbers.
fn shown_entry(table: &DirectoryTable, entry: ObservedEntry) -> DirectoryEntry {
    let ObservedEntry { home, state, owner, listed, overflow } = entry;
    let (state, in_proxy_caches) = (table.home.name(state), Vec::new());
    DirectoryEntry { home, state, owner, listed, in_proxy_caches, overflow }
}
