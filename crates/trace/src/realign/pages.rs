//! What a window does with the pages on which its words are.

use super::report::FalseSharing;
use super::scan::WindowUse;

/// Pages of a window. Words come in order of their original addresses: those that have not moved
/// bring their pages one after the other, those that have bring them in any order.
#[derive(Default)]
pub(super) struct Pages {
    found: Vec<WindowUse>,
    /// Number of each page: of an original one its block, of a new one its count from the last.
    names: Vec<PageName>,
    /// The last original page.
    last: Option<u32>,
    /// By number of a new page: where in `found` it is, if it is there.
    fresh: Vec<u32>,
}

/// Which page it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageName {
    /// A page of the original trace, by block number.
    Old(u64),
    /// A new page, by its count from 0.
    New(usize),
}

impl Pages {
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.names.clear();
        self.last = None;
    }

    /// Adds a word that is on this page; returns the place of the page here.
    #[inline]
    pub(super) fn add(&mut self, page: PageName, word: &WindowUse) -> u32 {
        let place = match page {
            PageName::Old(_) => self.last,
            PageName::New(number) => self.fresh.get(number).copied(),
        };
        let place = place.unwrap_or(u32::MAX);
        if self.names.get(place as usize) == Some(&page) {
            self.found[place as usize].add(word);
            return place;
        }
        let place = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        self.found.push(WindowUse { mixed: false, ..*word });
        self.names.push(page);
        match page {
            PageName::Old(_) => self.last = Some(place),
            PageName::New(number) => {
                if number >= self.fresh.len() {
                    self.fresh.resize(number + 1, u32::MAX);
                }
                self.fresh[number] = place;
            }
        }
        place
    }

    /// Whether several threads reference the page and one writes it.
    #[inline]
    pub(super) fn may_be_falsely_shared(&self, place: u32) -> bool {
        let page = &self.found[place as usize];
        page.several && page.written
    }

    /// The falsely shared pages, and the references to them.
    pub(super) fn falsely_shared(&self) -> FalseSharing {
        let mut total = FalseSharing::default();
        for page in self.found.iter().filter(|page| page.several && page.written && page.mixed) {
            total.pages += 1;
            total.references += u64::from(page.references);
        }
        total
    }
}
