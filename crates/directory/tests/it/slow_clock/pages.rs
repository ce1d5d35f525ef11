//! Homes of pages, and pages that are not mapped.

use std::collections::{BTreeMap, BTreeSet};

use super::events::{Happening, Note, Says};
use super::{SlowClock, SlowHome};

#[derive(Default)]
pub(super) struct SlowPages {
    /// The home of each page that has one, and whether it stays.
    homes: BTreeMap<u64, (usize, bool)>,
    mapped: BTreeSet<u64>,
    /// Pages being mapped, and the nodes that wait for them.
    mapping: BTreeMap<u64, Vec<usize>>,
    pub(super) initialised: bool,
}

impl SlowClock {
    fn page_of(&self, block: u64) -> u64 {
        block * self.machine.block / self.machine.page
    }

    fn by_use(&self) -> bool {
        let home = self.machine.home;
        home == SlowHome::FirstTouch || (home == SlowHome::FirstUse && self.pages.initialised)
    }

    /// The home of a block's page; a page without a home gets one.
    pub(super) fn home_from_now(&mut self, node: usize, block: u64) -> usize {
        let page = self.page_of(block);
        let turn = self.pages.homes.len() % self.machine.memories();
        let first = match self.machine.home {
            _ if self.by_use() => self.machine.memory_of(node),
            SlowHome::Fixed(home) => home,
            _ => turn,
        };
        self.pages.homes.entry(page).or_insert((first, false)).0
    }

    pub(super) fn home_of(&self, block: u64) -> usize {
        self.pages.homes[&self.page_of(block)].0
    }

    pub(super) fn home_if_any(&self, block: u64) -> Option<usize> {
        self.pages.homes.get(&self.page_of(block)).map(|home| home.0)
    }

    pub(super) fn is_mapped(&self, block: u64) -> bool {
        !self.by_use() || self.pages.mapped.contains(&self.page_of(block))
    }

    /// A processor refers to a page that is not mapped.
    pub(super) fn fault(&mut self, node: usize, block: u64) {
        self.add("page_faults", 1);
        self.home_from_now(node, block);
        let page = self.page_of(block);
        if let Some(waiting) = self.pages.mapping.get_mut(&page) {
            waiting.push(node);
            self.see("a page is waited for that another maps");
            return;
        }
        self.pages.mapping.insert(page, vec![node]);
        self.plan(self.now + self.machine.page_fault, node, Happening::Trapped(node, page));
    }

    pub(super) fn trapped(&mut self, node: usize, page: u64) {
        let (home, _) = self.pages.homes[&page];
        if home == self.machine.memory_of(node) {
            self.page_written(node, page);
        } else {
            let first = page * self.machine.page / self.machine.block;
            let home = self.machine.end_point(home, first);
            self.say(Note::new(node, home, Says::AsksPage, page));
        }
    }

    /// The page is in the memory of its home.
    pub(super) fn page_written(&mut self, node: usize, page: u64) {
        let memory = self.machine.memory_of(node);
        let (home, _) = self.pages.homes.insert(page, (memory, true)).unwrap();
        self.add("pages_moved", u64::from(home != memory));
        self.plan(self.now + self.machine.page_table, node, Happening::PageMapped(page));
    }

    pub(super) fn page_mapped(&mut self, page: u64) {
        self.pages.mapped.insert(page);
        for node in self.pages.mapping.remove(&page).unwrap() {
            self.plan(self.now, node, Happening::GoesOn(node));
        }
    }
}
