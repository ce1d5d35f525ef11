//! The model of a linked-list protocol that the search explores.

use homenode_protocol::{Labelled, ProtocolModel};

use super::pointer::Pointer;
use super::situation::{Alike, Asked, ListNode, ListSituation, ListedMessage, MESSAGES_MAX};
use crate::cell::{AnySender, ControllerCell};
use crate::finding::{
    BrokenDirectoryPromise, Data, Promised, ReachedTable, StepText, flood, number, orders, who,
};
use crate::linked::table::ListTable;
use crate::linked::vocabulary::{
    CopyAction, CopyEvent, CopyMatter, ListHomeAction, ListHomeEvent, ListMessage, ListSender,
};

/// Where a proxy stores a block for its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyCopies {
    /// In the cache of the proxy's processor.
    Kept,
    /// Nowhere: the block is relayed.
    Relayed,
    /// In a separate cache, which is modelled as a node of its own without a processor; the
    /// processor's cache is another node.
    Separate,
}

/// A configuration to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    /// The number of proxies, which are the first nodes. Each other node may read through one of
    /// them, at first or after a bounce.
    pub(super) proxies: usize,
    pub(super) copies: ProxyCopies,
    /// Whether a proxy's first client gets the block first.
    pub(super) fair: bool,
    /// The number of messages that fill a buffer, so that exactly then reads bounce; if not given,
    /// any read may bounce.
    pub(super) buffers: Option<usize>,
}

impl Variant {
    /// The proxy of a client; without proxies the node itself.
    pub(super) fn proxy_of(self, client: usize) -> usize {
        client.checked_rem(self.proxies).unwrap_or(client)
    }
}

/// Which cells were reached.
pub(super) struct ListCoverage {
    pub(super) copy: ReachedTable<CopyEvent, AnySender, CopyAction>,
    pub(super) home: ReachedTable<ListHomeEvent, ListSender, ListHomeAction>,
}

/// A nondeterministic choice of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chance {
    /// A node reads from the home; buffers have room.
    Usual,
    /// The node reads through its proxy.
    ByProxy,
    /// The receiver's buffer is full.
    Full,
    /// The proxy has no frame for a copy.
    NoFrame,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListStep {
    /// A processor's operation, or a replacement.
    Processor { node: usize, event: CopyEvent, chance: Chance },
    /// A message enters the receiver's buffer, or bounces.
    Arrive(ListedMessage),
    /// A message arrives, or is taken from the buffer.
    Deliver(ListedMessage, Chance),
}

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
    pub(super) text: StepText,
}

/// Whether an event was handled; false if it has to wait.
pub(super) type ListHappened = Promised<bool>;

