//! Private areas of processes that are user pages. A trace does not distinguish them from the
//! kernel's private areas: it flags a kernel reference as private, and not the kind of its page.

use homenode_base::Flags;
use rustc_hash::FxHashSet;

use crate::model::Batch;

/// Bytes of a page, as a shift: whole-system recordings are of machines with 4 KiB pages.
const PAGE_SHIFT: u32 = 12;
const KERNEL_PRIVATE: u8 = Flags::PRIVATE.0 | Flags::KERNEL.0;

/// The private pages that processes reference in user mode.
#[derive(Clone, Debug, Default)]
pub struct UserPages {
    /// Whether the addresses are virtual, so that each process has pages of its own.
    by_process: bool,
    /// Pages, each with its process, which is 0 for physical addresses.
    pages: FxHashSet<(u32, u64)>,
}

impl UserPages {
    /// None so far; `by_process` if the addresses are virtual, so that each process has pages of
    /// its own.
    #[must_use]
    pub fn new(by_process: bool) -> Self {
        Self { by_process, pages: FxHashSet::default() }
    }

    /// Adds the pages that are private and referenced in user mode in a batch.
    pub fn add(&mut self, batch: &Batch) {
        let mut last = None;
        for (row, flags) in batch.flags.iter().enumerate() {
            if flags & KERNEL_PRIVATE == Flags::PRIVATE.0 {
                let page = self.page(batch, row);
                if last.replace(page) != Some(page) {
                    self.pages.insert(page);
                }
            }
        }
    }

    /// Adds the pages found in another part of the trace.
    pub fn extend(&mut self, other: Self) {
        self.pages.extend(other.pages);
    }

    /// Flags kernel references to private areas as [`Flags::USER_AREA`] if the page is one of
    /// these.
    pub fn flag(&self, batch: &mut Batch) {
        if self.pages.is_empty() {
            return;
        }
        for row in 0..batch.flags.len() {
            let flags = batch.flags[row];
            if flags & KERNEL_PRIVATE == KERNEL_PRIVATE
                && self.pages.contains(&self.page(batch, row))
            {
                batch.flags[row] = flags | Flags::USER_AREA.0;
            }
        }
    }

    fn page(&self, batch: &Batch, row: usize) -> (u32, u64) {
        let process = batch.pid.get(row).copied().filter(|_| self.by_process);
        (process.unwrap_or(0), batch.addr[row] >> PAGE_SHIFT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_references_to_user_pages_are_in_a_user_area() {
        let kernel = Flags(KERNEL_PRIVATE);
        let references = [
            (1, 0x8010, kernel), // before the process refers to its page itself
            (1, 0x8ffc, Flags::PRIVATE),
            (2, 0x8020, kernel), // the same page of memory, but not of the process's addresses
            (1, 0x9000, kernel), // a page that only the kernel references
            (1, 0xa000, Flags::default()),
            (1, 0xa000, kernel), // the page is shared
            (1, 0x8000, Flags::KERNEL),
        ];
        let mut batch = Batch::default();
        for (pid, addr, flags) in references {
            batch.pid.push(pid);
            batch.addr.push(addr);
            batch.flags.push(flags.0);
        }
        let flagged = |by_process| {
            let (mut pages, mut batch) = (UserPages::new(by_process), batch.clone());
            pages.add(&batch);
            pages.flag(&mut batch);
            let is_flagged = |&flags: &u8| Flags(flags).contains(Flags::USER_AREA);
            batch.flags.iter().map(is_flagged).collect::<Vec<bool>>()
        };
        assert_eq!(flagged(false), [true, false, true, false, false, false, false]);
        assert_eq!(flagged(true), [true, false, false, false, false, false, false]);
    }
}
