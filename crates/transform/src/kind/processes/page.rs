//! The owners of physical pages.

use std::ops::Range;

use homenode_trace::{AddressRange, RangeKind};

/// Bytes of a page of x86-64, the architecture of the recordings.
pub(super) const PAGE_BYTES: u64 = 4096;

/// A process with less than one in this many references to a page is ignored.
const MINOR: u64 = 20;

#[derive(Clone, Copy, Debug)]
struct PageUse {
    pid: u32,
    references: u64,
    /// Rows of its first and last reference.
    first: u64,
    last: u64,
}

/// The processes that reference a page in user mode, and those for which the kernel does.
#[derive(Clone, Debug, Default)]
pub(super) struct PageUses {
    user: Vec<PageUse>,
    kernel: Vec<PageUse>,
}

impl PageUses {
    pub(super) fn add(&mut self, pid: u32, kernel: bool, row: u64) {
        let uses = if kernel { &mut self.kernel } else { &mut self.user };
        let at = uses.iter().position(|known| known.pid == pid).unwrap_or_else(|| {
            uses.push(PageUse { pid, references: 0, first: row, last: row });
            uses.len() - 1
        });
        // The process of the last reference is most likely to make the next one.
        uses.swap(0, at);
        uses[0].references += 1;
        uses[0].last = row;
    }