impl ProtocolModel for ListModel<'_> {
    type State = ListSituation;
    type Step = ListStep;
    type Fault = BrokenDirectoryPromise;

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
            let idle = self.variant.copies == ProxyCopies::Separate && at < self.variant.proxies;
            let has_frame = node.state != 0 && !self.table.is_leaving(node.state);
            for event in [CopyEvent::Load, CopyEvent::Store, replace] {
                if (event == replace && has_frame) || (event != replace && !idle) {
                    let chances = self.chances(at, self.table.copy.cell(node.state, event));
                    steps.extend(chances.iter().map(|&chance| ListStep::Processor {
                        node: at,
                        event,
                        chance,
                    }));
                }
            }
        }
        for (at, message) in situation.messages.iter().enumerate() {
            if situation.messages[..at].contains(message) {
                continue;
            }
            if self.variant.buffers.is_some() && !message.arrived {
                steps.push(ListStep::Arrive(*message));
            } else {
                let chances = self.chances_of(situation, message);
                steps.extend(chances.iter().map(|&chance| ListStep::Deliver(*message, chance)));
                if self.variant.buffers.is_none() && may_bounce(message) {
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
    ) -> Promised<Option<ListSituation>> {
        let text = StepText::new(story.is_some());
        let chance = match *step {
            ListStep::Processor { chance, .. } | ListStep::Deliver(_, chance) => chance,
            ListStep::Arrive(_) => Chance::Usual,
        };
        let mut scene = ListScene { next: situation.clone(), chance, text };
        let happened = match *step {
            ListStep::Processor { node, event, .. } => {
                let message = of_processor(node);
                let found = &situation.nodes[node];
                let does =
                    matches!(self.table.copy.cell(found.state, event), ControllerCell::Does(..));
                // A processor performs one operation at a time.
                let waits = found.asked != Asked::Nothing && event.is_operation() && does;
                !waits && self.copy(&mut scene, node, event, &message)?
            }
            ListStep::Arrive(message) => {
                scene.next.take(&message);
                self.arrive(&mut scene, message)?;
                true
            }
            ListStep::Deliver(message, chance) => {
                scene.next.take(&message);
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
        scene.text.add_to(story);
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
        let words = |chance| match chance {
            Chance::Usual => "",
            Chance::ByProxy => ", who reads by the proxy",
            Chance::Full => ", whose buffer is full",
            Chance::NoFrame => ", who has no frame",
        };
        match *step {
            ListStep::Processor { node, event, chance } => {
                format!("node {node}, {}{}: ", event.name(), words(chance))
            }
            ListStep::Arrive(m) => format!("{} reaches {}: ", in_words(&m), who(m.to)),
            ListStep::Deliver(m, chance) => {
                format!("{} comes to {}{}: ", in_words(&m), who(m.to), words(chance))
            }
        }
    }
}

/// A message with its requester and subject, in words.
fn in_words(message: &ListedMessage) -> String {
    let name = ListMessage::ALL[usize::from(message.message)].name();
    let requester = message.requester.node;
    match message.about {
        Some(about) => format!("{name} (about a copy of node {}) for node {requester}", about.node),
        None => format!("{name} for node {requester}"),
    }
}

fn may_bounce(message: &ListedMessage) -> bool {
    ListMessage::ALL[usize::from(message.message)].may_bounce()
}

/// The message that stands for a processor's own event.
fn of_processor(node: usize) -> ListedMessage {
    let requester = Pointer::to_node(number(node));
    plain(ListMessage::Read, number(node), requester)
}

/// A message without data.
pub(super) fn plain(message: ListMessage, to: u8, requester: Pointer) -> ListedMessage {
    let message = message.index();
    let (about, data, further) = (None, Data::None, 0);
    let (due, relayed, arrived) = (false, false, false);
    ListedMessage { message, to, requester, about, further, due, relayed, data, arrived }
}

/// The nodes that may exchange their numbers: those with equivalent proxies, or without one.
fn alike(nodes: usize, variant: Variant) -> Alike {
    let proxies = variant.proxies;
    let same = |order: &Vec<usize>| {
        let proxy = |node: usize| if node < proxies { node } else { variant.proxy_of(node) };
        let kept = |node: usize| order[proxy(node)] == proxy(order[node]);
        (0..proxies).all(|node| order[node] < proxies) && (0..nodes).all(kept)
    };
    let fixed = if proxies < 2 { proxies } else { nodes };
    Alike { fixed, orders: orders(nodes).into_iter().filter(same).collect() }
}

impl<'a> ListModel<'a> {
    pub(super) fn new(
        table: &'a ListTable,
        coverage: &'a mut ListCoverage,
        nodes: usize,
        variant: Variant,
    ) -> Self {
        Self { table, coverage, nodes, variant, alike: alike(nodes, variant) }
    }

    fn chances_of(&self, situation: &ListSituation, message: &ListedMessage) -> &'static [Chance] {
        let kind = ListMessage::ALL[usize::from(message.message)];
        let node = usize::from(message.to);
        let found = situation.nodes.get(node);
        let about = found.map_or_else(CopyMatter::default, |found| self.matter(found, message));
        match (found, kind.event_at_copy(about)) {
            (Some(found), Some(event)) => {
                self.chances(node, self.table.copy.cell(found.state, event))
            }
            (None, _) | (_, None) => &[Chance::Usual],
        }
    }

    /// The state on which the event of a message depends.
    pub(super) fn matter(&self, node: &ListNode, message: &ListedMessage) -> CopyMatter {
        let tag = message.about.map(|about| about.tag);
        // A copy in flight counts as one.
        let copy = if node.reads && node.copy.is_none() { node.request } else { node.copy };
        CopyMatter {
            more: message.due || message.further > 0,
            behind: node.behind.is_some(),
            current: copy.is_some() && tag == copy,
            relays: self.variant.copies == ProxyCopies::Relayed && node.state == 0,
        }
    }

    /// The recipient of an answer to the requester: its proxy, if the proxy relays it.
    pub(super) fn receiver(&self, message: &ListedMessage) -> u8 {
        let requester = message.requester.node;
        if message.relayed {
            number(self.variant.proxy_of(usize::from(requester)))
        } else {
            requester
        }
    }

    /// The choices when a cell is followed.
    fn chances(&self, node: usize, cell: ControllerCell<CopyAction>) -> &'static [Chance] {
        let ControllerCell::Does(actions, _) = cell else { return &[Chance::Usual] };
        let asks = |action: &CopyAction| matches!(action, CopyAction::Ask | CopyAction::AskAgain);
        if self.variant.proxies == 0 || !actions.iter().any(asks) {
            &[Chance::Usual]
        } else if node >= self.variant.proxies {
            &[Chance::Usual, Chance::ByProxy]
        } else if actions.contains(&CopyAction::Chain) {
            &[Chance::Usual, Chance::NoFrame]
        } else {
            &[Chance::Usual]
        }
    }

    /// A message enters the receiver's buffer; if that is full, a read bounces.
    fn arrive(&self, scene: &mut ListScene, message: ListedMessage) -> Promised<()> {
        let here = |other: &&ListedMessage| other.arrived && other.to == message.to;
        let there = scene.next.messages.iter().filter(here).count();
        if may_bounce(&message) && self.variant.buffers.is_some_and(|room| there >= room) {
            return self.send_back(scene, &message);
        }
        scene.next.messages.push(ListedMessage { arrived: true, ..message });
        Ok(())
    }

    /// A read bounces to its sender.
    fn send_back(&self, scene: &mut ListScene, message: &ListedMessage) -> Promised<()> {
        let (to, requester) = (self.receiver(message), message.requester);
        self.send(scene, plain(ListMessage::Bounce, to, requester))
    }

    pub(super) fn send(&self, scene: &mut ListScene, message: ListedMessage) -> Promised<()> {
        if scene.next.messages.len() >= MESSAGES_MAX {
            return flood();
        }
        let name = ListMessage::ALL[usize::from(message.message)].name();
        scene.text.log(format_args!("{name} to {}. ", who(message.to)));
        scene.next.messages.push(message);
        Ok(())
    }
}
