//! Whose a page is.

use std::ops::Range;

use crate::model::{AddressRange, RangeKind};

/// Who makes less than this part of the references to a page, one in so many, does not count.
const MINOR: u64 = 20;

/// What one process does with a page.
#[derive(Clone, Copy, Debug)]
struct PageUse {
    pid: u32,
    references: u64,
    /// Rows of its first and last reference.
    first: u64,
    last: u64,
}

/// Who touches a page in user mode, and for whom the kernel does.
#[derive(Clone, Debug, Default)]
pub(super) struct PageUses {
    user: Vec<PageUse>,
    kernel: Vec<PageUse>,
}

impl PageUses {
    /// A reference, with its row.
    pub(super) fn add(&mut self, pid: u32, kernel: bool, row: u64) {
        let uses = if kernel { &mut self.kernel } else { &mut self.user };
        let at = uses.iter().position(|known| known.pid == pid).unwrap_or_else(|| {
            uses.push(PageUse { pid, references: 0, first: row, last: row });
            uses.len() - 1
        });
        // Who was here last most often comes again.
        uses.swap(0, at);
        uses[0].references += 1;
        uses[0].last = row;
    }

    /// Decides whose the page is; `together`: it is of memory that processes have together.
    ///
    /// One that a single process touches in user mode is that one's. So is one that several have
    /// one after the other, for memory is given back and out again: each in its time. If some
    /// come in between, those with less than a twentieth of the references do not count: after
    /// `fork` two processes have a page until the first one writes.
    ///
    /// What only the kernel touches is its process's for which it makes at least 19 of 20
    /// references: a kernel stack is also touched by who makes it, and by who gives way to it.
    pub(super) fn settle(self, number: u64, together: bool) -> RecordedPage {
        let mut page = RecordedPage {
            owners: Vec::new(),
            touched: !self.user.is_empty(),
            kernel: None,
            now: 0,
            number,
        };
        let one = self.user.len() == 1;
        let counted = without_minor(&self.user);
        let owners = in_turns(self.user).or_else(|| in_turns(counted));
        if let Some(owners) = owners.filter(|_| one || !together) {
            page.owners = owners;
        } else if !page.touched {
            let all: u64 = self.kernel.iter().map(|user| user.references).sum();
            let most = self.kernel.iter().max_by_key(|user| user.references);
            let enough = |user: &&PageUse| (all - user.references) * MINOR <= all;
            page.kernel = most.filter(enough).map(|user| user.pid);
        }
        page
    }
}

/// Those who make at least a twentieth of all references.
fn without_minor(uses: &[PageUse]) -> Vec<PageUse> {
    let all: u64 = uses.iter().map(|user| user.references).sum();
    uses.iter().copied().filter(|user| user.references * MINOR >= all).collect()
}

/// Those who come one after the other, if they do.
fn in_turns(mut uses: Vec<PageUse>) -> Option<Vec<PageOwner>> {
    uses.sort_unstable_by_key(|user| user.first);
    let apart = uses.windows(2).all(|pair| pair[0].last < pair[1].first);
    let owner = |user: &PageUse| PageOwner { pid: user.pid, last: user.last };
    (apart && !uses.is_empty()).then(|| uses.iter().map(owner).collect())
}

/// Who has a page, up to a row.
#[derive(Clone, Copy, Debug)]
struct PageOwner {
    pid: u32,
    last: u64,
}

/// A page, as the recording goes on.
#[derive(Clone, Debug)]
pub(super) struct RecordedPage {
    /// Who has it in user mode, one after the other; nobody if it is shared.
    owners: Vec<PageOwner>,
    /// Whether anybody touches it in user mode.
    touched: bool,
    /// Whose it is, if only the kernel touches it.
    kernel: Option<u32>,
    /// Which owner has it now.
    now: usize,
    /// Where it is now.
    number: u64,
}

impl RecordedPage {
    /// A reference, in the order of rows. The page goes to its next owner with the first reference
    /// that this one makes, be it in the kernel, after the last one that its owner makes in user
    /// mode. It then gets a number from `renamed`, for all owners are there at once in a mix.
    /// Returns where the page is, and whether it is private, whoever makes the reference.
    pub(super) fn refer(
        &mut self,
        (pid, kernel): (u32, bool),
        row: u64,
        renamed: impl FnOnce() -> u64,
    ) -> (u64, bool) {
        let owner = self.owners.get(self.now);
        let next = self.owners.get(self.now + 1);
        if next.is_some_and(|next| next.pid == pid) && owner.is_some_and(|owner| row > owner.last) {
            self.now += 1;
            self.number = renamed();
        }
        let private = !self.owners.is_empty() || (kernel && self.kernel.is_some());
        (self.number, private)
    }

    /// Whether it is touched in user mode and is nobody's.
    pub(super) fn is_shared(&self) -> bool {
        self.touched && self.owners.is_empty()
    }

