//! The model of a block protocol that the search explores.

use std::fmt::Write;

use homenode_protocol::{Labelled, ProtocolModel};

use super::broken_promise::BrokenDirectoryPromise;
use super::situation::{CheckedHome, CheckedMessage, MESSAGES_MAX, Situation};
use crate::cell::{ControllerCell, CopyRole};
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::{
    CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Recipient, Sender,
};
use crate::finding::Data;

/// The home is at this node.
const HOME: u8 = 0;

/// Which cells were reached.
#[derive(Clone, Debug)]
pub(super) struct DirectoryCoverage {
    pub(super) cache_cells: Vec<bool>,
    pub(super) home_cells: Vec<bool>,
}

impl DirectoryCoverage {
    pub(super) fn new(table: &DirectoryTable) -> Self {
        let [cache_cells, home_cells] =
            [table.cache.cell_count(), table.home.cell_count()].map(|count| vec![false; count]);
        Self { cache_cells, home_cells }
    }
}

/// A step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DirectoryStep {
    /// A processor's operation, or a replacement.
    Processor { node: usize, event: CacheEvent },
    /// A message arrives.
    Deliver(CheckedMessage),
}

/// Some nodes under one protocol.
pub(super) struct DirectoryModel<'a> {
    pub(super) table: &'a DirectoryTable,
    pub(super) coverage: &'a mut DirectoryCoverage,
    pub(super) nodes: usize,
    /// Most nodes that the directory lists.
    pub(super) pointers: u32,
}

impl ProtocolModel for DirectoryModel<'_> {
    type State = Situation;
    type Step = DirectoryStep;
    type Fault = BrokenDirectoryPromise;

    fn start(&self) -> Situation {
        Situation::start()
    }

    fn steps(&self, situation: &Situation) -> Vec<DirectoryStep> {
        let mut steps = Vec::new();
        for node in 0..self.nodes {
            let copy = self.table.role(situation.caches[node].state) != CopyRole::None;
            for event in [CacheEvent::Load, CacheEvent::Store, CacheEvent::Replace] {
                // Only a copy can be replaced.
                if event != CacheEvent::Replace || copy {
                    steps.push(DirectoryStep::Processor { node, event });
                }
            }
        }
        let mut messages = situation.messages.clone();
        messages.dedup();
        steps.extend(messages.into_iter().map(DirectoryStep::Deliver));
        steps
    }

    fn perform(
        &mut self,
        situation: &Situation,
        step: &DirectoryStep,
        story: Option<&mut String>,
    ) -> Result<Option<Situation>, BrokenDirectoryPromise> {
        let mut next = situation.clone();
        let mut log = String::new();
        let happened = match *step {
            DirectoryStep::Processor { node, event } => {
                let message = processor_message(node);
                self.cache(&mut next, node, event, &message, &mut log)?
            }
            DirectoryStep::Deliver(message) => {
                let at = next.messages.iter().position(|&other| other == message);
                next.messages.remove(at.unwrap_or(0));
                self.deliver(&mut next, &message, &mut log)?
            }
        };
        if !happened {
            return Ok(None);
        }
        if let Some(story) = story {
            story.push_str(&log);
        }
        self.check(&next)?;
        Ok(Some(next))
    }

    fn is_at_rest(&self, situation: &Situation) -> bool {
        let caches = situation.caches[..self.nodes].iter();
        situation.messages.is_empty()
            && self.table.home.rests(situation.home.state)
            && caches.into_iter().all(|cache| self.table.cache.rests(cache.state))
    }

    fn describe(&self, step: &DirectoryStep) -> String {
        match step {
            DirectoryStep::Processor { node, event } => format!("node {node}, {}: ", event.name()),
            DirectoryStep::Deliver(m) => {
                let name = Message::ALL[usize::from(m.message)].name();
                format!("{name} from node {} comes to node {}: ", m.from, m.to)
            }
        }
    }
}

/// The message that stands for a processor's own event.
fn processor_message(node: usize) -> CheckedMessage {
    let node = u8::try_from(node).unwrap_or(u8::MAX);
    CheckedMessage { message: 0, from: node, to: node, requester: node, due: 0, data: Data::None }
}

/// A message of the home without data.
fn without_data(kind: Message, to: u8, requester: u8) -> CheckedMessage {
    let message = kind.index();
    CheckedMessage { message, from: HOME, to, requester, due: 0, data: Data::None }
}

