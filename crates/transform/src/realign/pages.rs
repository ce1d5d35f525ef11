//! The uses of pages in a window.

use super::report::FalseSharing;
use super::scan::WindowUse;

/// Pages of a window. Words are added in order of their original addresses, so the pages of words
/// that have not moved come in order, and only those of moved words need a table.
#[derive(Default)]
pub(super) struct Pages {
    found: Vec<WindowUse>,
    names: Vec<PageName>,
    last: Option<u32>,
    /// By number of a new page: its index in `found`, which is valid only if `names` confirms it:
    /// the table is not cleared from window to window.
    new_page_index: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageName {
    /// A page of the original trace, by block number.
    Original(u64),
    /// A new page, by its count from 0.
    New(usize),
}

impl Pages {
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.names.clear();
        self.last = None;
    }

    /// Adds a word that is on this page; returns the index of the page.
    #[inline]
    pub(super) fn add(&mut self, page: PageName, word: &WindowUse) -> u32 {
        let place = match page {
            PageName::Original(_) => self.last,
            PageName::New(number) => self.new_page_index.get(number).copied(),
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
            PageName::Original(_) => self.last = Some(place),
            PageName::New(number) => {
                if number >= self.new_page_index.len() {
                    self.new_page_index.resize(number + 1, u32::MAX);
                }
                self.new_page_index[number] = place;
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

    pub(super) fn falsely_shared(&self) -> FalseSharing {
        let mut total = FalseSharing::default();
        for page in self.found.iter().filter(|page| page.several && page.written && page.mixed) {
            total.pages += 1;
            total.references += u64::from(page.references);
        }
        total
    }
}
