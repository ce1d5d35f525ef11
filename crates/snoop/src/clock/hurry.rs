//! Quiet references, several at a time.
//!
//! A reference that needs nobody changes only its own cache. Before something happens by itself,
//! and before the bus can go to somebody, nobody else changes that; so a processor may take such
//! operations ahead of the others, whose time comes later.

use homenode_base::Flags;
use homenode_cache::{CacheArrays, MAY_READ, MAY_WRITE, WordMask};
use homenode_clock::streams::{OpKind, PROCESSOR_RELATIVE};

use super::run::Run;

impl<F: CacheArrays<W>, W: WordMask> Run<F, W> {
    /// The first cycle whose looks may depend on what happens from now on: transactions take place
    /// after the looks of a cycle, everything else before them.
    pub(super) fn horizon(&self) -> u64 {
        let granted = self.arbiter.free_at.max(self.now) + 1;
        self.moments.next().map_or(granted, |at| at.min(granted))
    }

    /// A processor does its next references as long as they are quiet and before the horizon.
    /// Anything out of the ordinary ends that, and is left to [`Self::look`]. Returns whether the
    /// first reference already is known not to be quiet.
    #[inline]
    pub(super) fn hurry(&mut self, at: usize, horizon: u64) -> bool {
        let processor = &mut self.processors[at];
        let process = processor.process;
        let fetches = self.fetches[process];
        let may_write = processor.stores.is_empty();
        let operations = self.streams[process].known();
        if processor.parts != 0 {
            return false;
        }
        let cycles = self.timed.processor.operation_cycles;
        let (mut time, mut number) = (self.agenda.next(at), processor.instructions);
        let (mut done, mut kernel) = (0, 0);
        let mut loud = false;
        for operation in operations {
            let fetch = operation.kind == OpKind::Fetch;
            let need = if operation.kind == OpKind::Read || (fetch && fetches) {
                MAY_READ
            } else if operation.kind == OpKind::Write && may_write {
                MAY_WRITE
            } else {
                break;
            };
            let counted = number + u64::from(fetch || !fetches) + u64::from(operation.count);
            let block = operation.addr >> self.shift;
            let first = operation.addr & self.offset_mask;
            let last = first + u64::from(operation.size.saturating_sub(1));
            if operation.continues
                || last > self.offset_mask
                || operation.flags & PROCESSOR_RELATIVE != 0
                || counted >= processor.limit
                || done >= processor.left
            {
                break;
            }
            let words = W::range(W::word(first), W::word(last));
            let cache = at + if fetch { self.instructions } else { 0 };
            let set = self.bus.caches.frames.set_of(cache, block);
            let guess = self.bus.caches.frames.guess(set, block);
            if !self.bus.hit((set, guess), (block, words), need) {
                loud = true;
                break;
            }
            number = counted;
            done += 1;
            kernel += u64::from(Flags(operation.flags).contains(Flags::KERNEL));
            time += cycles;
            if time >= horizon {
                break;
            }
        }
        if done == 0 {
            return loud;
        }
        processor.instructions = number;
        processor.left -= done;
        processor.busy += done * cycles;
        self.agenda.wake(at, time);
        self.streams[process].skip(done);
        self.bus.caches.counts.references += done;
        self.bus.caches.counts.block_references += done;
        self.bus.caches.counts.kernel.references += kernel;
        false
    }
}
