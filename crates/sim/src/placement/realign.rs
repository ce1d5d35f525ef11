//! Data re-alignment in memory, at all block sizes of a matrix at once.
//!
//! The uses of each word in a window are collected once; each block size then moves words and
//! translates addresses by itself, in parallel. The histories equal those of the trace that the
//! transform `realign` writes for the block size.

use homenode_base::{AccessKind, ProcId, ReferenceRole};
use homenode_placement::{HistoryBuilder, OutsideReferences, ReferenceColumns};
use homenode_trace::{Batch, ThreadTurn};
use homenode_transform::realign::{Realignment, WindowScan, WordMapping};
use rayon::prelude::*;

use super::plan::MatrixPlan;
use crate::error::{SimError, SimResult, config_error};
use crate::pass::{MemoryBudget, PassSink, TraceSource};

/// References that are translated before they are added to the builders.
const STEP: usize = 1 << 12;

/// The references of a window that are part of histories.
#[derive(Default)]
struct WindowReferences {
    time: Vec<u64>,
    processor: Vec<ProcId>,
    write: Vec<bool>,
    size: Vec<u8>,
    /// Number of the first word of each.
    number: Vec<u32>,
    /// Byte in that word.
    byte: Vec<u8>,
}

struct SizeMapping {
    size: usize,
    builders: usize,
    mapping: WordMapping,
}

pub(crate) struct RealigningSink {
    roles: [ReferenceRole; 256],
    processors: u16,
    scan: WindowScan,
    window: WindowReferences,
    outside: OutsideReferences,
    /// The builders' block sizes, in the order of the builders.
    sizes: Vec<SizeMapping>,
    budget: MemoryBudget,
}

impl RealigningSink {
    /// Re-alignment for builders with these block sizes, given as indices into the plan. Adjacent
    /// builders of one size share a mapping.
    pub(crate) fn new(
        plan: &MatrixPlan,
        window: u64,
        trace: &dyn TraceSource,
        builders: &[usize],
        budget: MemoryBudget,
    ) -> SimResult<Self> {
        let address_map = trace.address_map();
        let mut sizes = Vec::new();
        for same in builders.chunk_by(|a, b| a == b) {
            let [size, ..] = *same else { continue };
            let block = plan.sizes[size].block;
            let mapping =
                WordMapping::new(&address_map, block, window).ok_or_else(|| no_room(block))?;
            sizes.push(SizeMapping { size, builders: same.len(), mapping });
        }
        Ok(Self {
            roles: plan.filter.roles(AccessKind::Read),
            processors: plan.processors,
            scan: WindowScan::new(window),
            window: WindowReferences::default(),
            outside: OutsideReferences::default(),
            sizes,
            budget,
        })
    }

    fn batch(&mut self, builders: &mut [HistoryBuilder], batch: &Batch) {
        let mut next_time = batch.first_time;
        for ThreadTurn { thread, rows } in batch.turns.iter() {
            let processor = thread % self.processors;
            for row in rows {
                let kind = batch.kind[row];
                if kind == AccessKind::Fetch.code() {
                    continue;
                }
                let time = next_time;
                next_time += 1;
                let flags = batch.flags.get(row).map_or(0, |&flags| usize::from(flags));
                let (addr, size, write) = (batch.addr[row], batch.size[row], kind != 0);
                match self.roles[flags] {
                    ReferenceRole::Excluded => {}
                    ReferenceRole::Private => self.outside.add(addr, size, write),
                    ReferenceRole::Shared => {
                        let number = self.scan.push(processor, addr, size, write);
                        self.window.push(time, processor, write, addr, size, number);
                        if self.scan.is_full() {
                            self.flush(builders);
                        }
                    }
                }
            }
        }
    }

    /// Ends the window: moves data at every size and adds the window's references to the builders.
    fn flush(&mut self, builders: &mut [HistoryBuilder]) {
        if self.scan.is_empty() {
            return;
        }
        self.scan.close();
        let mut rest = builders;
        let mut work = Vec::new();
        for aligned in &mut self.sizes {
            let (some, others) = rest.split_at_mut(aligned.builders);
            rest = others;
            work.push((&mut aligned.mapping, some));
        }
        let (scan, window) = (&self.scan, &self.window);
        work.into_par_iter().for_each(|(mapping, builders)| {
            mapping.realign(scan);
            window.give(mapping, builders);
        });
        self.scan.next();
        self.window.clear();
    }

    pub(crate) fn reports(&self, trace: &dyn TraceSource) -> Vec<(usize, Realignment)> {
        let report = |aligned: &SizeMapping| aligned.mapping.report(&self.scan, trace.metadata());
        self.sizes.iter().map(|aligned| (aligned.size, report(aligned))).collect()
    }
}

impl PassSink for RealigningSink {
    fn push(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        batches.iter().for_each(|batch| self.batch(builders, batch));
    }

    fn end(&mut self, builders: &mut [HistoryBuilder]) {
        self.flush(builders);
        builders.iter_mut().for_each(|builder| builder.push_outside(&self.outside));
    }

    fn keep(&mut self, builders: &mut [HistoryBuilder], seen: u64) -> usize {
        let fixed = self.scan.bytes() + self.window.bytes();
        let sizes = &self.sizes;
        let besides = |keep: usize| {
            let mut left = keep;
            let kept = sizes.iter().take_while(|aligned| {
                let some = left > 0;
                left = left.saturating_sub(aligned.builders);
                some
            });
            fixed + kept.map(|aligned| aligned.mapping.bytes()).sum::<u64>()
        };
        let mut left = self.budget.keep(builders, seen, besides);
        let kept = left;
        for aligned in &mut self.sizes {
            aligned.builders = aligned.builders.min(left);
            left -= aligned.builders;
        }
        self.sizes.retain(|aligned| aligned.builders > 0);
        kept
    }
}

impl WindowReferences {
    fn push(&mut self, time: u64, user: ProcId, write: bool, addr: u64, size: u8, number: u32) {
        self.time.push(time);
        self.processor.push(user);
        self.write.push(write);
        self.size.push(size);
        self.number.push(number);
        let [byte, ..] = addr.to_le_bytes();
        self.byte.push(byte % 4);
    }

    fn clear(&mut self) {
        self.time.clear();
        self.processor.clear();
        self.write.clear();
        self.size.clear();
        self.number.clear();
        self.byte.clear();
    }

    fn bytes(&self) -> u64 {
        self.time.capacity() as u64 * 17
    }

    /// Adds the references, at the current addresses of their data, to the builders.
    fn give(&self, mapping: &WordMapping, builders: &mut [HistoryBuilder]) {
        let mut addr = Vec::with_capacity(STEP);
        for first in (0..self.time.len()).step_by(STEP) {
            let rows = first..self.time.len().min(first + STEP);
            addr.clear();
            let places = self.number[rows.clone()].iter().zip(&self.byte[rows.clone()]);
            addr.extend(places.map(|(&number, &byte)| mapping.address(number, byte.into())));
            let references = ReferenceColumns {
                time: &self.time[rows.clone()],
                processor: &self.processor[rows.clone()],
                write: &self.write[rows.clone()],
                size: &self.size[rows],
                addr: &addr,
            };
            builders.iter_mut().for_each(|builder| builder.push_references(&references));
        }
    }
}

fn no_room(block: homenode_base::BlockSize) -> SimError {
    config_error(format!(
        "the trace's addresses leave no room for new pages of {} bytes; keep a part of them with \
         `homenode transform select --address`",
        block.bytes()
    ))
}
