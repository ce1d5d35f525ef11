//! A walk under a linked-list protocol: the timed memory system performs one reference at a time,
//! with all its effects.

use std::ops::Range;

use homenode_base::{Access, Flags};
use homenode_cache::MissCounts;
use homenode_cache::walk::WalkBlock;
use homenode_clock::StepOutcome;
use homenode_protocol::Labelled;

use super::clock::{
    ListClockSetup, ListCounts, ObservedListAct, ObservedListController, ObservedListEntry,
    ObservedLists,
};
use crate::cell::MessageWay;
use crate::counts::DirectoryCounts;
use crate::home::{HomePolicy, PageDemands};
use crate::linked::table::ListTable;
use crate::record::{
    ActCause, ControllerAct, DirectoryEntry, DirectoryRecorder, DirectoryScene, DirectoryWalk,
    DoneReference, PagedWalkError, RecordedWalk, WalkMessage, WalkedEngine,
};
use crate::setup::{DemandCollection, DirectorySetup};
use crate::sheet;

/// A reference of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkedReference {
    /// What is referenced.
    pub access: Access,
    /// Whether the next reference begins when the request of this one has been sent, not when this
    /// one is complete.
    pub overlaps: bool,
}

impl From<Access> for WalkedReference {
    fn from(access: Access) -> Self {
        Self { access, overlaps: false }
    }
}

/// Walks through references in order. Values are always checked, regardless of the setup.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn walk_linked(
    setup: &DirectorySetup,
    table: &ListTable,
    homes: Box<dyn HomePolicy>,
    timed: &ListClockSetup,
    references: &[WalkedReference],
) -> Result<DirectoryWalk<ListCounts>, PagedWalkError> {
    walked(setup, table, homes, timed, references).map(|(walk, _)| walk)
}

/// The demands on pages in a walk, for the choice of homes.
///
/// # Errors
/// When the configuration is invalid, or the protocol breaks an invariant.
pub fn linked_demands(
    setup: &DirectorySetup,
    table: &ListTable,
    homes: Box<dyn HomePolicy>,
    timed: &ListClockSetup,
    references: &[WalkedReference],
) -> Result<PageDemands, PagedWalkError> {
    let setup = DirectorySetup { collect_demands: DemandCollection::Whole, ..setup.clone() };
    walked(&setup, table, homes, timed, references).map(|(_, demands)| demands.unwrap_or_default())
}

fn walked(
    setup: &DirectorySetup,
    table: &ListTable,
    homes: Box<dyn HomePolicy>,
    timed: &ListClockSetup,
    references: &[WalkedReference],
) -> Result<RecordedWalk<ListCounts>, PagedWalkError> {
    let engine = WalkedLists {
        engine: ObservedLists::new(setup, table.clone(), homes, timed)?,
        nodes: setup.nodes,
        private: &setup.private,
        overlaps: references.iter().map(|reference| reference.overlaps).collect(),
    };
    let accesses: Vec<Access> = references.iter().map(|reference| reference.access).collect();
    DirectoryRecorder::new(engine, setup.nodes).record(&accesses)
}

struct WalkedLists<'a> {
    engine: ObservedLists,
    nodes: u16,
    private: &'a [Range<u64>],
    /// By reference.
    overlaps: Vec<bool>,
}

impl WalkedLists<'_> {
    fn act(&self, seen: ObservedListAct) -> (u64, ControllerAct) {
        let ObservedListAct { block, message, node, controller, states: (state, next), entry } =
            seen;
        let engine = &self.engine;
        let (controller, names, event, sender, actions) = match controller {
            ObservedListController::Copy(event, actions) => {
                let actions = actions.iter().map(|&action| action.into()).collect();
                let names = [state, next].map(|state| engine.state_name(state));
                (super::sheet::COPY, names, event.name(), None, actions)
            }
            ObservedListController::Home(event, sender, actions) => {
                let actions = actions.iter().map(|&action| action.into()).collect();
                let names = [state, next].map(|state| engine.home_name(state));
                (sheet::HOME, names, event.name(), Some(sender.name()), actions)
            }
        };
        let message = message.map(|(message, from, to)| {
            let (name, kind) = (message.name(), message.kind().name());
            let [from, to] = [from, to].map(|cache| self.node_of(cache));
            let way = if from == to { MessageWay::Within } else { MessageWay::Network };
            WalkMessage { name, kind, from, to, way, number: None }
        });
        let cause = if message.is_some() { ActCause::Message } else { ActCause::Processor };
        let act = ControllerAct {
            cause,
            block: 0,
            message,
            node: self.node_of(node),
            proxy_cache: self.is_proxy_cache(node),
            controller,
            event,
            sender,
            state: names[0],
            next: names[1],
            actions,
            entry: self.entry(entry),
        };
        (block, act)
    }

    /// An entry with names instead of numbers.
    fn entry(&self, seen: ObservedListEntry) -> DirectoryEntry {
        let ObservedListEntry { home, state, owner, list } = seen;
        let state = self.engine.home_name(state);
        let of_proxies = list.iter().enumerate().filter(|&(_, &cache)| self.is_proxy_cache(cache));
        let in_proxy_caches = of_proxies.map(|(position, _)| position).collect();
        let listed = list.iter().map(|&cache| self.node_of(cache)).collect();
        DirectoryEntry { home, state, owner, listed, in_proxy_caches, overflow: false }
    }

    /// The proxy caches have numbers after those of all nodes.
    fn is_proxy_cache(&self, cache: u16) -> bool {
        cache >= self.nodes
    }

    fn node_of(&self, cache: u16) -> u16 {
        cache % self.nodes
    }
}

impl WalkedEngine for WalkedLists<'_> {
    type Sent = ListCounts;
    type Error = PagedWalkError;

    fn shift(&self) -> u32 {
        self.engine.shift()
    }

    fn is_private(&self, access: &Access) -> bool {
        access.flags.contains(Flags::PRIVATE)
            || self.private.iter().any(|area| area.contains(&access.addr))
    }

    fn push(&mut self, number: usize, access: &Access) -> Result<DoneReference, PagedWalkError> {
        let node = access.thread % self.nodes;
        let mut access = *access;
        if self.is_private(&access) {
            access.flags.0 |= Flags::PRIVATE.0;
        }
        let cycles = match self.engine.access(node, &access, self.overlaps[number])? {
            StepOutcome::Done(cycles) => Some(cycles),
            StepOutcome::InFlight => None,
            StepOutcome::Stuck => {
                return Err(PagedWalkError::Stuck { number: number + 1, node });
            }
        };
        let seen = self.engine.take_acts();
        Ok(DoneReference { acts: seen.into_iter().map(|act| self.act(act)).collect(), cycles })
    }

    fn state_of(&self, node: usize, block: u64) -> (u8, bool) {
        self.engine.state_of(node, block)
    }

    fn state_name(&self, state: u8) -> &'static str {
        self.engine.state_name(state)
    }

    fn misses(&self) -> MissCounts {
        self.engine.misses()
    }

    fn sent(&self) -> (ListCounts, u64) {
        self.engine.sent()
    }

    fn scene(&mut self, block: &WalkBlock, nodes: usize) -> DirectoryScene {
        let (mut data, entry) = self.engine.snapshot(block);
        let proxy_copies = data.copies.split_off(nodes);
        DirectoryScene { entry: self.entry(entry), data, proxy_copies }
    }

    fn finish(self) -> (DirectoryCounts, ListCounts, Option<PageDemands>) {
        self.engine.finish()
    }
}
