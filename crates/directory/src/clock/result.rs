//! What a simulation with a clock finds.

use homenode_clock::ClockTime;
use serde::Serialize;

use crate::counts::DirectoryCounts;
use crate::home::PageDemands;

/// What was counted and what took how long.
#[derive(Clone, Debug, Default)]
pub struct ClockedDirectoryResult {
    /// What was counted.
    pub counts: DirectoryCounts,
    /// Processors and processes.
    pub time: ClockTime,
    /// What nodes other than processors did.
    pub timing: DirectoryTiming,
    /// What nodes did with pages, if it was to be collected.
    pub demands: Option<PageDemands>,
    /// What whoever reads the results has to know.
    pub notes: Vec<String>,
}

/// What took how long outside processors, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryTiming {
    /// Blocks that came, and the cycles from asking for each until it was there.
    pub filled: u64,
    /// See [`Self::filled`].
    pub fill_cycles: u64,
    /// Those that were read, and their cycles.
    pub read: u64,
    /// See [`Self::read`].
    pub read_cycles: u64,
    /// Traps into the operating system because of a page that was not mapped.
    pub page_faults: u64,
    /// Links that messages went along, in all.
    pub hops: u64,
    /// Cycles for which nodes sent, of all nodes together.
    pub sending: u64,
    /// Cycles for which controllers looked up.
    pub looking_up: u64,
    /// Cycles for which memories were accessed.
    pub accessing: u64,
}

impl DirectoryTiming {
    /// What was asked for is there.
    pub(super) fn add_answer(&mut self, cycles: u64, reads: bool, misses: bool) {
        if misses {
            self.filled += 1;
            self.fill_cycles += cycles;
        }
        if reads {
            self.read += 1;
            self.read_cycles += cycles;
        }
    }
}
