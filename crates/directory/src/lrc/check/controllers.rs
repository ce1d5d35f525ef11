//! The three controllers of the model, by the table.

use homenode_protocol::Labelled;

use super::model::{Happened, PageModel, PageScene, not_permitted};
use super::situation::{CheckedPageMessage, CheckedProcessor, WORDS};
use crate::cell::AnySender;
use crate::finding::{Data, DirectoryFindingKind as Kind, HOME, Promised, broken, number, who};
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PagePermission,
    PageSender, ReleaseAction, ReleaseEvent,
};

impl PageModel<'_> {
    /// A message arrives. Returns false if it has to wait.
    pub(super) fn deliver(
        &mut self,
        scene: &mut PageScene,
        message: &CheckedPageMessage,
    ) -> Happened {
        let kind = PageMessage::ALL[usize::from(message.message)];
        if let Some(event) = kind.event_at_home() {
            let sent = |other: &CheckedPageMessage| {
                other.message == PageMessage::WriteBack.index() && other.from == message.from
            };
            let due = scene.next.messages.iter().any(sent);
            let event = if due { event.before_write_backs() } else { event };
            return self.home(scene, event, message);
        }
        let at = usize::from(message.to);
        let node = &mut scene.next.nodes[at];
        if kind == PageMessage::Line {
            node.line = message.words;
            return match node.processor {
                CheckedProcessor::Fetches(access) => self.access(scene, at, access).map(|()| true),
                CheckedProcessor::Idle
                | CheckedProcessor::Faults(_)
                | CheckedProcessor::Releases => no_recipient(&format!("a line at node {at}")),
            };
        }
        if kind == PageMessage::WrittenBack {
            node.writing = node.writing.saturating_sub(1);
            return self.written_back(scene, at);
        }
        let change = kind.acknowledgements(i32::from(message.due));
        node.due = node.due.saturating_add(i8::try_from(change).unwrap_or(i8::MAX));
        let known = self.table.knows_due(node.release);
        if let Some(event) = kind.event_at_release(i32::from(node.due), known) {
            return self.release(scene, at, event);
        }
        match kind.event_at_mapping() {
            Some(event) => self.mapping(scene, at, event, Some(message)),
            None => Ok(true),
        }
    }

    /// An event at a mapping. Returns false if it has to wait.
    pub(super) fn mapping(
        &mut self,
        scene: &mut PageScene,
        node: usize,
        event: MappingEvent,
        message: Option<&CheckedPageMessage>,
    ) -> Happened {
        let before = scene.next.nodes[node].mapping;
        let what = || format!("{} at node {node}", event.name());
        let seen = (event, AnySender::Any);
        let Some((actions, state)) = self.coverage.mapping.follow(before, seen, what)? else {
            return Ok(false);
        };
        scene.next.nodes[node].mapping = state;
        self.follow_rules(scene, node, event, before)?;
        let [name, after] = [before, state].map(|state| self.table.mapping.name(state));
        scene.text.log(format_args!("node {node} {name} -> {after}. "));
        let mut flushes = false;
        for &action in actions {
            match action {
                MappingAction::SendHome(kind) => {
                    Self::send_home(scene, kind, node, [Data::None; WORDS])?;
                }
                MappingAction::Acknowledge => {
                    let to = message.map_or(HOME, |message| message.requester);
                    Self::send(scene, plain(PageMessage::Acknowledge, number(node), to))?;
                }
                MappingAction::Complete => match scene.next.nodes[node].processor {
                    CheckedProcessor::Faults(access) => self.access(scene, node, access)?,
                    CheckedProcessor::Idle
                    | CheckedProcessor::Fetches(_)
                    | CheckedProcessor::Releases => {
                        return no_recipient(&format!("{} in state {name}", what()));
                    }
                },
                MappingAction::Flush => {
                    Self::write_back(scene, node)?;
                    scene.next.nodes[node].line = [Data::None; WORDS];
                    flushes = true;
                }
            }
        }
        if flushes { self.written_back(scene, node) } else { Ok(true) }
    }

    /// The rules of every mapping: permissions grow only when the home answers, and an acquire
    /// unmaps a page with a notice.
    fn follow_rules(
        &self,
        scene: &mut PageScene,
        node: usize,
        event: MappingEvent,
        before: u8,
    ) -> Promised<()> {
        let found = &mut scene.next.nodes[node];
        let was = self.table.permission(before);
        let is = self.table.permission(found.mapping);
        if is > was && event != MappingEvent::Mapped {
            return not_permitted(node);
        }
        if event == MappingEvent::Acquire && found.noticed && is != PagePermission::None {
            let maps = "acquires and maps a page for which a notice has come";
            return broken(Kind::WrongRecord, format!("node {node} {maps}"));
        }
        found.noticed |= event == MappingEvent::WriteNotice && was != PagePermission::None;
        found.noticed &= is != PagePermission::None;
        if found.noticed != self.table.is_noticed(found.mapping) {
            let wrong = "that a notice has come for what it maps, or has forgotten one";
            return broken(Kind::WrongRecord, format!("node {node} believes {wrong}"));
        }
        Ok(())
    }

    /// An event at a release. Returns false if it has to wait.
    pub(super) fn release(
        &mut self,
        scene: &mut PageScene,
        node: usize,
        event: ReleaseEvent,
    ) -> Happened {
        let before = scene.next.nodes[node].release;
        let what = || format!("{} at node {node}", event.name());
        let (table, seen) = (&self.table.release, (event, AnySender::Any));
        let Some((actions, state)) = self.coverage.release.follow(before, seen, what)? else {
            return Ok(false);
        };
        scene.next.nodes[node].release = state;
        let begins = table.rests(before) && !table.rests(state);
        if begins && event != ReleaseEvent::Store {
            let wrong = "that it has written the page, and has not";
            return broken(Kind::WrongRecord, format!("node {node} believes {wrong}"));
        }
        if state != before {
            let [before, after] = [before, state].map(|state| table.name(state));
            scene.text.log(format_args!("node {node} {before} -> {after}. "));
        }
        let mut writes_back = false;
        for &action in actions {
            match action {
                ReleaseAction::SendHome(kind) => {
                    Self::send_home(scene, kind, node, [Data::None; WORDS])?;
                }
                ReleaseAction::WriteBack => {
                    Self::write_back(scene, node)?;
                    writes_back = true;
                }
            }
        }
        let releases = scene.next.nodes[node].processor == CheckedProcessor::Releases;
        if releases && table.rests(state) {
            // The release takes effect: later acquires see what the node has seen.
            scene.next.nodes[node].processor = CheckedProcessor::Idle;
            let knows = scene.next.nodes[node].knows;
            let released = scene.next.released.iter_mut();
            released.zip(knows).for_each(|(released, knows)| *released |= knows);
            scene.text.log(format_args!("the release takes effect. "));
        }
        if writes_back { self.written_back(scene, node) } else { Ok(true) }
    }

    /// An event at the home's controller. Returns false if it has to wait.
    fn home(
        &mut self,
        scene: &mut PageScene,
        event: PageHomeEvent,
        message: &CheckedPageMessage,
    ) -> Happened {
        let home = scene.next.home;
        let from = message.from;
        let sender = match (home.listed >> from & 1 != 0, home.listed.count_ones()) {
            (false, _) => PageSender::Other,
            (true, 1) => PageSender::Only,
            (true, _) => PageSender::Sharer,
        };
        let what = || format!("{} from {} ({}) at home", event.name(), who(from), sender.name());
        let seen = (event, sender);
        let Some((actions, state)) = self.coverage.home.follow(home.state, seen, what)? else {
            return Ok(false);
        };
        scene.next.home.state = state;
        let [before, after] = [home.state, state].map(|state| self.table.home.name(state));
        scene.text.log(format_args!("home {before} -> {after}. "));
        let mut due = 0;
        for &action in actions {
            self.home_action(scene, action, message, &mut due)?;
        }
        let home = &mut scene.next.home;
        if matches!(event, PageHomeEvent::WriteFault | PageHomeEvent::Upgrade) {
            home.writers |= 1 << from;
        }
        home.writers &= home.listed;
        home.contended |= home.writers != 0 && home.listed.count_ones() > 1;
        home.contended &= home.listed != 0;
        match scene.at_once.take() {
            Some(reply) => self.deliver(scene, &reply),
            None => Ok(true),
        }
    }

    /// Performs an action of the home's controller. `due` counts expected acknowledgements.
    fn home_action(
        &mut self,
        scene: &mut PageScene,
        action: PageHomeAction,
        message: &CheckedPageMessage,
        due: &mut i8,
    ) -> Promised<()> {
        let sender = message.from;
        match action {
            PageHomeAction::List => scene.next.home.listed |= 1 << sender,
            PageHomeAction::Unlist => scene.next.home.listed &= !(1 << sender),
            PageHomeAction::TakeWords => {
                let memory = scene.next.home.memory.iter_mut().zip(message.words);
                memory.filter(|(_, word)| *word != Data::None).for_each(|(at, word)| *at = word);
            }
            PageHomeAction::Notify => {
                for to in (0..number(self.nodes)).filter(|&to| to != sender) {
                    if scene.next.home.listed >> to & 1 != 0 {
                        *due += 1;
                        let notice = plain(PageMessage::WriteNotice, HOME, to);
                        Self::send(scene, CheckedPageMessage { requester: sender, ..notice })?;
                    }
                }
            }
            PageHomeAction::Reply(kind) => {
                let words = if kind == PageMessage::Line {
                    scene.next.home.memory
                } else {
                    [Data::None; WORDS]
                };
                let reply = CheckedPageMessage { due: *due, words, ..plain(kind, HOME, sender) };
                // A release that goes on before its write-backs are acknowledged sees a delay.
                let at_once = kind == PageMessage::Line
                    || (kind == PageMessage::WrittenBack && !self.table.modified_overtakes());
                if at_once {
                    scene.at_once = Some(reply);
                } else {
                    Self::send(scene, reply)?;
                }
            }
        }
        Ok(())
    }
}

/// A message without data.
pub(super) fn plain(message: PageMessage, from: u8, to: u8) -> CheckedPageMessage {
    let words = [Data::None; WORDS];
    CheckedPageMessage { message: message.index(), from, to, requester: to, due: 0, words }
}

fn no_recipient<T>(what: &str) -> Promised<T> {
    broken(Kind::NoRecipient, format!("{what}: no node waits for it"))
}
