//! Counts of a mix.

use homenode_base::{Access, Flags};
use homenode_trace::Process;

use super::switches::IDLE;
use crate::report::{AreaReferences, MixProcess, OmittedFromMix, ReferenceTotals, Switches};

pub(super) struct ProcessTally {
    pub(super) process: Process,
    /// In user mode, and the kernel's.
    private_pages: [u64; 2],
    pub(super) references: ReferenceTotals,
    pub(super) private_references: u64,
    pub(super) switches: Switches,
    pub(super) parallel: bool,
    /// The processor it ran on last.
    pub(super) processor: Option<u16>,
    pub(super) areas: AreaReferences,
}

impl ProcessTally {
    pub(super) fn new(process: Process, private_pages: [u64; 2]) -> Self {
        Self {
            process,
            private_pages,
            references: ReferenceTotals::default(),
            private_references: 0,
            switches: Switches::default(),
            parallel: false,
            processor: None,
            areas: AreaReferences::default(),
        }
    }

    pub(super) fn row(&self, thread: u16) -> MixProcess {
        MixProcess {
            thread,
            pid: self.process.pid,
            names: self.process.names.clone(),
            references: self.references,
            private_references: self.private_references,
            private_pages: self.private_pages[0],
            private_kernel_pages: self.private_pages[1],
            switches: self.switches,
            parallel: self.parallel,
        }
    }
}

impl ReferenceTotals {
    pub(super) fn all(self) -> u64 {
        self.user + self.kernel
    }
}

impl AreaReferences {
    /// A reference to its own processor's area or another one's, or to none.
    pub(super) fn count(&mut self, own: Option<bool>) {
        self.own += u64::from(own == Some(true));
        self.others += u64::from(own == Some(false));
    }
}

impl OmittedFromMix {
    pub(super) fn count(&mut self, access: &Access) {
        if access.pid == IDLE {
            self.idle += 1;
        } else if access.flags.contains(Flags::KERNEL) {
            self.others.kernel += 1;
        } else {
            self.others.user += 1;
        }
    }
}
