//! What a node waits for.

use rustc_hash::FxHashMap;

/// What is under way of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageUnderWay {
    /// Write-backs that are not acknowledged.
    write_backs: u32,
    /// Acknowledgements of notices that are due, less those that came before that was known.
    due: i32,
}

/// What a node waits for, of the pages for which there is anything: few at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct PagesUnderWay {
    pages: FxHashMap<u32, PageUnderWay>,
}

impl PagesUnderWay {
    /// So many lines are written back. Returns how many write-backs of the page are under way.
    pub(super) fn wrote_back(&mut self, page: u32, lines: u32) -> u32 {
        self.change(page, |found| found.write_backs += lines).write_backs
    }

    /// A write-back is acknowledged.
    pub(super) fn written_back(&mut self, page: u32) {
        self.change(page, |found| found.write_backs = found.write_backs.saturating_sub(1));
    }

    /// Changes how many acknowledgements are due. Returns how many are now.
    pub(super) fn change_due(&mut self, page: u32, change: i32) -> i32 {
        if change == 0 && self.pages.is_empty() {
            return 0;
        }
        self.change(page, |found| found.due += change).due
    }

    fn change(&mut self, page: u32, change: impl FnOnce(&mut PageUnderWay)) -> PageUnderWay {
        let entry = self.pages.entry(page).or_default();
        change(entry);
        let found = *entry;
        if found == PageUnderWay::default() {
            self.pages.remove(&page);
        }
        found
    }
}
