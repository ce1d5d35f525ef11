//! What became of a whole system.

use homenode_base::{Access, Flags};
use serde::Serialize;

use super::survey::Survey;
use super::switches::Switching;
use super::{IDLE, PAGE_BYTES};
use crate::model::Process;

/// A mix of processes: what it has of a recording, and what not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mix {
    /// The processes, in the order of the mix's threads.
    pub processes: Vec<MixProcess>,
    /// References of all of them.
    pub references: References,
    /// Pages of the recording.
    pub pages: MixPages,
    /// How often processes of the mix left their processors.
    pub switches: Switches,
    /// Whether names of functions told waiting from making way; if not, all of them wait.
    pub switches_told_apart: bool,
    /// What of the recording is not in the mix.
    pub left_out: LeftOut,
}

/// References and fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct References {
    /// In user mode.
    pub user: u64,
    /// In the kernel.
    pub kernel: u64,
}

/// One process of a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixProcess {
    /// Its thread in the mix.
    pub thread: u16,
    /// Its number in the system.
    pub pid: u32,
    /// What it was called, the first name first.
    pub names: Vec<String>,
    /// Its references in the mix.
    pub references: References,
    /// Those in user mode to its private pages.
    pub private_references: u64,
    /// Pages that it alone touches in user mode.
    pub private_pages: u64,
    /// Pages that the kernel touches for it alone, and nobody in user mode.
    pub private_kernel_pages: u64,
    /// How often it left its processor.
    pub switches: Switches,
    /// Whether it ran on several processors at once, in several threads: here it is one.
    pub parallel: bool,
}

/// How often processes left their processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Switches {
    /// To wait for something.
    pub waits: u64,
    /// To make way for others.
    pub preemptions: u64,
}

/// Pages of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MixPages {
    /// Bytes of a page.
    pub bytes: u64,
    /// Pages that anybody touches.
    pub all: u64,
    /// Those that several processes touch in user mode.
    pub shared: u64,
}

/// What of a recording is not in a mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// References of processors without a process.
    pub idle: u64,
    /// References of processes that were not chosen, kernel threads among them.
    pub others: References,
    /// Processes that were not chosen.
    pub processes: u64,
    /// References beyond the number that was asked for.
    pub after_the_end: u64,
}

impl LeftOut {
    /// A reference by a process that is not in the mix.
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

/// What a process did so far.
pub(super) struct Tally {
    pub(super) process: Process,
    private_pages: [u64; 2],
    pub(super) references: References,
    /// Data references of both kinds.
    pub(super) data: u64,
    pub(super) private_references: u64,
    pub(super) switches: Switches,
    pub(super) parallel: bool,
}

impl Tally {
    pub(super) fn new(process: Process, private_pages: [u64; 2]) -> Self {
        Self {
            process,
            private_pages,
            references: References::default(),
            data: 0,
            private_references: 0,
            switches: Switches::default(),
            parallel: false,
        }
    }

    fn row(&self, thread: u16) -> MixProcess {
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

/// All that there is to say.
pub(super) fn mix(
    tallies: &[Tally],
    survey: &Survey,
    (switching, out): (&Switching, &LeftOut),
) -> Mix {
    let sum = |of: fn(&Tally) -> u64| tallies.iter().map(of).sum();
    let [all, shared] = survey.pages();
    let there = survey.processes.keys().filter(|&&pid| pid != IDLE).count();
    Mix {
        processes: (0..).zip(tallies).map(|(thread, tally)| tally.row(thread)).collect(),
        references: References {
            user: sum(|tally| tally.references.user),
            kernel: sum(|tally| tally.references.kernel),
        },
        pages: MixPages { bytes: PAGE_BYTES, all, shared },
        switches: Switches {
            waits: sum(|tally| tally.switches.waits),
            preemptions: sum(|tally| tally.switches.preemptions),
        },
        switches_told_apart: switching.tells(),
        left_out: LeftOut { processes: (there - tallies.len()) as u64, ..*out },
    }
}