    /// Decides the owners of the page; `common` if it is memory that processes share by its nature.
    ///
    /// A page that a single process references in user mode is private to it. So is one that
    /// several processes reference one after the other, as memory is freed and allocated again: to
    /// each in its time. If their uses overlap, processes with less than a twentieth of the
    /// references are ignored: after `fork` two processes share a page until the first write.
    ///
    /// A page that only the kernel references is private to the process for which it makes at least
    /// 19 of 20 references: a kernel stack is also referenced by the process that creates it, and
    /// by the process that is switched from.
    pub(super) fn decide_owners(self, number: u64, common: bool) -> RecordedPage {
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
        if let Some(owners) = owners.filter(|_| one || !common) {
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

fn without_minor(uses: &[PageUse]) -> Vec<PageUse> {
    let all: u64 = uses.iter().map(|user| user.references).sum();
    uses.iter().copied().filter(|user| user.references * MINOR >= all).collect()
}

/// The owners in order of time, if their uses do not overlap.
fn in_turns(mut uses: Vec<PageUse>) -> Option<Vec<PageOwner>> {
    uses.sort_unstable_by_key(|user| user.first);
    let apart = uses.windows(2).all(|pair| pair[0].last < pair[1].first);
    let owner = |user: &PageUse| PageOwner { pid: user.pid, last: user.last };
    (apart && !uses.is_empty()).then(|| uses.iter().map(owner).collect())
}

#[derive(Clone, Copy, Debug)]
struct PageOwner {
    pid: u32,
    last: u64,
}

/// A page during the second pass over the recording.
#[derive(Clone, Debug)]
pub(super) struct RecordedPage {
    /// Its owners in user mode, one after the other; none if it is shared.
    owners: Vec<PageOwner>,
    touched: bool,
    /// Its owner, if only the kernel references it.
    kernel: Option<u32>,
    /// Index of the present owner.
    now: usize,
    /// Its present number.
    number: u64,
}

impl RecordedPage {
    /// A reference, in the order of rows. After the present owner's last reference in user mode,
    /// the next owner's first reference, in either mode, makes the page that owner's. It then gets
    /// a number from `renamed`, as in a mix the pages of all owners exist at once. Returns the
    /// number of the page, and whether the page is private, whichever thread makes the reference.
    pub(super) fn refer(
        &mut self,
        pid: u32,
        kernel: bool,
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

    pub(super) fn is_shared(&self) -> bool {
        self.touched && self.owners.is_empty()
    }

    /// The processes to which it is private, one after the other.
    pub(super) fn owners(&self) -> impl Iterator<Item = u32> {
        self.owners.iter().map(|owner| owner.pid)
    }

    pub(super) fn kernel_owner(&self) -> Option<u32> {
        self.kernel
    }
}

/// Memory that processes share by its nature: files and shared mappings.
pub(super) struct CommonMemory(Vec<Range<u64>>);

impl CommonMemory {
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

    pub(super) fn has(&self, page: u64) -> bool {
        let end = page.saturating_add(PAGE_BYTES);
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

    fn owners(uses: PageUses, common: bool) -> Vec<u32> {
        uses.decide_owners(0, common).owners().collect()
    }

    #[test]
    fn a_page_is_owned_by_processes_that_use_it_one_after_the_other() {
        let none = Vec::<u32>::new();
        assert_eq!(owners(uses(&[(1, 0, 9)]), true), [1]);
        assert_eq!(owners(uses(&[(1, 0, 9), (2, 10, 9)]), false), [1, 2]);
        assert_eq!(owners(uses(&[(1, 0, 99), (2, 100, 1)]), false), [1, 2], "however short");
        assert_eq!(owners(uses(&[(1, 0, 9), (2, 10, 9)]), true), none);
        assert_eq!(owners(uses(&[(1, 0, 9), (2, 10, 9), (1, 20, 1)]), false), none);
        // One reference in 20 counts, one in 21 does not.
        assert_eq!(owners(uses(&[(1, 0, 18), (2, 70, 1), (1, 80, 1)]), false), none);
        assert_eq!(owners(uses(&[(1, 0, 19), (2, 70, 1), (1, 80, 1)]), false), [1]);
        assert_eq!(owners(uses(&[(1, 0, 19), (2, 70, 1), (1, 80, 1)]), true), none);
    }

    #[test]
    fn a_page_passes_to_its_next_owner_at_the_first_reference_of_that_owner() {
        let mut page = uses(&[(1, 10, 5), (2, 30, 5), (3, 50, 5)]).decide_owners(7, false);
        let mut free = 100;
        let mut refer = |pid, kernel, row| {
            page.refer(pid, kernel, row, || {
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
        // A page of several processes is never private; a page of the kernel is private for kernel
        // references.
        let private =
            |uses: PageUses, kernel| uses.decide_owners(7, false).refer(9, kernel, 100, || 0).1;
        let several = || uses(&[(1, 0, 2), (2, 10, 2), (1, 20, 2)]);
        assert_eq!([false, true].map(|kernel| private(several(), kernel)), [false; 2]);
        let mut of_kernel = uses(&[]);
        of_kernel.add(1, true, 0);
        let of_kernel = || of_kernel.clone();
        assert_eq!([false, true].map(|kernel| private(of_kernel(), kernel)), [false, true]);
    }

    #[test]
    fn a_kernel_page_is_owned_by_the_process_with_most_of_its_references() {
        let kernel = |references: &[(u32, u64)], touched: bool| {
            let mut uses = uses(if touched { &[(1, 0, 1), (2, 5, 1), (1, 9, 1)] } else { &[] });
            for &(pid, count) in references {
                (0..count).for_each(|row| uses.add(pid, true, row));
            }
            uses.decide_owners(0, false).kernel_owner()
        };
        assert_eq!(kernel(&[(1, 3)], false), Some(1));
        assert_eq!(kernel(&[(2, 1), (1, 19)], false), Some(1));
        assert_eq!(kernel(&[(2, 1), (1, 18)], false), None);
        assert_eq!(kernel(&[(2, 1), (3, 1), (1, 30)], false), None);
        assert_eq!(kernel(&[(1, 3)], true), None);
    }

    #[test]
    fn files_and_shared_mappings_are_common_memory() {
        let range = |start, size, name| AddressRange::new(RangeKind::Mapping, start, size, name);
        let ranges = [
            range(0x1000, 0x1000, "[heap] of a"),
            range(0x3000, 0x800, "/bin/a"),
            range(0x5000, 0x3000, "shared memory of a"),
        ];
        let common = CommonMemory::new(&ranges);
        let pages = (0..10).filter(|page| common.has(page * 0x1000));
        assert_eq!(pages.collect::<Vec<u64>>(), [3, 5, 6, 7]);
    }
}
