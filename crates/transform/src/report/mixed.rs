//! The report on a mix of processes.

use serde::Serialize;

/// A mix of processes: what is in it of a recording, and what was omitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mix {
    /// The processes, in the order of the mix's threads.
    pub processes: Vec<MixProcess>,
    /// References of all of them.
    pub references: ReferenceTotals,
    /// Pages of the recording.
    pub pages: MixPages,
    /// Pages that were renumbered, because another process owned the page before.
    pub frames_renamed: u64,
    /// References that straddled pages, and were cut at the end of the first.
    pub cut_at_pages: u64,
    /// How often processes of the mix left their processors.
    pub switches: Switches,
    /// Whether function names distinguished waits from preemptions; if not, all count as waits.
    pub switches_told_apart: bool,
    /// References to the kernel's per-processor areas; `null` if their addresses are unknown.
    pub processor_areas: Option<AreaReferences>,
    /// What was omitted from the mix.
    pub left_out: OmittedFromMix,
}

/// References and fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReferenceTotals {
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
    /// Its names, in order of time.
    pub names: Vec<String>,
    /// Its references in the mix.
    pub references: ReferenceTotals,
    /// Those in user mode to its private pages.
    pub private_references: u64,
    /// Pages that are private to it in user mode.
    pub private_pages: u64,
    /// Pages that only the kernel references, and for it alone.
    pub private_kernel_pages: u64,
    /// How often it left its processor.
    pub switches: Switches,
    /// Whether it ran on several processors at once, in several threads: in the mix it is one
    /// thread.
    pub parallel: bool,
}

/// How often processes left their processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Switches {
    /// Because they waited.
    pub waits: u64,
    /// Because they were preempted.
    pub preemptions: u64,
}

/// References to the areas that the kernel has for each processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AreaReferences {
    /// To that of the processor that made them.
    pub own: u64,
    /// To those of others.
    pub others: u64,
}

/// Pages of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MixPages {
    /// Bytes of a page.
    pub bytes: u64,
    /// Pages that are referenced.
    pub all: u64,
    /// Those referenced in user mode that are private to no process.
    pub shared: u64,
}

/// What was omitted from a mix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OmittedFromMix {
    /// References of processors without a process.
    pub idle: u64,
    /// References of processes that were not chosen, kernel threads among them.
    pub others: ReferenceTotals,
    /// Processes that were not chosen.
    pub processes: u64,
    /// References beyond the number that was asked for.
    pub after_the_end: u64,
}
