//! The model of a page protocol that the search explores.

use homenode_protocol::{Labelled, ProtocolModel};

use super::controllers::plain;
use super::situation::{
    CheckedAccess, CheckedPageMessage, CheckedProcessor, MESSAGES_MAX, PageSituation, WORDS,
};
use crate::cell::AnySender;
use crate::finding::{
    BrokenDirectoryPromise, Data, DirectoryFindingKind as Kind, HOME, Promised, ReachedTable,
    StepText, broken, flood, number, who,
};
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{
    MappingAction, MappingEvent, PageHomeAction, PageHomeEvent, PageMessage, PagePermission,
    PageSender, ReleaseAction, ReleaseEvent,
};

/// Which cells were reached.
pub(super) struct PageCoverage {
    pub(super) mapping: ReachedTable<MappingEvent, AnySender, MappingAction>,
    pub(super) release: ReachedTable<ReleaseEvent, AnySender, ReleaseAction>,
    pub(super) home: ReachedTable<PageHomeEvent, PageSender, PageHomeAction>,
}

/// A step of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageStep {
    /// A processor reads or writes a word.
    Access(usize, CheckedAccess),
    /// A processor acquires everything released so far.
    Acquire(usize),
    /// A processor releases.
    Release(usize),
    /// The line is replaced in a cache.
    Replace(usize),
    /// A message arrives.
    Deliver(CheckedPageMessage),
}

/// Some nodes under one protocol.
pub(super) struct PageModel<'a> {
    pub(super) table: &'a PagedTable,
    pub(super) coverage: &'a mut PageCoverage,
    pub(super) nodes: usize,
    /// All orders of the nodes.
    pub(super) orders: Vec<Vec<usize>>,
}

impl PageModel<'_> {
    /// A node with this number of unacknowledged write-backs begins no write. Releases that do not
    /// wait for them could leave any number; to the protocol only matters whether there are any.
    /// Two of a node are explored with two nodes, as three nodes with two each are too many states.
    fn unacknowledged_max(&self) -> u8 {
        match (self.table.modified_overtakes(), self.nodes) {
            (false, _) => u8::MAX,
            (true, 2) => 2,
            (true, _) => 1,
        }
    }
}

/// A step that is being performed.
pub(super) struct PageScene {
    pub(super) next: PageSituation,
    pub(super) text: StepText,
    /// The home's reply to a cache, which takes no time: a delay of the request has the same
    /// effect, and only the cache sees the reply.
    pub(super) at_once: Option<CheckedPageMessage>,
}

/// Whether an event was handled; false if it has to wait.
pub(super) type Happened = Promised<bool>;

