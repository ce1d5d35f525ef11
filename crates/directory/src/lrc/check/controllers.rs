//! The three controllers of the model, by the table.

use homenode_protocol::Labelled;

use super::broken_promise::BrokenPagePromise;
use super::model::{Happened, PageModel, PageScene, number, who};
use super::situation::{CheckedPageMessage, CheckedProcessor, HOME, WORDS};
use crate::cell::ControllerCell;
use crate::finding::Data;
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
                | CheckedProcessor::Releases => {
                    Err(BrokenPagePromise::NoRecipient { what: format!("a line at node {at}") })
                }
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
        let table = self.table;
        self.coverage.mapping[table.mapping_cell_index(before, event)] = true;
        let name = table.mapping.name(before);
        let what = || format!("{} at node {node} in state {name}", event.name());
        let (actions, state) = match table.mapping_cell(before, event) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                return Err(BrokenPagePromise::Impossible { what: what(), why });
            }
        };
        scene.next.nodes[node].mapping = state;
        self.follow_rules(scene, node, event, before)?;
        scene.log(format_args!("node {node} {name} -> {}. ", table.mapping.name(state)));
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
                        return Err(BrokenPagePromise::NoRecipient { what: what() });
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
    ) -> Result<(), BrokenPagePromise> {
        let found = &mut scene.next.nodes[node];
        let was = self.table.permission(before);
        let is = self.table.permission(found.mapping);
        if is > was && event != MappingEvent::Mapped {
            return Err(BrokenPagePromise::NotPermitted { node });
        }
        if event == MappingEvent::Acquire && found.noticed && is != PagePermission::None {
            return Err(BrokenPagePromise::NotUnmapped { node });
        }
        found.noticed |= event == MappingEvent::WriteNotice && was != PagePermission::None;
        found.noticed &= is != PagePermission::None;
        if found.noticed != self.table.is_noticed(found.mapping) {
            return Err(BrokenPagePromise::WrongNotice { node });
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
        let table = self.table;
        self.coverage.release[table.release_cell_index(before, event)] = true;
        let name = table.release.name(before);
        let (actions, state) = match table.release_cell(before, event) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                let what = format!("{} at node {node} in state {name}", event.name());
                return Err(BrokenPagePromise::Impossible { what, why });
            }
        };
        scene.next.nodes[node].release = state;
        let begins = table.release.rests(before) && !table.release.rests(state);
        if begins && event != ReleaseEvent::Store {
            return Err(BrokenPagePromise::NotWritten { node });
        }
        if state != before {
            scene.log(format_args!("node {node} {name} -> {}. ", table.release.name(state)));
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
        if releases && table.release.rests(state) {
            // The release takes effect: later acquires learn what the node knows.
            scene.next.nodes[node].processor = CheckedProcessor::Idle;
            let knows = scene.next.nodes[node].knows;
            let released = scene.next.released.iter_mut();
            released.zip(knows).for_each(|(released, knows)| *released |= knows);
            scene.log(format_args!("the release takes effect. "));
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
        let table = self.table;
        self.coverage.home[table.home_cell_index(home.state, event, sender)] = true;
        let name = table.home.name(home.state);
        let (actions, state) = match table.home_cell(home.state, event, sender) {
            ControllerCell::Does(actions, state) => (actions, state),
            ControllerCell::Waits => return Ok(false),
            ControllerCell::Impossible(why) => {
                let (event, by) = (event.name(), sender.name());
                let what = format!("{event} from {} ({by}) at home in state {name}", who(from));
                return Err(BrokenPagePromise::Impossible { what, why });
            }
        };
        scene.next.home.state = state;
        scene.log(format_args!("home {name} -> {}. ", table.home.name(state)));
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
    ) -> Result<(), BrokenPagePromise> {
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
                if matches!(kind, PageMessage::Line | PageMessage::WrittenBack) {
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
