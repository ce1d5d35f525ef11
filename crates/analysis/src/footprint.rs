//! Footprints of the processes of a workload: distinct blocks, and data that several of them share.
//!
//! Source: Foglia, Giorgi and Prete 2004, tables 1 to 3.
//!
//! # Deviations
//! The paper does not define shared blocks. Here a block of data is shared if several processes of
//! the workload reference it; those of them that are written are also counted by themselves.

use homenode_base::{AccessKind, Flags};
use homenode_trace::{Batch, ProcessorAreas};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Counts of the references of some processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FootprintCounts {
    /// Processes that referenced anything.
    pub processes: u64,
    /// References and fetches.
    pub references: u64,
    /// Instruction fetches.
    pub fetches: u64,
    /// Writes; an atomic reference is one.
    pub writes: u64,
    /// References and fetches by the kernel.
    pub kernel: u64,
    /// Blocks touched.
    pub distinct_blocks: u64,
    /// Blocks of data that several processes reference.
    pub shared_blocks: u64,
    /// Those of them that are written.
    pub written_shared_blocks: u64,
    /// Data references to shared blocks.
    pub shared_references: u64,
    /// Writes to shared blocks.
    pub shared_writes: u64,
    /// Data references to shared blocks that are written.
    pub written_shared_references: u64,
}

#[derive(Clone, Copy, Default)]
struct BlockUse {
    references: u64,
    writes: u64,
    /// The last process that referenced data in it, if any.
    owner: Option<u32>,
    several: bool,
}

/// Counts the blocks that some processes touch, and share.
///
/// Cost: O(1) a reference. Memory: one entry for each distinct block.
pub struct Footprint {
    block_bits: u32,
    kernel: bool,
    areas: Option<ProcessorAreas>,
    members: FxHashMap<u32, bool>,
    blocks: FxHashMap<u64, BlockUse>,
    counts: FootprintCounts,
}

impl Footprint {
    /// A footprint of these processes, in blocks of 2 to the `block_bits` bytes, with or without
    /// the kernel's references on their behalf. In a trace without processes, threads take their
    /// place.
    #[must_use]
    pub fn new(block_bits: u32, processes: &[u32], kernel: bool) -> Self {
        Self {
            block_bits,
            kernel,
            areas: None,
            members: processes.iter().map(|&process| (process, false)).collect(),
            blocks: FxHashMap::default(),
            counts: FootprintCounts::default(),
        }
    }

    /// Adds the areas of processors: blocks in them belong to a processor, not to the processes
    /// that it runs, and are not shared.
    #[must_use]
    pub fn with_areas(mut self, areas: Option<&ProcessorAreas>) -> Self {
        self.areas = areas.cloned();
        self
    }

    /// The next references of the trace.
    pub fn push(&mut self, batch: &Batch) {
        for (row, thread) in batch.turns.threads().enumerate() {
            let process = batch.pid.get(row).copied().unwrap_or(thread.into());
            let Some(seen) = self.members.get_mut(&process) else { continue };
            let flags = Flags(batch.flags.get(row).copied().unwrap_or(0));
            let by_kernel = flags.contains(Flags::KERNEL);
            if by_kernel && !self.kernel {
                continue;
            }
            *seen = true;
            let kind = AccessKind::from_code(batch.kind[row]).unwrap_or(AccessKind::Read);
            let fetch = kind == AccessKind::Fetch;
            let write = kind.writes();
            self.counts.references += 1;
            self.counts.fetches += u64::from(fetch);
            self.counts.writes += u64::from(write);
            self.counts.kernel += u64::from(by_kernel);
            let addr = batch.addr[row];
            let first = addr >> self.block_bits;
            let last = addr.saturating_add(u64::from(batch.size[row]).saturating_sub(1));
            let block = self.blocks.entry(first).or_default();
            if !fetch {
                block.references += 1;
                block.writes += u64::from(write);
                block.touch(process);
            }
            // A reference counts once, in its first block, but touches all its blocks.
            for number in first + 1..=last >> self.block_bits {
                let block = self.blocks.entry(number).or_default();
                if !fetch {
                    block.touch(process);
                }
            }
        }
    }