impl ProtocolModel for PageModel<'_> {
    type State = PageSituation;
    type Step = PageStep;
    type Fault = BrokenDirectoryPromise;

    fn start(&self) -> PageSituation {
        PageSituation::start(&self.orders)
    }

    fn steps(&self, situation: &PageSituation) -> Vec<PageStep> {
        let mut steps = Vec::new();
        for (at, node) in situation.nodes[..self.nodes].iter().enumerate() {
            if node.processor != CheckedProcessor::Idle {
                continue;
            }
            steps.push(PageStep::Access(at, CheckedAccess::Load));
            for word in 0..WORDS {
                // Two writes of which neither is ordered before the other are a race.
                if node.knows[word]
                    && node.writing < self.unacknowledged_max()
                    && !self.is_stored(situation, word)
                {
                    steps.push(PageStep::Access(at, CheckedAccess::Store(word)));
                }
            }
            steps.extend([PageStep::Acquire(at), PageStep::Release(at)]);
            if node.dirty != [false; WORDS] {
                steps.push(PageStep::Replace(at));
            }
        }
        for (at, message) in situation.messages.iter().enumerate() {
            if !situation.messages[..at].contains(message) {
                steps.push(PageStep::Deliver(*message));
            }
        }
        steps
    }

    fn perform(
        &mut self,
        situation: &PageSituation,
        step: &PageStep,
        story: Option<&mut String>,
    ) -> Promised<Option<PageSituation>> {
        let text = StepText::new(story.is_some());
        let mut scene = PageScene { next: situation.clone(), text, at_once: None };
        let happened = match *step {
            PageStep::Access(node, access) => {
                let event = match access {
                    CheckedAccess::Load => MappingEvent::Load,
                    CheckedAccess::Store(_) => MappingEvent::Store,
                };
                scene.next.nodes[node].processor = CheckedProcessor::Faults(access);
                self.mapping(&mut scene, node, event, None)?
            }
            PageStep::Acquire(node) => {
                let released = scene.next.released;
                let knows = &mut scene.next.nodes[node].knows;
                knows.iter_mut().zip(released).for_each(|(knows, released)| *knows |= released);
                self.mapping(&mut scene, node, MappingEvent::Acquire, None)?
            }
            PageStep::Release(node) => {
                scene.next.nodes[node].processor = CheckedProcessor::Releases;
                self.release(&mut scene, node, ReleaseEvent::Release)?
            }
            PageStep::Replace(node) => {
                Self::write_back(&mut scene, node)?;
                scene.next.nodes[node].line = [Data::None; WORDS];
                true
            }
            PageStep::Deliver(message) => {
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
        scene.next.settle(&self.orders);
        Ok(Some(scene.next))
    }

    /// Nothing is in flight, and all writes are released.
    fn is_at_rest(&self, situation: &PageSituation) -> bool {
        situation.messages.is_empty()
            && situation.nodes[..self.nodes].iter().all(|node| {
                node.processor == CheckedProcessor::Idle
                    && self.table.mapping.rests(node.mapping)
                    && self.table.release.rests(node.release)
            })
    }

    fn describe(&self, step: &PageStep) -> String {
        match step {
            PageStep::Access(node, CheckedAccess::Load) => format!("node {node} reads: "),
            PageStep::Access(node, CheckedAccess::Store(word)) => {
                format!("node {node} writes word {word}: ")
            }
            PageStep::Acquire(node) => format!("node {node} acquires: "),
            PageStep::Release(node) => format!("node {node} releases: "),
            PageStep::Replace(node) => format!("node {node} replaces the line: "),
            PageStep::Deliver(m) => {
                let name = PageMessage::ALL[usize::from(m.message)].name();
                format!("{name} from {} comes to {}: ", who(m.from), who(m.to))
            }
        }
    }
}

impl PageModel<'_> {
    /// Whether a write of a word is outstanding.
    fn is_stored(&self, situation: &PageSituation, word: usize) -> bool {
        situation.nodes[..self.nodes].iter().any(|node| match node.processor {
            CheckedProcessor::Faults(access) | CheckedProcessor::Fetches(access) => {
                access == CheckedAccess::Store(word)
            }
            CheckedProcessor::Idle | CheckedProcessor::Releases => false,
        })
    }

    /// Checks the invariants, and those at rest.
    fn check(&self, situation: &PageSituation) -> Promised<()> {
        let home = &situation.home;
        match (self.table.is_weak(home.state), home.contended) {
            (true, false) => {
                let message = "the page is weak, but since it was last unmapped no two nodes have \
                               mapped it, one of them read-write";
                return broken(Kind::WrongWeakList, message);
            }
            (false, true) => {
                let message =
                    "several nodes map the page, one of them read-write, and it is not weak";
                return broken(Kind::WrongWeakList, message);
            }
            (true, true) | (false, false) => {}
        }
        let mapped = |node: usize| {
            self.table.permission(situation.nodes[node].mapping) != PagePermission::None
        };
        let listed = |node: usize| home.listed >> node & 1 != 0;
        for (at, node) in situation.nodes[..self.nodes].iter().enumerate() {
            if self.table.release.rests(node.release) && node.due != 0 {
                let effect = format!("a release of node {at} has taken effect");
                let message = format!("{effect}, and a notice is not acknowledged");
                return broken(Kind::NotDone, message);
            }
            if usize::from(node.due.unsigned_abs()) > self.nodes
                || usize::from(node.writing) > self.nodes
            {
                return flood();
            }
        }
        if let Some(node) = (0..self.nodes).find(|&node| mapped(node) && !listed(node)) {
            let message = format!("node {node} maps the page and is not listed");
            return broken(Kind::WrongList, message);
        }
        if !self.is_at_rest(situation) {
            return Ok(());
        }
        if let Some(node) = (0..self.nodes).find(|&node| listed(node) && !mapped(node)) {
            let listed = format!("node {node} is listed and does not map the page");
            return broken(Kind::WrongList, format!("nothing is under way, {listed}"));
        }
        for (at, node) in situation.nodes[..self.nodes].iter().enumerate() {
            if node.dirty != [false; WORDS] {
                let message = format!("node {at} has released everything and has dirty words");
                return broken(Kind::NotDone, message);
            }
        }
        match home.memory.iter().position(|&word| word != Data::Latest) {
            Some(word) => {
                let lacks = format!("memory has not got what was written last to word {word}");
                broken(Kind::LostWrite, format!("everything is released, and {lacks}"))
            }
            None => Ok(()),
        }
    }

    /// The processor's access goes to the cache.
    pub(super) fn access(
        &mut self,
        scene: &mut PageScene,
        node: usize,
        access: CheckedAccess,
    ) -> Promised<()> {
        let found = &mut scene.next.nodes[node];
        let permission = self.table.permission(found.mapping);
        let permitted = match permission {
            PagePermission::None => false,
            PagePermission::Read => access == CheckedAccess::Load,
            PagePermission::Write => true,
        };
        if !permitted {
            return not_permitted(node);
        }
        if found.line == [Data::None; WORDS] {
            found.processor = CheckedProcessor::Fetches(access);
            // A line is fetched only after memory has acknowledged its write-back.
            return if found.writing == 0 { self.fetch(scene, node) } else { Ok(()) };
        }
        found.processor = CheckedProcessor::Idle;
        if let CheckedAccess::Store(word) = access {
            scene.next.write(node, word);
            scene.text.log(format_args!("word {word} is written. "));
            return self.release(scene, node, ReleaseEvent::Store).map(|_| ());
        }
        let words = found.line.iter().zip(found.knows);
        let stale =
            words.map(|(&data, knows)| knows && data != Data::Latest).position(|stale| stale);
        scene.text.log(format_args!("the words are read. "));
        match stale {
            Some(word) => {
                let old = format!("node {node} reads an old value of word {word}");
                let order = "whose last write was released before the node's acquire";
                broken(Kind::StaleRead, format!("{old}, {order}"))
            }
            None => Ok(()),
        }
    }

    /// A cache fetches the line, which takes no time: a later access, or a later answer to the
    /// fault, has the same effect.
    fn fetch(&mut self, scene: &mut PageScene, node: usize) -> Promised<()> {
        let from = number(node);
        let fetch = plain(PageMessage::Fetch, from, HOME);
        self.deliver(scene, &CheckedPageMessage { requester: from, ..fetch }).map(|_| ())
    }

    /// The dirty words of a node's cache go to memory; the line stays.
    pub(super) fn write_back(scene: &mut PageScene, node: usize) -> Promised<()> {
        let found = &mut scene.next.nodes[node];
        if found.dirty == [false; WORDS] {
            return Ok(());
        }
        let mut words = found.line;
        for (word, dirty) in words.iter_mut().zip(std::mem::take(&mut found.dirty)) {
            if !dirty {
                *word = Data::None;
            }
        }
        found.writing += 1;
        Self::send_home(scene, PageMessage::WriteBack, node, words)
    }

    /// Reports the end of all write-backs of the page, unless one is outstanding.
    pub(super) fn written_back(&mut self, scene: &mut PageScene, node: usize) -> Happened {
        if scene.next.nodes[node].writing > 0 {
            return Ok(true);
        }
        if let CheckedProcessor::Fetches(_) = scene.next.nodes[node].processor {
            self.fetch(scene, node)?;
        }
        self.mapping(scene, node, MappingEvent::WrittenBack, None)?;
        self.release(scene, node, ReleaseEvent::WrittenBack)
    }

    pub(super) fn send_home(
        scene: &mut PageScene,
        message: PageMessage,
        node: usize,
        words: [Data; WORDS],
    ) -> Promised<()> {
        let (from, to) = (number(node), HOME);
        let message = message.index();
        Self::send(scene, CheckedPageMessage { message, from, to, requester: from, due: 0, words })
    }

    pub(super) fn send(scene: &mut PageScene, message: CheckedPageMessage) -> Promised<()> {
        if scene.next.messages.len() >= MESSAGES_MAX {
            return flood();
        }
        let name = PageMessage::ALL[usize::from(message.message)].name();
        scene.text.log(format_args!("{name} to {}. ", who(message.to)));
        scene.next.messages.push(message);
        Ok(())
    }
}

pub(super) fn not_permitted<T>(node: usize) -> Promised<T> {
    let message = format!("node {node} may do more with the page than home has answered it may");
    broken(Kind::NotPermitted, message)
}
