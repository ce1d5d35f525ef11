//! Several references of one processor at a time.
//!
//! A hit that needs no transaction changes only its own cache. Before the next event, and before
//! the memory system can do anything for anybody, nobody else changes that; so a processor may do
//! such references ahead of the others, whose time comes later. The same holds for a store that
//! only takes a place in the store buffer, behind one that has made its request.

use homenode_base::Flags;

use super::Clock;
use crate::processor::{MemoryReference, MemorySystem, ReferenceCounts};
use crate::streams::{OpKind, PROCESSOR_RELATIVE};
use crate::wakeup::NEVER;

impl<M: MemorySystem> Clock<M> {
    /// A processor does its next references as long as they hit without a transaction, or wait in
    /// the store buffer, and before the horizon. Anything out of the ordinary ends that, and is
    /// left to [`Self::issue`]. Returns whether the first reference already is known to be no such
    /// hit.
    #[inline]
    pub(super) fn run_ahead(&mut self, at: usize, horizon: u64) -> bool {
        let processor = &mut self.processors[at];
        // The rest of a reference that straddles blocks.
        if processor.blocks_done != 0 {
            return false;
        }
        let (process, fetches) = (processor.process, self.fetches[processor.process]);
        // Stores take place in their order. Behind one that waits for its request they wait too.
        let buffered = !processor.stores.is_empty();
        let buffers = processor.head_requested && !self.processor.blocking;
        let model = &self.processor;
        let (cycles, gap_cycles) = (model.operation_cycles, model.instruction_cycles);
        let (mut time, mut number, mut missed) = (self.now, processor.instructions, false);
        let (mut done, mut kernel, mut writes, mut gaps) = (0, 0, 0, 0);
        // Instructions without a reference begin in their time if no load can fill the window.
        let early = gap_cycles != 0 && processor.window_end == NEVER && !self.awaits_init_done;
        for operation in self.streams[process].known() {
            let fetch = operation.kind == OpKind::Fetch;
            let counted = number + u64::from(fetch || !fetches) + u64::from(operation.count);
            let first = operation.addr & self.offset_mask;
            let last = first + u64::from(operation.size.saturating_sub(1));
            if !is_ordinary(operation.kind, fetches, !buffered || buffers)
                || operation.continues
                || last > self.offset_mask
                || operation.flags & PROCESSOR_RELATIVE != 0
                || counted >= processor.window_end
                || done >= processor.slice_left
            {
                break;
            }
            // Most machines count no time for instructions without a reference.
            if gap_cycles != 0 {
                let gap = processor.begin_gap(gap_cycles * u64::from(operation.count));
                (time, gaps) = (time + gap, gaps + gap);
                if time >= horizon {
                    break;
                }
            }
            let block = operation.addr >> self.block_shift;
            let (kind, flags) = (operation.kind, Flags(operation.flags));
            let reference = MemoryReference { processor: at, kind, block, first, last, flags };
            if buffered && kind == OpKind::Write {
                if processor.stores.len() >= model.store_buffer_words as usize
                    || !self.memory.is_mapped(&reference)
                {
                    break;
                }
                processor.stores.push_back(self.memory.access(&reference));
            } else if !self.memory.try_hit(&reference) {
                missed = true;
                break;
            }
            processor.gap_done = false;
            (number, done) = (counted, done + 1);
            kernel += u64::from(flags.contains(Flags::KERNEL));
            writes += u64::from(kind == OpKind::Write);
            time += cycles;
            if time >= horizon && !early {
                break;
            }
        }
        if done == 0 && gaps == 0 {
            return missed;
        }
        processor.instructions = number;
        processor.busy += done * cycles + gaps;
        let counted = ReferenceCounts { references: done, block_references: done, kernel, writes };
        self.went_ahead(at, time, counted);
        false
    }

    /// A processor has done some references, and issues the next one at this time.
    #[inline]
    fn went_ahead(&mut self, at: usize, time: u64, counted: ReferenceCounts) {
        let processor = &mut self.processors[at];
        processor.slice_left -= counted.references;
        let process = processor.process;
        self.wakeups.postpone(at, time);
        self.streams[process].skip(counted.references);
        self.memory.count(counted);
    }
}

/// Whether an operation can be done ahead, in a process that fetches instructions or not, and whose
/// stores can be done or not.
#[inline]
fn is_ordinary(kind: OpKind, fetches: bool, stores: bool) -> bool {
    kind == OpKind::Read || (kind == OpKind::Fetch && fetches) || (kind == OpKind::Write && stores)
}
