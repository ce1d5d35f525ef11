//! The model of a page protocol that the search explores.

use std::fmt::Write;

use homenode_protocol::{Labelled, ProtocolModel};

use super::broken_promise::BrokenPagePromise;
use super::controllers::plain;
use super::situation::{
    CheckedAccess, CheckedPageMessage, CheckedProcessor, HOME, MESSAGES_MAX, PageSituation, WORDS,
};
use crate::finding::Data;
use crate::lrc::table::PagedTable;
use crate::lrc::vocabulary::{MappingEvent, PageMessage, PagePermission, ReleaseEvent};

/// Which cells were reached.
#[derive(Clone, Debug)]
pub(super) struct PageCoverage {
    pub(super) mapping: Vec<bool>,
    pub(super) release: Vec<bool>,
    pub(super) home: Vec<bool>,
}

impl PageCoverage {
    pub(super) fn new(table: &PagedTable) -> Self {
        Self {
            mapping: vec![false; table.mapping.cell_count()],
            release: vec![false; table.release.cell_count()],
            home: vec![false; table.home.cell_count()],
        }
    }
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

/// A step that is being performed.
pub(super) struct PageScene {
    pub(super) next: PageSituation,
    /// Description of the step, if requested.
    text: Option<String>,
    /// The home's reply to a cache, which takes no time: a delay of the request has the same
    /// effect, and only the cache sees the reply.
    pub(super) at_once: Option<CheckedPageMessage>,
}

impl PageScene {
    pub(super) fn log(&mut self, what: std::fmt::Arguments<'_>) {
        if let Some(text) = &mut self.text {
            let _ = text.write_fmt(what);
        }
    }
}

/// Whether an event was handled; false if it has to wait.
pub(super) type Happened = Result<bool, BrokenPagePromise>;

/// The number of a node in messages.
pub(super) fn number(node: usize) -> u8 {
    u8::try_from(node).unwrap_or(HOME)
}

impl ProtocolModel for PageModel<'_> {
    type State = PageSituation;
    type Step = PageStep;
    type Fault = BrokenPagePromise;

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
                if node.knows[word] && !self.is_stored(situation, word) {
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
    ) -> Result<Option<PageSituation>, BrokenPagePromise> {
        let text = story.is_some().then(String::new);
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
        if let (Some(story), Some(text)) = (story, &scene.text) {
            story.push_str(text);
        }
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

/// A sender or receiver in words.
pub(super) fn who(number: u8) -> String {
    if number == HOME { "home".to_owned() } else { format!("node {number}") }
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
    fn check(&self, situation: &PageSituation) -> Result<(), BrokenPagePromise> {
        let home = &situation.home;
        match (self.table.is_weak(home.state), home.contended) {
            (true, false) => return Err(BrokenPagePromise::WeakAlone),
            (false, true) => return Err(BrokenPagePromise::NotWeak),
            (true, true) | (false, false) => {}
        }
        let mapped = |node: usize| {
            self.table.permission(situation.nodes[node].mapping) != PagePermission::None
        };
        let listed = |node: usize| home.listed >> node & 1 != 0;
        for (at, node) in situation.nodes[..self.nodes].iter().enumerate() {
            if self.table.release.rests(node.release) && node.due != 0 {
                return Err(BrokenPagePromise::NotAcknowledged { node: at });
            }
            if usize::from(node.due.unsigned_abs()) > self.nodes
                || usize::from(node.writing) > self.nodes
            {
                return Err(BrokenPagePromise::Flood);
            }
        }
        if let Some(node) = (0..self.nodes).find(|&node| mapped(node) && !listed(node)) {
            return Err(BrokenPagePromise::NotListed { node });
        }
        if !self.is_at_rest(situation) {
            return Ok(());
        }
        if let Some(node) = (0..self.nodes).find(|&node| listed(node) && !mapped(node)) {
            return Err(BrokenPagePromise::NotMapped { node });
        }
        for (at, node) in situation.nodes[..self.nodes].iter().enumerate() {
            if node.dirty != [false; WORDS] {
                return Err(BrokenPagePromise::NotReleased { node: at });
            }
        }
        match home.memory.iter().position(|&word| word != Data::Latest) {
            Some(word) => Err(BrokenPagePromise::Lost { word }),
            None => Ok(()),
        }
    }

    /// The processor's access goes to the cache.
    pub(super) fn access(
        &mut self,
        scene: &mut PageScene,
        node: usize,
        access: CheckedAccess,
    ) -> Result<(), BrokenPagePromise> {
        let found = &mut scene.next.nodes[node];
        let permission = self.table.permission(found.mapping);
        let permitted = match permission {
            PagePermission::None => false,
            PagePermission::Read => access == CheckedAccess::Load,
            PagePermission::Write => true,
        };
        if !permitted {
            return Err(BrokenPagePromise::NotPermitted { node });
        }
        if found.line == [Data::None; WORDS] {
            found.processor = CheckedProcessor::Fetches(access);
            // A line is fetched only after memory has acknowledged its write-back.
            return if found.writing == 0 { self.fetch(scene, node) } else { Ok(()) };
        }
        found.processor = CheckedProcessor::Idle;
        if let CheckedAccess::Store(word) = access {
            scene.next.write(node, word);
            scene.log(format_args!("word {word} is written. "));
            return self.release(scene, node, ReleaseEvent::Store).map(|_| ());
        }
        let words = found.line.iter().zip(found.knows);
        let stale =
            words.map(|(&data, knows)| knows && data != Data::Latest).position(|stale| stale);
        scene.log(format_args!("the words are read. "));
        match stale {
            Some(word) => Err(BrokenPagePromise::Stale { node, word }),
            None => Ok(()),
        }
    }

    /// A cache fetches the line, which takes no time: a later access, or a later answer to the
    /// fault, has the same effect.
    fn fetch(&mut self, scene: &mut PageScene, node: usize) -> Result<(), BrokenPagePromise> {
        let from = number(node);
        let fetch = plain(PageMessage::Fetch, from, HOME);
        self.deliver(scene, &CheckedPageMessage { requester: from, ..fetch }).map(|_| ())
    }

    /// The dirty words of a node's cache go to memory; the line stays.
    pub(super) fn write_back(scene: &mut PageScene, node: usize) -> Result<(), BrokenPagePromise> {
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
    ) -> Result<(), BrokenPagePromise> {
        let (from, to) = (number(node), HOME);
        let message = message.index();
        Self::send(scene, CheckedPageMessage { message, from, to, requester: from, due: 0, words })
    }

    pub(super) fn send(
        scene: &mut PageScene,
        message: CheckedPageMessage,
    ) -> Result<(), BrokenPagePromise> {
        if scene.next.messages.len() >= MESSAGES_MAX {
            return Err(BrokenPagePromise::Flood);
        }
        let name = PageMessage::ALL[usize::from(message.message)].name();
        scene.log(format_args!("{name} to {}. ", who(message.to)));
        scene.next.messages.push(message);
        Ok(())
    }
}
