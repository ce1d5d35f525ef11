//! What processes there are in a recording, and whose a page is.

use std::collections::BTreeMap;

use homenode_base::{Access, Flags};
use rustc_hash::FxHashMap;

use super::PAGE_BYTES;
use super::switches::Switching;
use crate::error::TraceError;
use crate::import::Progress;
use crate::model::{Batch, Columns};
use crate::reader::{TraceReader, Want};

/// References of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    /// In user mode.
    pub(super) user: u64,
    /// In the kernel.
    pub(super) kernel: u64,
}

/// Who touches a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Users {
    #[default]
    Nobody,
    One(u32),
    Several,
}

impl Users {
    fn add(&mut self, pid: u32) {
        *self = match *self {
            Self::Nobody => Self::One(pid),
            Self::One(other) if other == pid => Self::One(pid),
            Self::One(_) | Self::Several => Self::Several,
        };
    }
}

/// Who touches a page in user mode, and for whom the kernel does.
#[derive(Clone, Copy, Debug, Default)]
struct Page {
    user: Users,
    kernel: Users,
}

impl Page {
    /// Whether it is private to the process, for what it does itself or the kernel does for it.
    fn is_private(self, pid: u32, kernel: bool) -> bool {
        if kernel {
            self.kernel == Users::One(pid) && [Users::Nobody, Users::One(pid)].contains(&self.user)
        } else {
            self.user == Users::One(pid)
        }
    }
}

/// What a first look at the recording tells.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) processes: BTreeMap<u32, Activity>,
    pages: FxHashMap<u64, Page>,
    /// Pages private to each process: in user mode, and the kernel's.
    private: FxHashMap<u32, [u64; 2]>,
    /// Whether a thread made references of several processes.
    mixed: bool,
}

impl Survey {
    /// Reads the trace.
    pub(super) fn of(
        trace: &TraceReader,
        switching: &Switching,
        progress: &mut Progress<'_>,
    ) -> Result<Self, TraceError> {
        let mut survey = Self::default();
        let mut batch = Batch::default();
        let columns = Columns { gap: false, ..Columns::ALL };
        let mut last: Vec<Option<u32>> = Vec::new();
        let (mut rows, total) = (0, trace.rows().saturating_mul(2));
        for chunk in 0..trace.chunks().len() {
            trace.read_chunk(chunk, Want { columns, events: false }, &mut batch)?;
            for row in 0..batch.len() {
                survey.access(&batch.get(row), switching, &mut last);
            }
            rows += batch.len() as u64;
            if progress(rows, Some(total)).is_break() {
                return Err(TraceError::Cancelled { path: trace.path().to_owned() });
            }
        }
        survey.count();
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
        if !kernel {
            activity.user += 1;
            self.pages.entry(access.addr / PAGE_BYTES).or_default().user.add(pid);
            return;
        }
        activity.kernel += 1;
        // The switch's own references to the next one's stack come before that one's name.
        if !switching.is_between(access.pc) {
            self.pages.entry(access.addr / PAGE_BYTES).or_default().kernel.add(pid);
        }
    }

    fn count(&mut self) {
        for page in self.pages.values() {
            match (page.user, page.kernel) {
                (Users::One(pid), _) => self.private.entry(pid).or_default()[0] += 1,
                (Users::Nobody, Users::One(pid)) => self.private.entry(pid).or_default()[1] += 1,
                (Users::Nobody | Users::Several, _) => {}
            }
        }
    }

    /// Whether threads are processors: they run several processes, and a kernel.
    pub(super) fn is_whole_system(&self) -> bool {
        self.mixed && self.processes.values().any(|activity| activity.kernel > 0)
    }

    /// Whether the reference is to a private area of its process.
    pub(super) fn is_private(&self, access: &Access) -> bool {
        let kernel = access.flags.contains(Flags::KERNEL);
        let page = self.pages.get(&(access.addr / PAGE_BYTES));
        page.is_some_and(|page| page.is_private(access.pid, kernel))
    }

    /// Pages private to a process: those it touches in user mode, and those of the kernel alone.
    pub(super) fn private_pages(&self, pid: u32) -> [u64; 2] {
        self.private.get(&pid).copied().unwrap_or_default()
    }

    /// All pages, and those that several processes touch in user mode.
    pub(super) fn pages(&self) -> [u64; 2] {
        let several = self.pages.values().filter(|page| page.user == Users::Several).count();
        [self.pages.len() as u64, several as u64]
    }
}
