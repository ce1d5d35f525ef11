//! The model of a block protocol that the search explores.

use homenode_protocol::{Labelled, ProtocolModel};

use super::situation::{CheckedHome, CheckedMessage, MESSAGES_MAX, Situation};
use crate::cell::{AnySender, CopyRole};
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::{
    CacheAction, CacheEvent, HomeAction, HomeEvent, Message, Recipient, Sender,
};
use crate::finding::{
    BrokenDirectoryPromise, Data, DirectoryFindingKind as Kind, Promised, ReachedTable, StepText,
    broken, flood, lost, not_done, number, two_writers,
};

/// The home is at this node.
const HOME: u8 = 0;

pub(super) struct DirectoryCoverage {
    pub(super) cache: ReachedTable<CacheEvent, AnySender, CacheAction>,
    pub(super) home: ReachedTable<HomeEvent, Sender, HomeAction>,
}

/// A step that is being performed.
struct BlockStep {
    next: Situation,
    text: StepText,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DirectoryStep {
    Processor { node: usize, event: CacheEvent },
    Deliver(CheckedMessage),
}

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
    ) -> Promised<Option<Situation>> {
        let text = StepText::new(story.is_some());
        let mut scene = BlockStep { next: situation.clone(), text };
        let happened = match *step {
            DirectoryStep::Processor { node, event } => {
                let message = processor_message(node);
                self.cache(&mut scene, node, event, &message)?
            }
            DirectoryStep::Deliver(message) => {
                let messages = &mut scene.next.messages;
                let at = messages.iter().position(|&other| other == message);
                messages.remove(at.unwrap_or(0));
                self.deliver(&mut scene, &message)?
            }
        };
        if !happened {
            return Ok(None);
        }
        scene.text.add_to(story);
        self.check(&scene.next)?;
        Ok(Some(scene.next))
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
    let node = number(node);
    CheckedMessage { message: 0, from: node, to: node, requester: node, due: 0, data: Data::None }
}

/// A message of the home without data.
fn without_data(kind: Message, to: u8, requester: u8) -> CheckedMessage {
    let message = kind.index();
    CheckedMessage { message, from: HOME, to, requester, due: 0, data: Data::None }
}

