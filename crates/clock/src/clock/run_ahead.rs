//! Issues several references of one processor at a time.
//!
//! A hit that needs no transaction changes only its own cache. Until the next event, and until the
//! memory system can serve a request, nothing else changes that cache; so a processor may perform
//! such references ahead of the other processors. The same holds for a store that only enters the
//! store buffer, behind one that has made its request.

use homenode_base::Flags;

use super::Clock;
use super::issue::hit;
use crate::processor::{ClockedProcessor, MemoryReference, MemorySystem, ReferenceCounts};
use crate::streams::{OpKind, Operation, PROCESSOR_RELATIVE};
use crate::wakeup::NEVER;

impl<M: MemorySystem> Clock<M> {
    /// Performs a processor's next references up to the horizon, as long as they hit without a
    /// transaction or enter the store buffer. Leaves everything else to [`Self::issue`]. Returns
    /// whether the first reference is known to miss.
    #[inline]
    pub(super) fn run_ahead(&mut self, at: usize, horizon: u64) -> bool {
        // The rest of a straddling reference, or a full window, is for `issue`.
        let processor = &self.processors[at];
        if processor.blocks_done != 0 || processor.window_full_at <= self.now {
            return false;
        }
        let horizon = horizon.min(processor.window_full_at);
        // Most machines count no time for instructions without a reference.
        match (self.processor.instruction_cycles == 0, self.does_timed_hits()) {
            (true, false) => self.run_until::<false, false>(at, horizon),
            (false, false) => self.run_until::<true, false>(at, horizon),
            (true, true) => self.run_until::<false, true>(at, horizon),
            (false, true) => self.run_until::<true, true>(at, horizon),
        }
    }

    /// The same; `GAPS` if instructions without a reference take time, `TIMED` if hits may.
    #[inline]
    fn run_until<const GAPS: bool, const TIMED: bool>(&mut self, at: usize, horizon: u64) -> bool {
        let Self { memory, streams, processors, processor: model, .. } = self;
        let processor = &mut processors[at];
        let (process, fetches) = (processor.process, self.fetches[processor.process]);
        // Stores are performed in order: behind one that waits for its request, they wait too.
        let buffered = !processor.stores.is_empty();
        let ordinary = ordinary_kinds(processor, fetches, model.blocking);
        let (cycles, gap_cycles) = (model.operation_cycles, model.instruction_cycles);
        let (mut time, mut number, mut missed) = (self.now, processor.instructions, false);
        let (mut done, mut kernel, mut writes, mut gaps) = (0, 0, 0, 0);
        // Instructions without a reference may start past the horizon if no load fills the window.
        let early = GAPS && processor.window_end == NEVER && !self.awaits_init_done;
        let within = if GAPS || TIMED { u64::MAX } else { horizon.saturating_sub(time) };
        let most = operations_until(within, cycles);
        let allowed = self.shares.as_ref().map_or(u64::MAX, |shares| shares.allowance(process));
        let most = most.min(processor.slice_left).min(allowed);
        for operation in first_of(streams[process].known(), most) {
            let (kind, flags) = (operation.kind, Flags(operation.flags));
            // If the process fetches instructions, the fetches are counted as instructions.
            let own = u64::from(!fetches || kind == OpKind::Fetch);
            let counted = number + own + u64::from(operation.count);
            let first = operation.addr & self.offset_mask;
            let last = first + u64::from(operation.size.saturating_sub(1));
            let special = u8::from(operation.continues) | flags.0 & PROCESSOR_RELATIVE;
            let block = operation.addr >> self.block_shift;
            let reference = MemoryReference { processor: at, kind, block, first, last, flags };
            if (ordinary >> (kind as u32) & 1 == 0
                && !(fetches && is_free_fetch(processor, memory, &reference)))
                || special != 0
                || last > self.offset_mask
                || counted >= processor.window_end
            {
                break;
            }
            if GAPS {
                let gap = processor.begin_gap(gap_cycles * u64::from(operation.count));
                (time, gaps) = (time + gap, gaps + gap);
                if time >= horizon {
                    break;
                }
            }
            if buffered && kind == OpKind::Write {
                if !buffer_store(processor, memory, reference, model.store_buffer_words) {
                    break;
                }
            } else if let Some(hit) = hit(processor, memory, time, TIMED, &reference) {
                time = hit;
            } else {
                missed = true;
                break;
            }
            (number, done) = (counted, done + 1);
            kernel += u64::from(flags.contains(Flags::KERNEL));
            writes += u64::from(kind == OpKind::Write);
            processor.gap_done &= !GAPS;
            if GAPS || TIMED {
                time += cycles;
                if time >= horizon && !early {
                    break;
                }
            }
        }
        if done == 0 && gaps == 0 {
            return missed;
        }
        time += if GAPS || TIMED { 0 } else { done * cycles };
        processor.busy += done * cycles + gaps;
        let counted = ReferenceCounts { references: done, block_references: done, kernel, writes };
        self.commit_run_ahead(at, time, number, counted);
        false
    }

    /// Records the references that a processor has performed, the last of them by the instruction
    /// with this number; the processor issues the next one at this time.
    #[inline]
    fn commit_run_ahead(&mut self, at: usize, time: u64, number: u64, counted: ReferenceCounts) {
        let processor = &mut self.processors[at];
        processor.instructions = number;
        processor.slice_left -= counted.references;
        let process = processor.process;
        self.begin(process, counted.references);
        self.wakeups.postpone(at, time);
        self.streams[process].skip(counted.references);
        self.memory.count(counted);
    }
}

/// Puts a store into the store buffer, if it has a free entry and the page is mapped. Returns
/// whether it did.
#[inline(always)]
fn buffer_store<M: MemorySystem>(
    processor: &mut ClockedProcessor<M>,
    memory: &mut M,
    store: MemoryReference,
    entries: u32,
) -> bool {
    let room = processor.stores.len() < entries as usize && memory.is_mapped(&store);
    if room {
        processor.stores.push_back(memory.access(&store));
    }
    room
}

/// Whether a reference is a fetch from a block of which the processor has nothing in flight.
#[cold]
fn is_free_fetch<M: MemorySystem>(
    processor: &ClockedProcessor<M>,
    memory: &M,
    reference: &MemoryReference,
) -> bool {
    reference.kind == OpKind::Fetch && !processor.has_in_flight(&memory.access(reference))
}

/// The first `most` known operations, or all if there are fewer.
#[inline(always)]
fn first_of(known: &[Operation], most: u64) -> &[Operation] {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    &known[..known.len().min(most)]
}

/// The kinds of operations that can be performed ahead, one bit each. `fetches`: the process
/// fetches instructions; `blocking`: the processor waits for every miss.
#[inline(always)]
fn ordinary_kinds<M: MemorySystem>(
    processor: &ClockedProcessor<M>,
    fetches: bool,
    blocking: bool,
) -> u32 {
    let fetches = fetches && !processor.has_requests_in_flight();
    let stores = processor.stores.is_empty() || (processor.head_requested && !blocking);
    let bit = |kind: OpKind, can: bool| u32::from(can) << (kind as u32);
    bit(OpKind::Read, true) | bit(OpKind::Fetch, fetches) | bit(OpKind::Write, stores)
}

/// How many operations of `cycles` each begin within `within` cycles; at least one.
#[inline]
fn operations_until(within: u64, cycles: u64) -> u64 {
    match cycles {
        0 if within > 0 => u64::MAX,
        0 => 1,
        1 => within.max(1),
        _ => within.div_ceil(cycles).max(1),
    }
}
