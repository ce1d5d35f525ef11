//! The first pass over a recording: its processes, and the owners of its pages.

use std::collections::BTreeMap;

use homenode_base::{Access, Flags};
use homenode_trace::{
    Batch, Columns, ProcessorAreas, TraceError, TraceProgress, TraceReader, Want,
};
use rustc_hash::FxHashMap;

use super::page::{CommonMemory, PAGE_BYTES, PageUses, RecordedPage};
use super::switches::Switching;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    pub(super) user: u64,
    pub(super) kernel: u64,
}

#[derive(Default)]
pub(super) struct RecordingSurvey {
    pub(super) processes: BTreeMap<u32, Activity>,
    uses: FxHashMap<u64, PageUses>,
    pages: FxHashMap<u64, RecordedPage>,
    /// Pages private to each process: in user mode, and the kernel's.
    private: FxHashMap<u32, [u64; 2]>,
    mixed: bool,
    rows: u64,
    /// Number of the next page beyond the memory of the system, for renumbered pages.
    free: u64,
    /// The renumbered pages: new and old number.
    pub(super) renamed: Vec<(u64, u64)>,
}

impl RecordingSurvey {
    pub(super) fn of(
        trace: &TraceReader,
        switching: &Switching,
        areas: Option<&ProcessorAreas>,
        progress: &mut TraceProgress<'_>,
    ) -> Result<Self, TraceError> {
        let mut survey = Self::default();
        let mut batch = Batch::default();
        let columns = Columns { gap: false, ..Columns::ALL };
        let mut last: Vec<Option<u32>> = Vec::new();
        let total = trace.rows().saturating_mul(2);
        for chunk in 0..trace.chunks().len() {
            trace.read_chunk(chunk, Want { columns, events: false }, &mut batch)?;
            for access in batch.accesses() {
                survey.access(&access, switching, &mut last);
            }
            if progress(survey.rows, Some(total)).is_break() {
                return Err(TraceError::Cancelled { path: trace.path().to_owned() });
            }
        }
        survey.decide_owners(&CommonMemory::new(&trace.metadata().ranges), areas);
        Ok(survey)
    }

    fn access(&mut self, access: &Access, switching: &Switching, last: &mut Vec<Option<u32>>) {
        let (at, pid) = (usize::from(access.thread), access.pid);
        if at >= last.len() {
            last.resize(at + 1, None);
        }
        self.mixed |= last[at].replace(pid).is_some_and(|before| before != pid);
        let activity = self.processes.entry(pid).or_default();
        let kernel = access.flags.contains(Flags::KERNEL);
        if kernel {
            activity.kernel += 1;
        } else {
            activity.user += 1;
        }
        // A context switch references the next process's stack before the recorder learns of that
        // process, so these references do not tell the owner.
        if !(kernel && switching.is_stack_switch(access.pc)) {
            self.uses.entry(access.addr / PAGE_BYTES).or_default().add(pid, kernel, self.rows);
        }
        self.rows += 1;
    }

    /// Decides the owners of all pages, and counts private pages. Rows are counted from 0 again,
    /// for the second pass.
    fn decide_owners(&mut self, common: &CommonMemory, areas: Option<&ProcessorAreas>) {
        for (number, uses) in std::mem::take(&mut self.uses) {
            let addr = number * PAGE_BYTES;
            self.free = self.free.max(number + 1);
            if areas.is_some_and(|areas| areas.find(addr).is_some()) {
                continue;
            }
            let page = uses.decide_owners(number, common.has(addr));
            for pid in page.owners() {
                self.private.entry(pid).or_default()[0] += 1;
            }
            if let Some(pid) = page.kernel_owner() {
                self.private.entry(pid).or_default()[1] += 1;
            }
            self.pages.insert(number, page);
        }
        self.rows = 0;
    }

    /// Whether the threads are processors, which run several processes and a kernel.
    pub(super) fn is_whole_system(&self) -> bool {
        self.mixed && self.processes.values().any(|activity| activity.kernel > 0)
    }

    /// The next reference of the recording: its address in the mix, and whether it is private.
    pub(super) fn refer(&mut self, access: &Access) -> (u64, bool) {
        let (row, number) = (self.rows, access.addr / PAGE_BYTES);
        self.rows += 1;
        let Some(page) = self.pages.get_mut(&number) else { return (access.addr, false) };
        let (free, all) = (&mut self.free, &mut self.renamed);
        let renamed = || {
            all.push((*free, number));
            *free += 1;
            *free - 1
        };
        let kernel = access.flags.contains(Flags::KERNEL);
        let (number, private) = page.refer(access.pid, kernel, row, renamed);
        (number.wrapping_mul(PAGE_BYTES) + access.addr % PAGE_BYTES, private)
    }

    pub(super) fn kernel_owner(&self, addr: u64) -> Option<u32> {
        self.pages.get(&(addr / PAGE_BYTES)).and_then(RecordedPage::kernel_owner)
    }

    /// Pages private to a process: those of user mode, and those of the kernel alone.
    pub(super) fn private_pages(&self, pid: u32) -> [u64; 2] {
        self.private.get(&pid).copied().unwrap_or_default()
    }

    /// All pages, and those referenced in user mode that are not private.
    pub(super) fn pages(&self) -> [u64; 2] {
        let shared = self.pages.values().filter(|page| page.is_shared()).count();
        [self.pages.len() as u64, shared as u64]
    }
}