impl DirectoryModel<'_> {
    /// A message arrives. Returns false if it has to wait.
    fn deliver(
        &mut self,
        next: &mut Situation,
        message: &CheckedMessage,
        log: &mut String,
    ) -> Result<bool, BrokenDirectoryPromise> {
        let node = usize::from(message.to);
        let kind = Message::ALL[usize::from(message.message)];
        if let Some(event) = kind.event_at_home() {
            return self.home(next, event, message, log);
        }
        let cache = &mut next.caches[node];
        let change = kind.acknowledgements(i32::from(message.due));
        cache.due += i8::try_from(change).unwrap_or(i8::MAX);
        let writable = self.table.role(cache.state) == CopyRole::Writable;
        match kind.event_at_cache(i32::from(cache.due), writable) {
            Some(event) => self.cache(next, node, event, message, log),
            None => Ok(true),
        }
    }

    /// An event at a cache's controller. Returns false if it has to wait.
    fn cache(
        &mut self,
        next: &mut Situation,
        node: usize,
        event: CacheEvent,
        message: &CheckedMessage,
        log: &mut String,
    ) -> Result<bool, BrokenDirectoryPromise> {
        let before = next.caches[node];
        self.coverage.cache_cells[self.table.cache_cell_index(before.state, event)] = true;
        let what = || {
            format!(
                "{} at node {node} in state {}",
                event.name(),
                self.table.cache.name(before.state)
            )
        };
        let asks = matches!(event, CacheEvent::Load | CacheEvent::Store);
        let (actions, state) = match self.table.cache_cell(before.state, event) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                return Err(BrokenDirectoryPromise::Impossible { what: what(), why });
            }
        };
        if message.data != Data::None {
            next.caches[node].data = message.data;
        }
        next.caches[node].asked |= asks;
        for &action in actions {
            match action {
                CacheAction::Send(kind, recipient) => {
                    let to = match recipient {
                        Recipient::Home => HOME,
                        Recipient::Requester => message.requester,
                    };
                    let data = if kind.carries_block() { before.data } else { Data::None };
                    if kind.carries_block() && data == Data::None {
                        return Err(BrokenDirectoryPromise::NoData { node });
                    }
                    // A copy at the home node is invalidated without a message or an
                    // acknowledgement.
                    if kind == Message::Acknowledge && node == usize::from(HOME) {
                        continue;
                    }
                    let from = u8::try_from(node).unwrap_or(u8::MAX);
                    let (message, requester) = (kind.index(), message.requester);
                    let sent = CheckedMessage { message, from, to, requester, due: 0, data };
                    self.post(next, sent, log)?;
                }
                CacheAction::Complete => self.complete(next, node, event, state)?,
            }
        }
        next.caches[node].state = state;
        if event == CacheEvent::Replace && self.table.role(state) != CopyRole::None {
            return Err(BrokenDirectoryPromise::NotReplaced { node });
        }
        if self.table.role(state) == CopyRole::None {
            next.caches[node].data = Data::None;
        }
        let _ = write!(
            log,
            "node {node} {} -> {}. ",
            self.table.cache.name(before.state),
            self.table.cache.name(state)
        );
        Ok(true)
    }

    /// A processor's operation takes place.
    fn complete(
        &self,
        next: &mut Situation,
        node: usize,
        event: CacheEvent,
        after: u8,
    ) -> Result<(), BrokenDirectoryPromise> {
        next.caches[node].asked = false;
        let data = next.caches[node].data;
        let stores = event == CacheEvent::Store
            || (event != CacheEvent::Load && self.table.role(after) == CopyRole::Writable);
        // A copy that arrives for a read during others' writes was ordered before them. A copy in
        // the cache must not outlive them, and a writer must keep others' writes to the block.
        let old = if event == CacheEvent::Load { !next.is_writing() } else { stores };
        match data {
            Data::None => Err(BrokenDirectoryPromise::NoData { node }),
            Data::Old if old => Err(BrokenDirectoryPromise::Stale { node }),
            Data::Old | Data::Latest => {
                if stores {
                    next.write(node);
                }
                Ok(())
            }
        }
    }

    fn post(
        &self,
        next: &mut Situation,
        message: CheckedMessage,
        log: &mut String,
    ) -> Result<(), BrokenDirectoryPromise> {
        if next.messages.len() >= MESSAGES_MAX {
            return Err(BrokenDirectoryPromise::Flood);
        }
        let name = Message::ALL[usize::from(message.message)].name();
        let _ = write!(log, "{name} to node {}. ", message.to);
        next.send(message);
        Ok(())
    }

    /// An event at the home's controller. Returns false if it has to wait.
    fn home(
        &mut self,
        next: &mut Situation,
        event: HomeEvent,
        message: &CheckedMessage,
        log: &mut String,
    ) -> Result<bool, BrokenDirectoryPromise> {
        let home = next.home;
        let from = message.from;
        let sender = if home.owner == Some(from) {
            Sender::Owner
        } else if home.requester == Some(from) {
            Sender::Requester
        } else if home.listed & 1 << from != 0 {
            Sender::Sharer
        } else {
            Sender::Other
        };
        self.coverage.home_cells[self.table.home_cell_index(home.state, event, sender)] = true;
        let name = self.table.home.name(home.state);
        let what = || {
            format!("{} from node {from} ({}) at home in state {name}", event.name(), sender.name())
        };
        let (actions, state) = match self.table.home_cell(home.state, event, sender) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                return Err(BrokenDirectoryPromise::Impossible { what: what(), why });
            }
        };
        let asks = matches!(event, HomeEvent::Read | HomeEvent::Write | HomeEvent::Upgrade);
        let requester = if asks { Some(from) } else { home.requester };
        next.home.requester = requester;
        next.home.state = state;
        let _ = write!(log, "home {name} -> {}. ", self.table.home.name(state));
        let mut due = 0;
        for &action in actions {
            self.home_action(next, action, message, &mut due, log)?
                .ok_or_else(|| BrokenDirectoryPromise::NoRecipient { what: what() })?;
        }
        if self.table.home.rests(state) {
            next.home.requester = None;
        }
        Ok(true)
    }

    /// Performs an action of the home's controller. Returns nothing if it lacks a node to act on.
    fn home_action(
        &mut self,
        next: &mut Situation,
        action: HomeAction,
        message: &CheckedMessage,
        due: &mut i8,
        log: &mut String,
    ) -> Result<Option<()>, BrokenDirectoryPromise> {
        let CheckedHome { owner, requester, memory, .. } = next.home;
        match (action, requester, owner) {
            (HomeAction::TakeData, _, _) => next.home.memory = message.data,
            (HomeAction::Own, _, _) => {
                (next.home.owner, next.home.listed) = (requester, 0);
                next.home.overflow = false;
            }
            (HomeAction::Disown, _, _) => next.home.owner = None,
            (HomeAction::ListOwner, _, Some(owner)) => {
                next.home.owner = None;
                self.list(next, owner);
            }
            (HomeAction::ListRequester, Some(requester), _) => self.list(next, requester),
            (HomeAction::Reply(kind), Some(to), _) => {
                let data = if kind.carries_block() { memory } else { Data::None };
                let (message, due) = (kind.index(), *due);
                let reply = CheckedMessage { message, from: HOME, to, requester: to, due, data };
                self.post(next, reply, log)?;
            }
            (HomeAction::Forward(kind), Some(requester), Some(owner)) => {
                self.post(next, without_data(kind, owner, requester), log)?;
            }
            (HomeAction::Invalidate, Some(requester), _) => {
                *due = self.invalidate(next, requester, log)?;
            }
            (HomeAction::ListOwner, _, None)
            | (HomeAction::ListRequester | HomeAction::Reply(_), None, _)
            | (HomeAction::Forward(_), _, _)
            | (HomeAction::Invalidate, None, _) => return Ok(None),
        }
        Ok(Some(()))
    }

    fn list(&self, next: &mut Situation, node: u8) {
        let listed = next.home.listed | 1 << node;
        if listed.count_ones() > self.pointers {
            next.home.overflow = true;
        } else {
            next.home.listed = listed;
        }
    }

    /// Invalidates all copies that may exist; returns the number of acknowledgements due.
    fn invalidate(
        &mut self,
        next: &mut Situation,
        requester: u8,
        log: &mut String,
    ) -> Result<i8, BrokenDirectoryPromise> {
        let mut due = 0;
        for node in 0..self.nodes {
            let to = u8::try_from(node).unwrap_or(u8::MAX);
            let may_have = next.home.overflow || next.home.listed & 1 << to != 0;
            if !may_have || to == requester {
                continue;
            }
            if to == HOME {
                let message = CheckedMessage { requester, ..processor_message(node) };
                self.cache(next, node, CacheEvent::Invalidate, &message, log)?;
            } else {
                due += 1;
                self.post(next, without_data(Message::Invalidate, to, requester), log)?;
            }
        }
        Ok(due)
    }

    /// Checks the invariants, and those at rest.
    fn check(&self, situation: &Situation) -> Result<(), BrokenDirectoryPromise> {
        let role = |node: usize| self.table.role(situation.caches[node].state);
        let mut writers = (0..self.nodes).filter(|&node| role(node) == CopyRole::Writable);
        if let Some(node) = writers.next() {
            if let Some(other) = writers.next() {
                return Err(BrokenDirectoryPromise::TwoWriters { nodes: [node, other] });
            }
            let acknowledged = self.table.cache.rests(situation.caches[node].state);
            let mut others = (0..self.nodes).filter(|&other| other != node);
            let copy = others.find(|&other| role(other) != CopyRole::None);
            if let (true, Some(other)) = (acknowledged, copy) {
                return Err(BrokenDirectoryPromise::NotAlone { node, other });
            }
        }
        if self.is_at_rest(situation) {
            let latest = |node: usize| situation.caches[node].data == Data::Latest;
            if situation.home.memory != Data::Latest && !(0..self.nodes).any(latest) {
                return Err(BrokenDirectoryPromise::Lost);
            }
            if let Some(node) = (0..self.nodes).find(|&node| situation.caches[node].asked) {
                return Err(BrokenDirectoryPromise::NotDone { node });
            }
            let old = (0..self.nodes).find(|&node| situation.caches[node].data == Data::Old);
            if let Some(node) = old {
                return Err(BrokenDirectoryPromise::Stale { node });
            }
        }
        Ok(())
    }
}
