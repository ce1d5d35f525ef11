//! Issues several references of one processor at a time.
//!
//! A hit that needs no transaction changes only its own cache. Until the next event, and until the
//! memory system can serve a request, nothing else changes that cache; so a processor may perform
//! such references ahead of the other processors. The same holds for a store that only enters the
//! store buffer, behind one that has made its request.

use homenode_base::Flags;
use homenode_machine::ProcessorModel;

use super::Clock;
use super::issue::hit;
use crate::processor::{ClockedProcessor, MemoryReference, MemorySystem, ReferenceCounts};
use crate::streams::{OpKind, Operation, PROCESSOR_RELATIVE};
use crate::wakeup::NEVER;

/// How many references ahead the host loads what a hit needs: its caches are smaller than those of
/// most simulated machines together.
const PREFETCH_DISTANCE: usize = 8;

impl<M: MemorySystem> Clock<M> {
    /// Performs a processor's next references up to the horizon, as long as they hit without a
    /// transaction or enter the store buffer, and up to `ahead` further hits, which may be rolled
    /// back. Leaves everything else to [`Self::issue`]. Returns whether the first reference is
    /// known to miss.
    #[inline]
    pub(super) fn run_ahead(&mut self, at: usize, horizon: u64, ahead: usize) -> bool {
        if M::ROLLS_BACK {
            self.processors[at].ahead.clear();
        }
        // The rest of a straddling reference, or a full window, is for `issue`.
        let processor = &self.processors[at];
        if processor.blocks_done != 0 || processor.window_full_at <= self.now {
            return false;
        }
        let horizon = horizon.min(processor.window_full_at);
        // Most machines count no time for instructions without a reference.
        match (self.processor.instruction_cycles == 0, self.does_timed_hits()) {
            (true, false) => self.run_until::<false, false>(at, horizon, ahead),
            (false, false) => self.run_until::<true, false>(at, horizon, 0),
            (true, true) => self.run_until::<false, true>(at, horizon, 0),
            (false, true) => self.run_until::<true, true>(at, horizon, 0),
        }
    }

    /// The same; `GAPS` if instructions without a reference take time, `TIMED` if hits may.
    #[inline]
    fn run_until<const GAPS: bool, const TIMED: bool>(
        &mut self,
        at: usize,
        horizon: u64,
        ahead: usize,
    ) -> bool {
        let left = self.references_left(at);
        let Self { memory, streams, processors, processor: model, .. } = self;
        let processor = &mut processors[at];
        let (process, fetches) = (processor.process, self.fetches[processor.process]);
        // Stores are performed in order: behind one that waits for its request, they wait too.
        let buffered = !processor.stores.is_empty();
        let ordinary = ordinary_kinds(processor, fetches, model.blocking);
        let (cycles, gap_cycles) = (model.operation_cycles, model.instruction_cycles);
        let (mut time, mut number, mut missed) = (self.now, processor.instructions, false);
        let (mut done, mut gaps) = (ReferenceCounts::default(), 0);
        // Instructions without a reference may start past the horizon if no load fills the window.
        let early = GAPS && processor.window_end == NEVER && !self.awaits_init_done;
        let within = if GAPS || TIMED { u64::MAX } else { horizon.saturating_sub(time) };
        let safe = operations_until(within, cycles);
        let most = left.min(processor.begin_log(time, cycles, safe, ahead));
        let known = streams[process].known();
        let mut later = known.iter().skip(PREFETCH_DISTANCE);
        for operation in first_of(known, most) {
            if let Some(later) = later.next() {
                memory.prefetch(at, later.addr >> self.block_shift);
            }
            let (kind, flags) = (operation.kind, Flags(operation.flags));
            let counted = number + instructions_of(operation, fetches);
            let (first, block) =
                (operation.addr & self.offset_mask, operation.addr >> self.block_shift);
            let last = first + u64::from(operation.size.saturating_sub(1));
            let special = u8::from(operation.continues) | flags.0 & PROCESSOR_RELATIVE;
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
            let buffers = buffered && kind == OpKind::Write;
            let begins = if M::ROLLS_BACK && done.references >= safe {
                (!buffers && processor.log_hit(memory, &reference)).then_some(time)
            } else if buffers {
                buffer_store(processor, memory, reference, model).then_some(time)
            } else {
                hit(processor, memory, time, TIMED, &reference)
            };
            let Some(begins) = begins else {
                missed = !buffers;
                break;
            };
            (time, number) = (begins, counted);
            done.add(operation);
            processor.gap_done &= !GAPS;
            if GAPS || TIMED {
                time += cycles;
                if time >= horizon && !early {
                    break;
                }
            }
        }
        if done.references == 0 && gaps == 0 {
            return missed;
        }
        time += if GAPS || TIMED { 0 } else { done.references * cycles };
        processor.busy += done.references * cycles + gaps;
        self.commit_run_ahead(at, time, number, done);
        false
    }

    /// How many references a processor may issue before its time slice or its process's share ends.
    #[inline]
    fn references_left(&self, at: usize) -> u64 {
        let processor = &self.processors[at];
        let shares = self.shares.as_ref();
        let share = shares.map_or(u64::MAX, |shares| shares.allowance(processor.process));
        processor.slice_left.min(share)
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

/// The instructions up to a reference. If the process fetches instructions, the fetches are counted
/// as instructions.
#[inline(always)]
pub(super) fn instructions_of(operation: &Operation, fetches: bool) -> u64 {
    u64::from(!fetches || operation.kind == OpKind::Fetch) + u64::from(operation.count)
}

/// Puts a store into the store buffer, if it has a free entry and the page is mapped. Returns
/// whether it did.
#[inline(always)]
fn buffer_store<M: MemorySystem>(
    processor: &mut ClockedProcessor<M>,
    memory: &mut M,
    store: MemoryReference,
    model: &ProcessorModel,
) -> bool {
    let room =
        processor.stores.len() < model.store_buffer_words as usize && memory.is_mapped(&store);
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
