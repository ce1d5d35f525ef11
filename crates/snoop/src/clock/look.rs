//! A processor looks into its cache: hits, misses under way, and steps that are no references.

use homenode_base::Flags;
use homenode_cache::{BlockAccess, CacheArrays, MAY_READ, MAY_WRITE, WordMask};
use homenode_clock::streams::{OpKind, Operation, PROCESSOR_RELATIVE};

use super::ClockError;
use super::arbiter::{Ask, Port};
use super::moments::Moment;
use super::processor::Mode;
use super::run::Run;

/// What becomes of a reference.
enum Outcome {
    /// The processor goes on after the operation.
    Goes,
    /// It cannot begin yet.
    Stalls,
    /// It has begun, and the processor waits for it.
    Waits,
}

/// Why a process leaves its processor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    Ended,
    Blocked,
    Preempted,
    Waits,
}

impl<F: CacheArrays<W>, W: WordMask> Run<F, W> {
    /// A processor takes the next step of its process, which is `loud` if it is a reference that is
    /// known not to be quiet. Returns whether the step is known.
    pub(super) fn look(&mut self, at: usize, loud: bool) -> Result<bool, ClockError> {
        let process = self.processors[at].process;
        let Some(mut operation) = self.streams[process].front() else {
            if self.streams[process].is_closed() {
                self.leave(at, Leaving::Ended);
            }
            return Ok(self.streams[process].is_closed());
        };
        if !operation.kind.is_reference() {
            self.synchronise(at, &operation);
            return Ok(true);
        }
        let processor = &self.processors[at];
        // A slice ends between references: what straddles blocks or pages is one.
        if processor.left == 0 && processor.parts == 0 && !operation.continues {
            if self.run_queue.is_empty() {
                self.processors[at].left = self.timed.scheduler.time_slice_references;
            } else {
                self.leave(at, Leaving::Preempted);
                return Ok(true);
            }
        }
        if operation.flags & PROCESSOR_RELATIVE != 0 {
            operation.addr = self.areas.address(operation.addr, at);
        }
        self.refer((at, loud), &operation)?;
        Ok(true)
    }

    /// A reference, or the next block of one that straddles some.
    #[inline]
    fn refer(
        &mut self,
        (at, loud): (usize, bool),
        operation: &Operation,
    ) -> Result<(), ClockError> {
        let processor = &mut self.processors[at];
        let (process, parts) = (processor.process, processor.parts);
        let fetch = operation.kind == OpKind::Fetch;
        let begins = parts == 0 && !operation.continues;
        let counted = u64::from(fetch || !self.fetches[process]) + u64::from(operation.count);
        let number = processor.instructions + if begins { counted } else { 0 };
        if number >= processor.limit {
            self.stall(at);
            return Ok(());
        }
        let end = operation.addr.saturating_add(u64::from(operation.size.saturating_sub(1)));
        let blocks = (end >> self.shift) - (operation.addr >> self.shift);
        let block = (operation.addr >> self.shift) + parts;
        let first = if parts == 0 { operation.addr & self.offset_mask } else { 0 };
        let last = if parts == blocks { end & self.offset_mask } else { self.offset_mask };
        let words = W::range(W::word(first), W::word(last));
        match self.reference((at, loud), operation, (block, words), number)? {
            Outcome::Stalls => {
                self.stall(at);
                return Ok(());
            }
            Outcome::Goes => {
                self.agenda.wake(at, self.now + self.timed.processor.operation_cycles);
            }
            Outcome::Waits => {}
        }
        let processor = &mut self.processors[at];
        processor.busy += self.timed.processor.operation_cycles;
        processor.instructions = number;
        self.bus.caches.counts.block_references += 1;
        if begins {
            self.fetches[process] |= fetch;
            processor.left -= 1;
            self.bus.caches.counts.references += 1;
            let kernel = Flags(operation.flags).contains(Flags::KERNEL);
            self.bus.caches.counts.kernel.references += u64::from(kernel);
        }
        if parts == blocks {
            processor.parts = 0;
            self.streams[process].advance();
        } else {
            processor.parts += 1;
        }
        Ok(())
    }

    /// A reference to some words of a block by the instruction with this number.
    #[inline]
    fn reference(
        &mut self,
        (at, loud): (usize, bool),
        operation: &Operation,
        (block, words): (u64, W),
        number: u64,
    ) -> Result<Outcome, ClockError> {
        let write = operation.kind.writes();
        let cache = at + if operation.kind == OpKind::Fetch { self.instructions } else { 0 };
        let processor = &self.processors[at];
        if operation.kind == OpKind::Atomic && !processor.is_drained() {
            return Ok(Outcome::Stalls);
        }
        let need = if write { MAY_WRITE } else { MAY_READ };
        if !loud && (!write || processor.stores.is_empty()) {
            let set = self.bus.caches.frames.set_of(cache, block);
            let guess = self.bus.caches.frames.guess(set, block);
            if self.bus.hit((set, guess), (block, words), need) {
                return Ok(Outcome::Goes);
            }
        }
        let flags = Flags(operation.flags);
        let piece = BlockAccess {
            cache,
            block,
            words,
            write,
            private: self.is_private(flags),
            kernel: flags.contains(Flags::KERNEL),
        };
        if write { self.store(&piece, operation.kind) } else { self.load(&piece, number) }
    }

