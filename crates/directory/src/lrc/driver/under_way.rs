//! Outstanding messages of a node.

use rustc_hash::FxHashMap;

/// Outstanding messages of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PageUnderWay {
    /// Write-backs without an acknowledgement.
    write_backs: u32,
    /// Acknowledgements of notices due; negative if some arrived before their number was known.
    due: i32,
}

/// Outstanding messages of a node, for the few pages that have any.
#[derive(Clone, Debug, Default)]
pub(super) struct PagesUnderWay {
    pages: FxHashMap<u32, PageUnderWay>,
}

impl PagesUnderWay {
    /// Adds write-backs of `lines` lines. Returns the number of outstanding write-backs.
    pub(super) fn wrote_back(&mut self, page: u32, lines: u32) -> u32 {
        self.change(page, |found| found.write_backs += lines).write_backs
    }

    /// A write-back is acknowledged.
    pub(super) fn written_back(&mut self, page: u32) {
        self.change(page, |found| found.write_backs = found.write_backs.saturating_sub(1));
    }

    /// Changes the number of acknowledgements due. Returns the new number.
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