    /// To whom it is private.
    pub(super) fn owners(&self) -> impl Iterator<Item = u32> {
        self.owners.iter().map(|owner| owner.pid)
    }

    /// To whom it is private, if only the kernel touches it.
    pub(super) fn kernel_owner(&self) -> Option<u32> {
        self.kernel
    }
}

/// Memory that processes have together by its nature: files, and what they share.
pub(super) struct CommonMemory(Vec<Range<u64>>);

impl CommonMemory {
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
        let end = page.saturating_add(super::PAGE_BYTES);
        let before = self.0.partition_point(|range| range.start < end);
        self.0[..before].last().is_some_and(|range| range.end > page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(user: &[(u32, u64, u64)]) -> PageUses {
        let mut uses = PageUses::default();
        for &(pid, row, references) in user {
            (0..references).for_each(|i| uses.add(pid, false, row + i));
        }
        uses
    }

    fn owners(uses: PageUses, together: bool) -> Vec<u32> {
        uses.settle(0, together).owners().collect()
    }

    #[test]
    fn a_page_belongs_to_those_who_have_it_one_after_the_other() {
        let nobody = Vec::<u32>::new();
        assert_eq!(owners(uses(&[(1, 0, 9)]), true), [1]);
        assert_eq!(owners(uses(&[(1, 0, 9), (2, 10, 9)]), false), [1, 2]);
        assert_eq!(owners(uses(&[(1, 0, 99), (2, 100, 1)]), false), [1, 2], "however short");
        assert_eq!(owners(uses(&[(1, 0, 9), (2, 10, 9)]), true), nobody);
        assert_eq!(owners(uses(&[(1, 0, 9), (2, 10, 9), (1, 20, 1)]), false), nobody);
        // One reference in 20 counts, one in 21 does not.
        assert_eq!(owners(uses(&[(1, 0, 18), (2, 70, 1), (1, 80, 1)]), false), nobody);
        assert_eq!(owners(uses(&[(1, 0, 19), (2, 70, 1), (1, 80, 1)]), false), [1]);
        assert_eq!(owners(uses(&[(1, 0, 19), (2, 70, 1), (1, 80, 1)]), true), nobody);
    }

    #[test]
    fn a_page_goes_to_its_next_owner_with_that_ones_first_reference() {
        let mut page = uses(&[(1, 10, 5), (2, 30, 5), (3, 50, 5)]).settle(7, false);
        let mut free = 100;
        let mut refer = |pid, kernel, row| {
            page.refer((pid, kernel), row, || {
                free += 1;
                free
            })
        };
        assert_eq!(refer(2, true, 5), (7, true), "the first owner has yet to come");
        assert_eq!(refer(1, false, 10), (7, true));
        assert_eq!(refer(2, true, 12), (7, true));
        assert_eq!(refer(1, false, 14), (7, true));
        assert_eq!(refer(3, true, 15), (7, true));
        assert_eq!(refer(1, true, 16), (7, true));
        assert_eq!(refer(2, true, 20), (101, true), "the kernel clears it");
        assert_eq!(refer(1, true, 21), (101, true));
        assert_eq!(refer(3, false, 50), (102, true), "process 2 was not seen again");
        // A page of several is private for nobody, one of the kernel's for what that does.
        let private =
            |uses: PageUses, kernel| uses.settle(7, false).refer((9, kernel), 100, || 0).1;
        let several = || uses(&[(1, 0, 2), (2, 10, 2), (1, 20, 2)]);
        assert_eq!([false, true].map(|kernel| private(several(), kernel)), [false; 2]);
        let mut of_kernel = uses(&[]);
        of_kernel.add(1, true, 0);
        let of_kernel = || of_kernel.clone();
        assert_eq!([false, true].map(|kernel| private(of_kernel(), kernel)), [false, true]);
    }

    #[test]
    fn what_only_the_kernel_touches_is_the_process_s_with_most_of_it() {
        let kernel = |references: &[(u32, u64)], touched: bool| {
            let mut uses = uses(if touched { &[(1, 0, 1), (2, 5, 1), (1, 9, 1)] } else { &[] });
            for &(pid, count) in references {
                (0..count).for_each(|row| uses.add(pid, true, row));
            }
            uses.settle(0, false).kernel_owner()
        };
        assert_eq!(kernel(&[(1, 3)], false), Some(1));
        assert_eq!(kernel(&[(2, 1), (1, 19)], false), Some(1));
        assert_eq!(kernel(&[(2, 1), (1, 18)], false), None);
        assert_eq!(kernel(&[(2, 1), (3, 1), (1, 30)], false), None);
        assert_eq!(kernel(&[(1, 3)], true), None);
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
        let together = CommonMemory::new(&ranges);
        let pages = (0..10).filter(|page| together.has(page * 0x1000));
        assert_eq!(pages.collect::<Vec<u64>>(), [3, 5, 6, 7]);
    }
}