    /// The counts.
    #[must_use]
    pub fn finish(mut self) -> FootprintCounts {
        let counts = &mut self.counts;
        counts.processes = self.members.values().map(|&seen| u64::from(seen)).sum();
        for (number, block) in &self.blocks {
            counts.distinct_blocks += 1;
            let first = number << self.block_bits;
            if !block.several || self.areas.as_ref().is_some_and(|a| a.find(first).is_some()) {
                continue;
            }
            counts.shared_blocks += 1;
            counts.shared_references += block.references;
            counts.shared_writes += block.writes;
            if block.writes > 0 {
                counts.written_shared_blocks += 1;
                counts.written_shared_references += block.references;
            }
        }
        self.counts
    }
}

impl BlockUse {
    fn touch(&mut self, process: u32) {
        self.several |= self.owner.is_some_and(|owner| owner != process);
        self.owner = Some(process);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of thread, kind, address, size and flags.
    fn batch(rows: &[(u16, AccessKind, u64, u8, u8)]) -> Batch {
        Batch {
            turns: rows.iter().map(|row| row.0).collect(),
            kind: rows.iter().map(|row| row.1.code()).collect(),
            addr: rows.iter().map(|row| row.2).collect(),
            size: rows.iter().map(|row| row.3).collect(),
            flags: rows.iter().map(|row| row.4).collect(),
            ..Batch::default()
        }
    }

    fn rows() -> Batch {
        use AccessKind::{Atomic, Fetch, Read, Write};
        batch(&[
            (0, Fetch, 0, 4, 0),
            (1, Fetch, 0, 4, 0),
            (0, Read, 64, 8, 0),
            (1, Read, 64, 8, 0),
            (0, Write, 96, 8, 0),
            (1, Atomic, 96, 8, Flags::KERNEL.0),
            (0, Read, 126, 4, 0),
            (2, Read, 128, 4, 0),
            (3, Write, 4096, 4, 0),
        ])
    }

    fn of(processes: &[u32]) -> FootprintCounts {
        let mut footprint = Footprint::new(5, processes, true);
        footprint.push(&rows());
        footprint.finish()
    }

    #[test]
    fn code_is_not_shared_data_and_others_do_not_count() {
        let expected = FootprintCounts {
            processes: 2,
            references: 7,
            fetches: 2,
            writes: 2,
            kernel: 1,
            distinct_blocks: 4,
            shared_blocks: 2,
            written_shared_blocks: 1,
            shared_references: 5,
            shared_writes: 2,
            written_shared_references: 3,
        };
        assert_eq!(of(&[0, 1]), expected);
    }

    #[test]
    fn a_reference_across_blocks_touches_both() {
        let counts = of(&[0, 1, 2]);
        assert_eq!((counts.shared_blocks, counts.shared_references), (3, 6));
        assert_eq!(of(&[0]).distinct_blocks, 4);
        assert_eq!(of(&[0]).shared_blocks, 0);
    }

    #[test]
    fn processes_are_those_of_the_trace_if_it_has_any() {
        let mut footprint = Footprint::new(5, &[70, 71], true);
        footprint.push(&Batch { pid: vec![70, 70, 71, 70, 9, 9, 9, 9, 9], ..rows() });
        let counts = footprint.finish();
        assert_eq!((counts.processes, counts.references, counts.shared_blocks), (2, 4, 1));
    }

    #[test]
    fn the_kernel_can_be_left_out() {
        let mut footprint = Footprint::new(5, &[0, 1], false);
        footprint.push(&rows());
        let counts = footprint.finish();
        assert_eq!((counts.kernel, counts.references, counts.shared_blocks), (0, 6, 1));
    }

    #[test]
    fn what_belongs_to_processors_is_not_shared() {
        let areas = ProcessorAreas { size: 32, starts: vec![96, 9000] };
        let mut footprint = Footprint::new(5, &[0, 1], true).with_areas(Some(&areas));
        footprint.push(&rows());
        let counts = footprint.finish();
        assert_eq!((counts.distinct_blocks, counts.shared_blocks), (4, 1));
        assert_eq!(counts.written_shared_references, 0);
    }

    #[test]
    fn a_trace_without_references_touches_nothing() {
        assert_eq!(of(&[9]), FootprintCounts::default());
    }
}
