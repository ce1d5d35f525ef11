//! The protocol of a table of lists in some nodes, as the explorer takes it.

use std::fmt::{Arguments, Write};

use homenode_protocol::{Labelled, ProtocolModel};

use super::broken_promise::BrokenListPromise;
use super::pointer::Pointer;
use super::situation::{Alike, Asked, HOME, ListSituation, ListedMessage, MESSAGES_MAX};
use crate::check::situation::Data;
use crate::list_table::{CopyCell, ListTable};
use crate::list_vocabulary::{CopyAction, CopyEvent, CopyMatter, ListMessage};
use crate::vocabulary::ControllerCell;

/// The node by which the others may read, if there are proxies.
pub(super) const PROXY: usize = 0;

/// What is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Every node reads from home.
    WithoutProxies,
    /// Every node but the proxy may read by it, instead or after a read has come back.
    Proxies {
        /// Whether the first client gets the block first.
        fair: bool,
    },
}

/// Which cells were reached.
#[derive(Clone, Debug)]
pub(super) struct ListCoverage {
    pub(super) copy: Vec<bool>,
    pub(super) home: Vec<bool>,
}

impl ListCoverage {
    pub(super) fn new(table: &ListTable) -> Self {
        let [copy, home] =
            [table.copy.cell_count(), table.home.cell_count()].map(|count| vec![false; count]);
        Self { copy, home }
    }
}

/// What may be so or otherwise when something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chance {
    /// A node that reads does so from home; there is room for whatever comes.
    Usual,
    /// The node that reads does so by its proxy.
    ByProxy,
    /// The buffer of whom the message is for is full.
    Full,
    /// The proxy has no frame for a copy.
    NoFrame,
}

/// Something that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStep {
    /// A processor's operation, or a replacement.
    Processor { node: usize, event: CopyEvent, chance: Chance },
    /// A message arrives.
    Deliver(ListedMessage, Chance),
}

/// So many nodes under one protocol.
pub(super) struct ListModel<'a> {
    pub(super) table: &'a ListTable,
    pub(super) coverage: &'a mut ListCoverage,
    pub(super) nodes: usize,
    pub(super) variant: Variant,
    pub(super) alike: Alike,
}

/// A step that is being performed.
pub(super) struct ListScene {
    pub(super) next: ListSituation,
    pub(super) chance: Chance,
    /// What happens, if somebody wants to read it.
    told: Option<String>,
}

impl ListScene {
    pub(super) fn tell(&mut self, what: Arguments<'_>) {
        if let Some(told) = &mut self.told {
            let _ = told.write_fmt(what);
        }
    }
}

/// Whether something need not wait.
pub(super) type ListHappened = Result<bool, BrokenListPromise>;

/// The number of a node in messages.
pub(super) fn number(node: usize) -> u8 {
    u8::try_from(node).unwrap_or(HOME)
}

/// A sender or receiver in words.
pub(super) fn who(number: u8) -> String {
    if number == HOME { "home".to_owned() } else { format!("node {number}") }
}

