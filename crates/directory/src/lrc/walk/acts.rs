//! Logged actions, with names instead of numbers.

use homenode_protocol::Labelled;

use super::PageRecorder;
use super::scene::{LineView, PageAct, PageEntry, PageView, PagedScene};
use crate::cell::MessageWay;
use crate::lrc::driver::{ObservedPageAct, ObservedPageController, ObservedPageMessage};
use crate::record::{ActCause, WalkMessage};
use crate::sheet::{self, SheetAction};

/// The use of a controller's cell, with names.
struct NamedCell {
    controller: &'static str,
    event: &'static str,
    sender: Option<&'static str>,
    /// State and next state, of a controller with a table.
    states: Option<[&'static str; 2]>,
    actions: Vec<SheetAction>,
}

impl NamedCell {
    /// A cell of a controller with a table.
    fn of_table(
        controller: &'static str,
        event: &'static str,
        sender: Option<&'static str>,
        states: [&'static str; 2],
        actions: Vec<SheetAction>,
    ) -> Self {
        Self { controller, event, sender, states: Some(states), actions }
    }

    /// An action of a cache or memory, which have no table.
    fn without_table(controller: &'static str, event: &'static str, action: &str) -> Self {
        let actions = vec![SheetAction::does(action)];
        Self { controller, event, sender: None, states: None, actions }
    }
}

impl PageRecorder<'_> {
    /// Each node's mapping of a page.
    pub(super) fn mappings(&mut self, page: usize) -> Vec<&'static str> {
        let address = self.pages[page].address;
        let (nodes, table) = (self.nodes, self.table);
        let memory = &mut self.engine;
        let found = memory.page_snapshot(address >> memory.shift(), nodes);
        found.nodes.iter().map(|&(mapping, _)| table.mapping.name(mapping)).collect()
    }

    /// The current state of all pages and lines.
    pub(super) fn scene(&mut self) -> PagedScene {
        let Self { nodes, table, .. } = *self;
        let memory = &mut self.engine;
        let shift = memory.shift();
        let page = |page: &super::WalkPage| {
            let found = memory.page_snapshot(page.address >> shift, nodes);
            let (state, listed) = found.entry;
            let states = found.nodes.iter();
            PageView {
                entry: PageEntry { home: found.home, state: table.home.name(state), listed },
                mappings: states.clone().map(|&(mapping, _)| table.mapping.name(mapping)).collect(),
                releases: states.map(|&(_, release)| table.release.name(release)).collect(),
            }
        };
        let pages = self.pages.iter().map(page).collect();
        let memory = &mut self.engine;
        let line = |line| {
            let (data, dirty) = memory.line_snapshot(line, usize::from(nodes));
            LineView { data, dirty }
        };
        PagedScene { pages, lines: self.blocks.iter().map(line).collect() }
    }

    pub(super) fn act(&mut self, observed: ObservedPageAct) -> PageAct {
        let ObservedPageAct { page, node, message, controller, entry } = observed;
        let memory = &mut self.engine;
        let (home, shift) = (memory.home_of(page), memory.shift());
        let at = |address: u64| memory.page_of(address >> shift) == Some(page);
        let page = self.pages.iter().position(|page| at(page.address)).unwrap_or(0);
        let line = message.and_then(|message| message.block);
        let block = line
            .and_then(|line| self.blocks.iter().position(|block| block.address >> shift == line));
        let is_home = matches!(controller, ObservedPageController::Home(..));
        let at_home = message.map_or(home, |message| message.ends.1);
        let cause = match (&message, controller) {
            (Some(_), _) => ActCause::Message,
            (None, ObservedPageController::Mapping(event, ..)) if event.is_of_processor() => {
                ActCause::Processor
            }
            (None, ObservedPageController::Release(event, ..)) if event.is_of_processor() => {
                ActCause::Processor
            }
            (None, ObservedPageController::Cache(..)) => ActCause::Processor,
            (None, _) => ActCause::Node,
        };
        let NamedCell { controller, event, sender, states, actions } = self.named(controller);
        let (state, listed) = entry;
        PageAct {
            page,
            block,
            cause,
            message: message.map(|message| self.message(message)),
            node: if is_home { at_home } else { node },
            controller,
            event,
            sender,
            state: states.map(|names| names[0]),
            next: states.map(|names| names[1]),
            actions,
            entry: PageEntry { home: Some(home), state: self.table.home.name(state), listed },
        }
    }

    fn named(&self, controller: ObservedPageController) -> NamedCell {
        let table = self.table;
        match controller {
            ObservedPageController::Mapping(event, actions, (state, next)) => {
                let names = [state, next].map(|state| table.mapping.name(state));
                let actions = actions.iter().map(|&action| action.into()).collect();
                NamedCell::of_table(sheet::MAPPING, event.name(), None, names, actions)
            }
            ObservedPageController::Release(event, actions, (state, next)) => {
                let names = [state, next].map(|state| table.release.name(state));
                let actions = actions.iter().map(|&action| action.into()).collect();
                NamedCell::of_table(sheet::RELEASE, event.name(), None, names, actions)
            }
            ObservedPageController::Home(event, sender, actions, (state, next)) => {
                let names = [state, next].map(|state| table.home.name(state));
                let actions = actions.iter().map(|&action| action.into()).collect();
                NamedCell::of_table(sheet::HOME, event.name(), Some(sender.name()), names, actions)
            }
            ObservedPageController::Cache(event, done) => {
                NamedCell::without_table(sheet::CACHE, event, done)
            }
            ObservedPageController::Memory(event, done) => {
                NamedCell::without_table("memory", event, done)
            }
        }
    }

    fn message(&mut self, observed: ObservedPageMessage) -> WalkMessage {
        let ObservedPageMessage { message, ends: (from, to), .. } = observed;
        let way = if from == to { MessageWay::Within } else { MessageWay::Network };
        // A page that moves is counted as such, and not as a message.
        let counts = from != to && message.is_some();
        self.crossed += u64::from(counts);
        WalkMessage {
            name: message.map_or("page", |message| message.name()),
            kind: message.map_or("page", |message| message.counted_as()),
            from,
            to,
            way,
            number: counts.then_some(self.crossed),
        }
    }
}
