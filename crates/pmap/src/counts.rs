//! The manager's counts.

use std::ops::AddAssign;

use homenode_placement::Metric;
use serde::Serialize;

use crate::table::CELLS;

/// Generates the struct, its sum and its descriptions from one list, so that they cannot differ.
macro_rules! counts {
    ($($name:ident, $unit:literal, $definition:literal;)*) => {
        /// Counts of the page manager.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct PmapCounts {
            $(#[doc = $definition] pub $name: u64,)*
            /// Faults by cell of the table, in the order of [`crate::table::rows`].
            #[serde(skip)]
            pub cells: [u64; CELLS],
        }

        /// Every counter, in the order of results.
        pub const METRICS: &[Metric] = &[
            $(Metric { name: stringify!($name), unit: $unit, definition: $definition },)*
        ];

        impl AddAssign<&PmapCounts> for PmapCounts {
            fn add_assign(&mut self, other: &PmapCounts) {
                $(self.$name += other.$name;)*
                for (sum, &count) in self.cells.iter_mut().zip(&other.cells) {
                    *sum += count;
                }
            }
        }
    };
}

counts! {
    local_reads, "references", "Reads of the page in the processor's own local memory.";
    local_writes, "references", "Writes and atomics to the page in the own local memory.";
    global_reads, "references", "Reads of the page in global memory.";
    global_writes, "references", "Writes and atomics to the page in global memory.";
    faults, "faults", "References without a mapping that allows them: requests to the manager.";
    local_zero_fills, "pages",
        "Frames of local memory filled with zeros: copies of a page that has not been written yet.";
    global_zero_fills, "pages", "Frames of global memory filled with zeros, for the same reason.";
    copies, "pages", "Pages copied from global to local memory.";
    syncs, "pages", "Pages copied from the owner's local memory to global memory.";
    flushes, "frames", "Copies in local memories dropped, each with the mapping to it.";
    unmaps, "mappings", "Mappings to global memory dropped.";
    protects, "mappings", "Mappings made read-only.";
    invalidations, "faults", "Faults that flush a copy of a processor other than the faulting one.";
    pins, "faults", "Faults after which a page is global-writable and before which it was not.";
    freed_pages, "pages",
        "Pages with frames whose mapping the program removed (`--free-unmapped`).";
    freed_copies, "frames", "Copies in local memories dropped because their page was freed.";
}

impl PmapCounts {
    /// References made to local memory.
    #[must_use]
    pub fn local(&self) -> u64 {
        self.local_reads + self.local_writes
    }

    /// References made to global memory.
    #[must_use]
    pub fn global(&self) -> u64 {
        self.global_reads + self.global_writes
    }

    /// All references.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.local() + self.global()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_every_counter_and_cell() {
        let mut one =
            PmapCounts { local_reads: 1, global_writes: 2, pins: 4, ..PmapCounts::default() };
        one.cells[5] = 3;
        let mut sum = one;
        sum += &one;
        assert_eq!((sum.accesses(), sum.pins, sum.cells[5]), (6, 8, 6));
    }
}