impl DirectoryModel<'_> {
    fn deliver(&mut self, scene: &mut BlockStep, message: &CheckedMessage) -> Promised<bool> {
        let node = usize::from(message.to);
        let kind = Message::ALL[usize::from(message.message)];
        if let Some(event) = kind.event_at_home() {
            return self.home(scene, event, message);
        }
        let cache = &mut scene.next.caches[node];
        let change = kind.acknowledgements(i32::from(message.due));
        cache.due += i8::try_from(change).unwrap_or(i8::MAX);
        let writable = self.table.role(cache.state) == CopyRole::Writable;
        match kind.event_at_cache(i32::from(cache.due), writable) {
            Some(event) => self.cache(scene, node, event, message),
            None => Ok(true),
        }
    }

    /// An event at a cache's controller. Returns false if it has to wait.
    fn cache(
        &mut self,
        scene: &mut BlockStep,
        node: usize,
        event: CacheEvent,
        message: &CheckedMessage,
    ) -> Promised<bool> {
        let before = scene.next.caches[node];
        let what = || format!("{} at node {node}", event.name());
        let seen = (event, AnySender::Any);
        let Some((actions, state)) = self.coverage.cache.follow(before.state, seen, what)? else {
            return Ok(false);
        };
        if message.data != Data::None {
            scene.next.caches[node].data = message.data;
        }
        scene.next.caches[node].asked |= matches!(event, CacheEvent::Load | CacheEvent::Store);
        for &action in actions {
            match action {
                CacheAction::Send(kind, recipient) => {
                    let to = match recipient {
                        Recipient::Home => HOME,
                        Recipient::Requester => message.requester,
                    };
                    let data = if kind.carries_block() { before.data } else { Data::None };
                    if kind.carries_block() && data == Data::None {
                        return no_data(node);
                    }
                    // A copy at the home node is invalidated without a message or an
                    // acknowledgement.
                    if kind == Message::Acknowledge && node == usize::from(HOME) {
                        continue;
                    }
                    let (message, from, requester) =
                        (kind.index(), number(node), message.requester);
                    let sent = CheckedMessage { message, from, to, requester, due: 0, data };
                    Self::post(scene, sent)?;
                }
                CacheAction::Complete => self.complete(&mut scene.next, node, event, state)?,
            }
        }
        scene.next.caches[node].state = state;
        if self.table.role(state) == CopyRole::None {
            scene.next.caches[node].data = Data::None;
        } else if event == CacheEvent::Replace {
            return broken(Kind::NotReplaced, format!("the copy of node {node} is still there"));
        }
        let [before, after] = [before.state, state].map(|state| self.table.cache.name(state));
        scene.text.log(format_args!("node {node} {before} -> {after}. "));
        Ok(true)
    }

    /// A processor's operation takes place.
    fn complete(
        &self,
        next: &mut Situation,
        node: usize,
        event: CacheEvent,
        after: u8,
    ) -> Promised<()> {
        next.caches[node].asked = false;
        let stores = event == CacheEvent::Store
            || (event != CacheEvent::Load && self.table.role(after) == CopyRole::Writable);
        // A copy that arrives for a read during others' writes was ordered before them. A copy in
        // the cache must not outlive them, and a writer must keep others' writes to the block.
        let old = if event == CacheEvent::Load { !next.is_writing() } else { stores };
        match next.caches[node].data {
            Data::None => return no_data(node),
            Data::Old if old => return stale(node),
            Data::Old | Data::Latest if stores => next.write(node),
            Data::Old | Data::Latest => {}
        }
        Ok(())
    }

    fn post(scene: &mut BlockStep, message: CheckedMessage) -> Promised<()> {
        if scene.next.messages.len() >= MESSAGES_MAX {
            return flood();
        }
        let name = Message::ALL[usize::from(message.message)].name();
        scene.text.log(format_args!("{name} to node {}. ", message.to));
        scene.next.send(message);
        Ok(())
    }

    /// An event at the home's controller. Returns false if it has to wait.
    fn home(
        &mut self,
        scene: &mut BlockStep,
        event: HomeEvent,
        message: &CheckedMessage,
    ) -> Promised<bool> {
        let home = scene.next.home;
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
        let what = || format!("{} from node {from} ({}) at home", event.name(), sender.name());
        let seen = (event, sender);
        let Some((actions, state)) = self.coverage.home.follow(home.state, seen, what)? else {
            return Ok(false);
        };
        let asks = matches!(event, HomeEvent::Read | HomeEvent::Write | HomeEvent::Upgrade);
        scene.next.home.requester = if asks { Some(from) } else { home.requester };
        scene.next.home.state = state;
        let [before, after] = [home.state, state].map(|state| self.table.home.name(state));
        scene.text.log(format_args!("home {before} -> {after}. "));
        let mut due = 0;
        for &action in actions {
            if self.home_action(scene, action, message, &mut due)?.is_none() {
                let what = format!("{} in state {before}: it has no recipient", what());
                return broken(Kind::NoRecipient, what);
            }
        }
        if self.table.home.rests(state) {
            scene.next.home.requester = None;
        }
        Ok(true)
    }

    /// Performs an action of the home's controller. Returns nothing if it lacks a node to act on.
    fn home_action(
        &mut self,
        scene: &mut BlockStep,
        action: HomeAction,
        message: &CheckedMessage,
        due: &mut i8,
    ) -> Promised<Option<()>> {
        let home = &mut scene.next.home;
        let CheckedHome { owner, requester, memory, .. } = *home;
        match (action, requester, owner) {
            (HomeAction::TakeData, _, _) => home.memory = message.data,
            (HomeAction::Own, _, _) => {
                (home.owner, home.listed, home.overflow) = (requester, 0, false);
            }
            (HomeAction::Disown, _, _) => home.owner = None,
            (HomeAction::ListOwner, _, Some(owner)) => {
                home.owner = None;
                self.list(home, owner);
            }
            (HomeAction::ListRequester, Some(requester), _) => self.list(home, requester),
            (HomeAction::Reply(kind), Some(to), _) => {
                let data = if kind.carries_block() { memory } else { Data::None };
                let reply = CheckedMessage { due: *due, data, ..without_data(kind, to, to) };
                Self::post(scene, reply)?;
            }
            (HomeAction::Forward(kind), Some(requester), Some(owner)) => {
                Self::post(scene, without_data(kind, owner, requester))?;
            }
            (HomeAction::Invalidate, Some(requester), _) => {
                *due = self.invalidate(scene, requester)?;
            }
            (HomeAction::ListOwner, _, None)
            | (HomeAction::ListRequester | HomeAction::Reply(_), None, _)
            | (HomeAction::Forward(_), _, _)
            | (HomeAction::Invalidate, None, _) => return Ok(None),
        }
        Ok(Some(()))
    }

    fn list(&self, home: &mut CheckedHome, node: u8) {
        let listed = home.listed | 1 << node;
        if listed.count_ones() > self.pointers {
            home.overflow = true;
        } else {
            home.listed = listed;
        }
    }

    /// Invalidates all copies that may exist; returns the number of acknowledgements due.
    fn invalidate(&mut self, scene: &mut BlockStep, requester: u8) -> Promised<i8> {
        let mut due = 0;
        for node in 0..self.nodes {
            let (to, home) = (number(node), &scene.next.home);
            let may_have = home.overflow || home.listed & 1 << to != 0;
            if !may_have || to == requester {
                continue;
            }
            if to == HOME {
                let message = CheckedMessage { requester, ..processor_message(node) };
                self.cache(scene, node, CacheEvent::Invalidate, &message)?;
            } else {
                due += 1;
                Self::post(scene, without_data(Message::Invalidate, to, requester))?;
            }
        }
        Ok(due)
    }

    fn check(&self, situation: &Situation) -> Promised<()> {
        let role = |node: usize| self.table.role(situation.caches[node].state);
        let mut writers = (0..self.nodes).filter(|&node| role(node) == CopyRole::Writable);
        if let Some(node) = writers.next() {
            if let Some(other) = writers.next() {
                return two_writers(node, other);
            }
            let acknowledged = self.table.cache.rests(situation.caches[node].state);
            let mut others = (0..self.nodes).filter(|&other| other != node);
            let copy = others.find(|&other| role(other) != CopyRole::None);
            if let (true, Some(other)) = (acknowledged, copy) {
                let may = format!("node {node} may write and nothing is to be acknowledged");
                return broken(Kind::NotAlone, format!("{may}, but node {other} has a copy"));
            }
        }
        if self.is_at_rest(situation) {
            let caches = &situation.caches[..self.nodes];
            let has = |data| caches.iter().position(|cache| cache.data == data);
            if situation.home.memory != Data::Latest && has(Data::Latest).is_none() {
                return lost();
            }
            if let Some(node) = caches.iter().position(|cache| cache.asked) {
                return not_done(node);
            }
            if let Some(node) = has(Data::Old) {
                return stale(node);
            }
        }
        Ok(())
    }
}

fn no_data<T>(node: usize) -> Promised<T> {
    broken(Kind::NoData, format!("an operation of node {node} completes, but it has no data"))
}

fn stale<T>(node: usize) -> Promised<T> {
    broken(Kind::StaleRead, format!("an operation of node {node} finds an old value"))
}
