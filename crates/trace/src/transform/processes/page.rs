//! Whose a page is.

use std::ops::Range;

use crate::model::{AddressRange, RangeKind};

/// Who makes less than this part of the references that another one makes does not count.
const MINOR: u64 = 64;

/// What one process does with a page.
#[derive(Clone, Copy, Debug)]
struct Use {
    pid: u32,
    private: bool,
    references: u64,
    /// Rows of its first and last reference.
    first: u64,
    last: u64,
}

/// Who touches a page in user mode, and for whom the kernel does.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    user: Vec<Use>,
    kernel: Vec<Use>,
}

impl Page {
    /// A reference, with its row.
    pub(super) fn add(&mut self, pid: u32, kernel: bool, row: u64) {
        let uses = if kernel { &mut self.kernel } else { &mut self.user };
        let new = Use { pid, private: false, references: 0, first: row, last: row };
        let at = uses.iter().position(|known| known.pid == pid).unwrap_or_else(|| {
            uses.push(new);
            uses.len() - 1
        });
        // Who was here last most often comes again.
        uses.swap(0, at);
        uses[0].references += 1;
        uses[0].last = row;
    }

    /// Decides whose it is; `together`: it is of memory that processes have together.
    pub(super) fn settle(&mut self, together: bool) {
        settle(&mut self.user, together);
        settle(&mut self.kernel, together);
        for user in &mut self.kernel {
            let own = |of: &Use| of.pid == user.pid && of.private;
            user.private &= self.user.is_empty() || self.user.iter().any(own);
        }
    }

    /// Whether it is private to the process, for what it does itself or the kernel does for it.
    pub(super) fn is_private(&self, pid: u32, kernel: bool) -> bool {
        let uses = if kernel { &self.kernel } else { &self.user };
        uses.iter().any(|user| user.pid == pid && user.private)
    }

    /// Whether it is touched in user mode and is nobody's.
    pub(super) fn is_shared(&self) -> bool {
        !self.user.is_empty() && self.owners().next().is_none()
    }

    /// To whom it is private.
    pub(super) fn owners(&self) -> impl Iterator<Item = u32> {
        self.user.iter().filter(|user| user.private).map(|user| user.pid)
    }

    /// To whom it is private, if only the kernel touches it.
    pub(super) fn kernel_owners(&self) -> impl Iterator<Item = u32> {
        let uses = self.kernel.iter().filter(|user| user.private && self.user.is_empty());
        uses.map(|user| user.pid)
    }
}

/// A page that one process touches is private to it. So it is to several who have it one after the
/// other, for memory is given back and out again; those who touch it hardly ever do not count.
fn settle(uses: &mut [Use], together: bool) {
    let most = uses.iter().map(|user| user.references).max().unwrap_or(0);
    let counts = |user: &Use| together || user.references * MINOR >= most;
    let mut tenants: Vec<Use> = uses.iter().copied().filter(counts).collect();
    tenants.sort_unstable_by_key(|tenant| tenant.first);
    let apart = tenants.windows(2).all(|pair| pair[0].last < pair[1].first);
    if if together { tenants.len() == 1 } else { apart } {
        uses.iter_mut().for_each(|user| user.private = counts(user));
    }
}

/// Memory that processes have together by its nature: files, and what they share.
pub(super) struct Together(Vec<Range<u64>>);

impl Together {
    /// As far as names tell.
    pub(super) fn new(ranges: &[AddressRange]) -> Self {
        let is = |range: &&AddressRange| {
            let shared = range.name.starts_with("shared memory of ");
            range.kind == RangeKind::Mapping && (shared || range.name.starts_with('/'))
        };
        let bytes = |range: &AddressRange| range.start..range.start.saturating_add(range.size);
        let mut all: Vec<Range<u64>> = ranges.iter().filter(is).map(bytes).collect();
        all.sort_unstable_by_key(|range| range.start);
        let mut apart: Vec<Range<u64>> = Vec::new();
        for range in all {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        Self(apart)
    }

    /// Whether some of the page at this address is.
    pub(super) fn has(&self, page: u64) -> bool {
        let before = self.0.partition_point(|range| range.start < page + super::PAGE_BYTES);
        self.0[..before].last().is_some_and(|range| range.end > page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(user: &[(u32, u64, u64)]) -> Page {
        let mut page = Page::default();
        for &(pid, row, references) in user {
            (0..references).for_each(|i| page.add(pid, false, row + i));
        }
        page
    }

    fn owners(mut page: Page, together: bool) -> Vec<u32> {
        page.settle(together);
        let mut owners: Vec<u32> = page.owners().collect();
        owners.sort_unstable();
        owners
    }

    #[test]
    fn a_page_belongs_to_those_who_have_it_one_after_the_other() {
        assert_eq!(owners(page(&[(1, 0, 9)]), true), [1]);
        assert_eq!(owners(page(&[(1, 0, 9), (2, 10, 9)]), false), [1, 2]);
        assert_eq!(owners(page(&[(1, 0, 9), (2, 10, 9)]), true), Vec::<u32>::new());
        assert_eq!(owners(page(&[(1, 0, 9), (2, 10, 9), (1, 20, 1)]), false), Vec::<u32>::new());
        // Others do not count if they come once where one comes 65 times.
        assert_eq!(owners(page(&[(1, 0, 64), (2, 70, 1), (1, 80, 1)]), false), [1]);
        assert_eq!(owners(page(&[(1, 0, 63), (2, 70, 1), (1, 80, 1)]), false), Vec::<u32>::new());
        assert_eq!(owners(page(&[(1, 0, 64), (2, 70, 1), (1, 80, 1)]), true), Vec::<u32>::new());
    }

    #[test]
    fn what_the_kernel_does_with_a_page_of_a_process_is_that_ones_if_nobody_elses() {
        let kernel = |user: &[(u32, u64, u64)], pids: &[u32]| {
            let mut page = page(user);
            (0..).zip(pids).for_each(|(row, &pid)| page.add(pid, true, 100 + row));
            page.settle(false);
            [1, 2].map(|pid| page.is_private(pid, true))
        };
        assert_eq!(kernel(&[], &[1, 1]), [true, false]);
        assert_eq!(kernel(&[(1, 0, 1)], &[1]), [true, false]);
        assert_eq!(kernel(&[(2, 0, 1)], &[1]), [false, false]);
        assert_eq!(kernel(&[], &[1, 2, 1]), [false, false]);
        assert_eq!(kernel(&[(1, 0, 1)], &[1, 2]), [true, false]);
    }

    #[test]
    fn files_and_shared_memory_are_together() {
        let range = |start, size, name: &str| AddressRange {
            start,
            size,
            kind: RangeKind::Mapping,
            name: name.to_owned(),
            site: 0,
            thread: 0,
        };
        let ranges = [
            range(0x1000, 0x1000, "[heap] of a"),
            range(0x3000, 0x800, "/bin/a"),
            range(0x5000, 0x3000, "shared memory of a"),
        ];
        let together = Together::new(&ranges);
        let pages = (0..10).filter(|page| together.has(page * 0x1000));
        assert_eq!(pages.collect::<Vec<u64>>(), [3, 5, 6, 7]);
    }
}