    /// A load that is not quiet.
    fn load(&mut self, piece: &BlockAccess<W>, number: u64) -> Result<Outcome, ClockError> {
        let at = self.owner(piece.cache);
        if let Some(slot) = self.processors[at].pending_load(piece) {
            slot.joined.push(*piece);
            return Ok(Outcome::Goes);
        }
        if !self.bus.needs_transaction(piece) {
            self.perform(piece)?;
            return Ok(Outcome::Goes);
        }
        if self.timed.processor.blocking {
            return Ok(self.wait_for(piece));
        }
        let processor = &mut self.processors[at];
        if processor.slots_live as u64 >= u64::from(self.timed.processor.misses_max) {
            return Ok(Outcome::Stalls);
        }
        let rides = processor.has_store(piece);
        let slot = processor.begin_load(*piece, number, rides);
        processor.set_limit(u64::from(self.timed.processor.window_instructions));
        if !rides {
            let (port, block) = (Port::Load(slot), piece.block);
            self.arbiter.ask(Ask { processor: at, port, block, answer: None });
        }
        Ok(Outcome::Goes)
    }

    /// A store that is not quiet, or comes after others.
    fn store(&mut self, piece: &BlockAccess<W>, kind: OpKind) -> Result<Outcome, ClockError> {
        let (at, of) = (self.owner(piece.cache), &self.timed.processor);
        let (words, blocking) = (of.store_buffer_words as usize, of.blocking);
        if self.processors[at].stores.is_empty() && !self.bus.needs_transaction(piece) {
            self.perform(piece)?;
            return Ok(Outcome::Goes);
        }
        let processor = &mut self.processors[at];
        if blocking || words == 0 || kind == OpKind::Atomic {
            // Its own load from the block comes first.
            let first = processor.fetches(piece);
            return Ok(if first { Outcome::Stalls } else { self.wait_for(piece) });
        }
        if processor.stores.len() >= words {
            return Ok(Outcome::Stalls);
        }
        processor.stores.push_back(*piece);
        self.drain_stores(at)?;
        Ok(Outcome::Goes)
    }

    /// The processor waits until the reference is done.
    fn wait_for(&mut self, piece: &BlockAccess<W>) -> Outcome {
        let at = self.owner(piece.cache);
        let processor = &mut self.processors[at];
        processor.waiting = Some(*piece);
        (processor.mode, processor.since) = (Mode::Waits, self.now);
        self.agenda.sleep(at);
        let (port, block) = (Port::Wait, piece.block);
        self.arbiter.ask(Ask { processor: at, port, block, answer: None });
        Outcome::Waits
    }

    /// The processor tries again when one of its transactions is over.
    fn stall(&mut self, at: usize) {
        let processor = &mut self.processors[at];
        (processor.mode, processor.since) = (Mode::Stalls, self.now);
        self.agenda.sleep(at);
    }

    /// A step that is no reference takes no time, once everything before it is done.
    fn synchronise(&mut self, at: usize, operation: &Operation) {
        if !self.processors[at].is_drained() {
            self.stall(at);
            return;
        }
        let process = self.processors[at].process;
        self.streams[process].advance();
        if !self.sync.operate(process, operation) {
            self.leave(at, Leaving::Blocked);
        } else if operation.kind == OpKind::Yield {
            self.leave(at, Leaving::Waits);
        }
        self.wake_all();
    }

    /// Who was waited for is there: those go on that did.
    fn wake_all(&mut self) {
        for process in self.sync.take_woken() {
            self.wake(process);
        }
    }

    /// The process leaves the processor, once everything that it began is done.
    fn leave(&mut self, at: usize, why: Leaving) {
        if !self.processors[at].is_drained() {
            self.stall(at);
            return;
        }
        let processor = &mut self.processors[at];
        let process = processor.process;
        (processor.mode, processor.since) = (Mode::Idle, self.now);
        self.agenda.sleep(at);
        if !self.run_queue.is_empty() {
            self.dispatch_at = self.now + 1;
        }
        match why {
            Leaving::Ended => {
                self.unfinished -= 1;
                self.sync.end(process);
                self.wake_all();
            }
            Leaving::Blocked => self.blocked[process] = true,
            Leaving::Preempted => self.wake(process),
            Leaving::Waits => match self.timed.scheduler.wait_cycles {
                0 => self.wake(process),
                cycles => {
                    self.moments.push(self.now + cycles, process, Moment::Ready);
                }
            },
        }
    }
}