impl ProtocolModel for ListModel<'_> {
    type State = ListSituation;
    type Step = ListStep;
    type Fault = BrokenListPromise;

    fn start(&self) -> ListSituation {
        ListSituation::start(&self.alike)
    }

    fn steps(&self, situation: &ListSituation) -> Vec<ListStep> {
        let mut steps = Vec::new();
        for (at, node) in situation.nodes[..self.nodes].iter().enumerate() {
            let replace = match node.behind {
                Some(_) => CopyEvent::ReplaceAhead,
                None => CopyEvent::Replace,
            };
            let has_frame = node.state != 0 && !self.table.is_leaving(node.state);
            for event in [CopyEvent::Load, CopyEvent::Store, replace] {
                if event != replace || has_frame {
                    let chances = self.chances(at, self.table.copy_cell(node.state, event));
                    steps.extend(chances.iter().map(|&chance| ListStep::Processor {
                        node: at,
                        event,
                        chance,
                    }));
                }
            }
        }
        for (at, message) in situation.messages.iter().enumerate() {
            if !situation.messages[..at].contains(message) {
                let chances = self.chances_of(situation, message);
                steps.extend(chances.iter().map(|&chance| ListStep::Deliver(*message, chance)));
                if ListMessage::ALL[usize::from(message.message)].may_bounce() {
                    steps.push(ListStep::Deliver(*message, Chance::Full));
                }
            }
        }
        steps
    }

    fn perform(
        &mut self,
        situation: &ListSituation,
        step: &ListStep,
        story: Option<&mut String>,
    ) -> Result<Option<ListSituation>, BrokenListPromise> {
        let told = story.is_some().then(String::new);
        let (ListStep::Processor { chance, .. } | ListStep::Deliver(_, chance)) = *step;
        let mut scene = ListScene { next: situation.clone(), chance, told };
        let happened = match *step {
            ListStep::Processor { node, event, .. } => {
                let message = of_processor(node);
                let found = &situation.nodes[node];
                let does =
                    matches!(self.table.copy_cell(found.state, event), ControllerCell::Does(..));
                // A processor does one thing after the other.
                let waits = found.asked != Asked::Nothing && event.is_operation() && does;
                !waits && self.copy(&mut scene, (node, event), &message)?
            }
            ListStep::Deliver(message, chance) => {
                let messages = &mut scene.next.messages;
                let at = messages.iter().position(|&other| other == message);
                messages.remove(at.unwrap_or(0));
                if chance == Chance::Full {
                    self.send_back(&mut scene, &message)?;
                    true
                } else {
                    self.deliver(&mut scene, &message)?
                }
            }
        };
        if !happened {
            return Ok(None);
        }
        if let (Some(story), Some(told)) = (story, &scene.told) {
            story.push_str(told);
        }
        scene.next.settle(&self.alike);
        self.check(&scene.next)?;
        Ok(Some(scene.next))
    }

    fn is_at_rest(&self, situation: &ListSituation) -> bool {
        let nodes = situation.nodes[..self.nodes].iter();
        situation.messages.is_empty()
            && self.table.home.rests(situation.home.state)
            && nodes.into_iter().all(|node| self.table.copy.rests(node.state))
    }

    fn describe(&self, step: &ListStep) -> String {
        let chance = match step {
            ListStep::Processor { chance, .. } | ListStep::Deliver(_, chance) => match chance {
                Chance::Usual => "",
                Chance::ByProxy => ", who reads by the proxy",
                Chance::Full => ", whose buffer is full",
                Chance::NoFrame => ", who has no frame",
            },
        };
        match step {
            ListStep::Processor { node, event, .. } => {
                format!("node {node}, {}{chance}: ", event.name())
            }
            ListStep::Deliver(m, _) => {
                let name = ListMessage::ALL[usize::from(m.message)].name();
                let of = match m.about {
                    Some(about) => format!(" (about a copy of node {})", about.node),
                    None => String::new(),
                };
                let (to, requester) = (who(m.to), m.requester.node);
                format!("{name}{of} for node {requester} comes to {to}{chance}: ")
            }
        }
    }
}

/// What a processor's own event is done on behalf of.
fn of_processor(node: usize) -> ListedMessage {
    let requester = Pointer::to_node(number(node));
    plain(ListMessage::Read, (number(node), requester))
}

/// A message that carries nothing.
pub(super) fn plain(message: ListMessage, (to, requester): (u8, Pointer)) -> ListedMessage {
    let message = message.index();
    ListedMessage { message, to, requester, about: None, further: 0, due: false, data: Data::None }
}

impl ListModel<'_> {
    /// What may be so or otherwise when a message arrives.
    fn chances_of(&self, situation: &ListSituation, message: &ListedMessage) -> &[Chance] {
        let kind = ListMessage::ALL[usize::from(message.message)];
        let (node, about) = (usize::from(message.to), CopyMatter::default());
        match (situation.nodes.get(node), kind.event_at_copy(about)) {
            (Some(found), Some(event)) => {
                self.chances(node, self.table.copy_cell(found.state, event))
            }
            (None, _) | (_, None) => &[Chance::Usual],
        }
    }

    /// The same when a cell is followed.
    fn chances(&self, node: usize, cell: CopyCell) -> &[Chance] {
        let ControllerCell::Does(actions, _) = cell else { return &[Chance::Usual] };
        let asks = |action: &CopyAction| matches!(action, CopyAction::Ask | CopyAction::AskAgain);
        match self.variant {
            Variant::Proxies { .. } if actions.iter().any(asks) && node == PROXY => {
                if actions.contains(&CopyAction::Chain) {
                    &[Chance::Usual, Chance::NoFrame]
                } else {
                    &[Chance::Usual]
                }
            }
            Variant::Proxies { .. } if actions.iter().any(asks) => {
                &[Chance::Usual, Chance::ByProxy]
            }
            Variant::Proxies { .. } | Variant::WithoutProxies => &[Chance::Usual],
        }
    }

    /// A read comes back to whoever asked for it.
    fn send_back(
        &self,
        scene: &mut ListScene,
        message: &ListedMessage,
    ) -> Result<(), BrokenListPromise> {
        let to = (message.requester.node, message.requester);
        self.send(scene, plain(ListMessage::Bounce, to))
    }

    pub(super) fn send(
        &self,
        scene: &mut ListScene,
        message: ListedMessage,
    ) -> Result<(), BrokenListPromise> {
        if scene.next.messages.len() >= MESSAGES_MAX {
            return Err(BrokenListPromise::Flood);
        }
        let name = ListMessage::ALL[usize::from(message.message)].name();
        scene.tell(format_args!("{name} to {}. ", who(message.to)));
        scene.next.messages.push(message);
        Ok(())
    }
}
