//! Issues the operations of a processor: hits, and misses in flight.

use homenode_base::Flags;

use super::Clock;
use crate::processor::{ClockedProcessor, Mode};
use crate::processor::{MemoryReference, MemorySystem, Port, ReferenceCounts, Requester};
use crate::streams::{OpKind, Operation, PROCESSOR_RELATIVE};
use crate::time::StallCause;

use super::processes::LeaveReason;

/// The outcome of an attempt to issue a reference.
enum Issued {
    /// Issued; the processor continues after the operation.
    GoesOn,
    /// Performed in a cache of the processor's own; the operation begins at this time.
    Hits(u64),
    /// Not issued; the processor retries later.
    Stalls(StallCause),
    /// Issued; the processor waits until it completes.
    Waits,
    /// Not issued: its page is not mapped, and the processor waits for the page.
    Faults,
}

impl<M: MemorySystem> Clock<M> {
    /// Issues the next operation of a processor's process; `missed` if it is a reference that has
    /// already been tried as a hit. Returns whether the operation is known.
    pub(super) fn issue(&mut self, at: usize, missed: bool) -> Result<bool, M::Error> {
        let process = self.processors[at].process;
        let Some(mut operation) = self.streams[process].front() else {
            let closed = self.streams[process].is_closed();
            if closed {
                self.leave(at, LeaveReason::Ended);
            }
            return Ok(closed);
        };
        if !operation.kind.is_reference() {
            self.synchronise(at, &operation);
            return Ok(true);
        }
        let processor = &self.processors[at];
        // A slice ends between references; a reference that straddles blocks or pages is one.
        let between = processor.blocks_done == 0 && !operation.continues;
        if between && self.is_work_done() {
            self.leave(at, LeaveReason::Stopped);
            return Ok(true);
        }
        if between && processor.slice_left == 0 {
            if self.run_queue.is_empty() {
                self.processors[at].slice_left = self.scheduler.time_slice_references;
            } else {
                self.leave(at, LeaveReason::Preempted);
                return Ok(true);
            }
        }
        if operation.flags & PROCESSOR_RELATIVE != 0 {
            operation.addr = self.areas.address(operation.addr, at);
        }
        self.issue_reference(at, missed, &operation)?;
        Ok(true)
    }

    /// Issues a reference, or the next block of one that straddles blocks.
    #[inline]
    fn issue_reference(
        &mut self,
        at: usize,
        missed: bool,
        operation: &Operation,
    ) -> Result<(), M::Error> {
        let processor = &self.processors[at];
        let (process, done) = (processor.process, processor.blocks_done);
        let fetch = operation.kind == OpKind::Fetch;
        let begins = done == 0 && !operation.continues;
        // If the process fetches instructions, the fetches are counted as instructions.
        let counted = u64::from(fetch || !self.fetches[process]) + u64::from(operation.count);
        let number = processor.instructions + if begins { counted } else { 0 };
        if begins && operation.count > 0 && self.pass_gap(at, operation) {
            return Ok(());
        }
        let processor = &self.processors[at];
        if number >= processor.window_end || self.now >= processor.window_full_at {
            self.stall(at, StallCause::Read);
            return Ok(());
        }
        let start = operation.addr;
        // Saturates: a size in the trace must not reach beyond the address space.
        let end = start.saturating_add(u64::from(operation.size.saturating_sub(1)));
        let further = (end >> self.block_shift) - (start >> self.block_shift);
        let flags = Flags(operation.flags);
        let reference = MemoryReference {
            processor: at,
            kind: operation.kind,
            block: (start >> self.block_shift) + done,
            first: if done == 0 { start & self.offset_mask } else { 0 },
            last: if done == further { end & self.offset_mask } else { self.offset_mask },
            flags,
        };
        match self.access(&reference, missed, number)? {
            Issued::Stalls(cause) => {
                self.stall(at, cause);
                return Ok(());
            }
            Issued::Faults => return Ok(()),
            Issued::GoesOn => self.wakeups.postpone(at, self.now + self.processor.operation_cycles),
            Issued::Hits(time) => {
                self.wakeups.postpone(at, time + self.processor.operation_cycles);
            }
            Issued::Waits => {}
        }
        let processor = &mut self.processors[at];
        processor.busy += self.processor.operation_cycles;
        processor.instructions = number;
        let mut counted = ReferenceCounts { block_references: 1, ..ReferenceCounts::default() };
        if begins {
            self.fetches[process] |= fetch;
            processor.gap_done = false;
            processor.slice_left -= 1;
            counted.references = 1;
            counted.kernel = u64::from(flags.contains(Flags::KERNEL));
            counted.writes = u64::from(operation.kind.writes());
        }
        let last = done == further;
        processor.blocks_done = if last { 0 } else { done + 1 };
        self.begin(process, counted.references);
        self.memory.count(counted);
        if last {
            self.streams[process].advance();
        }
        Ok(())
    }

    /// Executes the instructions before a reference. Returns whether the reference has to wait for
    /// them.
    fn pass_gap(&mut self, at: usize, operation: &Operation) -> bool {
        let cycles = u64::from(operation.count) * self.processor.instruction_cycles;
        let processor = &mut self.processors[at];
        if cycles == 0 || processor.gap_done {
            return false;
        }
        // The instructions before the reference may themselves be beyond the window.
        let full = self.now >= processor.window_full_at;
        if full || processor.instructions + 1 >= processor.window_end {
            self.stall(at, StallCause::Read);
            return true;
        }
        processor.busy += processor.begin_gap(cycles);
        self.wakeups.postpone(at, self.now + cycles);
        true
    }

    /// Issues a reference to one block by the instruction with this number.
    #[inline]
    fn access(
        &mut self,
        reference: &MemoryReference,
        missed: bool,
        number: u64,
    ) -> Result<Issued, M::Error> {
        let (at, write) = (reference.processor, reference.kind.writes());
        let processor = &self.processors[at];
        // An atomic is a full fence: all earlier references complete first.
        if reference.kind == OpKind::Atomic && !processor.is_drained() {
            let writes = processor.loads_in_flight() == 0;
            return Ok(Issued::Stalls(if writes { StallCause::Write } else { StallCause::Read }));
        }
        // A fetch of a block that is in flight waits for that request.
        if reference.kind == OpKind::Fetch
            && processor.has_requests_in_flight()
            && processor.has_in_flight(&self.memory.access(reference))
        {
            return Ok(Issued::Stalls(StallCause::Read));
        }
        let in_order = !write || processor.stores.is_empty();
        if !missed && in_order {
            let timed = self.does_timed_hits();
            let (processor, memory) = (&mut self.processors[at], &mut self.memory);
            if let Some(time) = hit(processor, memory, self.now, timed, reference) {
                return Ok(Issued::Hits(time));
            }
        }
        if !self.memory.is_mapped(reference) {
            self.begin_wait(at, Mode::Waits, StallCause::System);
            let (memory, mut requesters) = self.split();
            memory.fault(reference, &mut requesters);
            return Ok(Issued::Faults);
        }
        let access = self.memory.access(reference);
        if reference.kind == OpKind::Fetch {
            self.fetch(at, &access)
        } else if write {
            self.store(at, &access, reference.kind)
        } else {
            self.load(at, &access, number)
        }
    }

    /// Whether hits that take longer than an operation are performed at once. Not before the end of
    /// initialisation, at which counts restart: a wait could span it.
    #[inline(always)]
    pub(super) fn does_timed_hits(&self) -> bool {
        M::HAS_TIMED_HITS && self.processor.blocking && !self.awaits_init_done
    }

    /// A fetch that missed. An instruction window cannot hide missing instructions, so the
    /// processor waits; loads in flight continue.
    fn fetch(&mut self, at: usize, fetch: &M::Access) -> Result<Issued, M::Error> {
        if !self.memory.needs_request(fetch) {
            self.memory.perform(self.now, fetch)?;
            return Ok(Issued::GoesOn);
        }
        if !self.has_free_mshr(at) {
            return Ok(Issued::Stalls(StallCause::Read));
        }
        Ok(self.wait_for(at, fetch, StallCause::Read))
    }

    fn has_free_mshr(&self, at: usize) -> bool {
        let in_flight = self.processors[at].loads_in_flight() as u64;
        self.processor.blocking || in_flight < u64::from(self.processor.misses_max)
    }

    fn load(&mut self, at: usize, load: &M::Access, number: u64) -> Result<Issued, M::Error> {
        if self.processors[at].merge_load(load) {
            return Ok(Issued::GoesOn);
        }
        if !self.memory.needs_request(load) {
            self.memory.perform(self.now, load)?;
            return Ok(Issued::GoesOn);
        }
        if self.processor.blocking {
            return Ok(self.wait_for(at, load, StallCause::Read));
        }
        if !self.has_free_mshr(at) {
            return Ok(Issued::Stalls(StallCause::Read));
        }
        let processor = &mut self.processors[at];
        let behind_store = processor.has_store(load);
        let mshr = processor.begin_load(*load, number, self.now, behind_store);
        processor.update_window(&self.window);
        if !behind_store {
            self.request(Requester::new(at, Port::Mshr(mshr)), load);
        }
        Ok(Issued::GoesOn)
    }

    /// A store that missed, or that waits behind other stores.
    fn store(&mut self, at: usize, store: &M::Access, kind: OpKind) -> Result<Issued, M::Error> {
        if self.processors[at].stores.is_empty() && !self.memory.needs_request(store) {
            self.memory.perform(self.now, store)?;
            return Ok(Issued::GoesOn);
        }
        let (words, blocking) =
            (self.processor.store_buffer_words as usize, self.processor.blocking);
        let processor = &mut self.processors[at];
        if blocking || words == 0 || kind == OpKind::Atomic {
            // A load of the same block that is in flight completes first.
            let first = processor.fetches(store);
            let write = StallCause::Write;
            return Ok(if first { Issued::Stalls(write) } else { self.wait_for(at, store, write) });
        }
        if processor.stores.len() >= words {
            return Ok(Issued::Stalls(StallCause::Write));
        }
        processor.stores.push_back(*store);
        // Alone in the buffer it is known to need its request; behind others it waits.
        if processor.stores.len() == 1 && !processor.fetches(store) {
            self.request_store(at, store);
        }
        Ok(Issued::GoesOn)
    }

    /// Performs buffered stores in order, up to one that needs a request.
    pub(super) fn drain_stores(&mut self, at: usize) -> Result<(), M::Error> {
        for number in 0..self.processors[at].stores.len() {
            self.roll_back_own(at, number);
        }
        self.drain_hits(at);
        while let Some(&head) = self.processors[at].stores.front()
            && !self.processors[at].head_requested
            && !self.processors[at].fetches(&head)
        {
            let behind = self.processors[at].has_loads_behind_stores();
            if behind || !self.memory.try_access(&head) {
                if self.memory.needs_request(&head) {
                    self.request_store(at, &head);
                    break;
                }
                let (memory, now) = (&mut self.memory, self.now);
                self.processors[at].perform_store(|access| memory.perform(now, access))?;
            }
            self.processors[at].end_store();
            self.drain_hits(at);
        }
        Ok(())
    }

    /// Performs the buffered stores that hit, while no load is in flight. Most stores of a buffer
    /// write the block that the first of them fetched.
    fn drain_hits(&mut self, at: usize) {
        let Self { memory, processors, .. } = self;
        let processor = &mut processors[at];
        if processor.head_requested || processor.loads_in_flight() > 0 {
            return;
        }
        let mut hits = 0;
        for store in &processor.stores {
            if !memory.try_access(store) {
                break;
            }
            hits += 1;
        }
        processor.stores.drain(..hits);
    }

    /// Requests the block for the store at the head of the buffer.
    fn request_store(&mut self, at: usize, head: &M::Access) {
        self.processors[at].head_requested = true;
        self.request(Requester::new(at, Port::StoreBuffer), head);
    }

    /// Requests a reference, and stalls the processor until it completes.
    fn wait_for(&mut self, at: usize, access: &M::Access, cause: StallCause) -> Issued {
        self.processors[at].blocking = Some(*access);
        self.begin_wait(at, Mode::Waits, cause);
        self.request(Requester::new(at, Port::Blocking), access);
        Issued::Waits
    }

    #[inline]
    fn request(&mut self, requester: Requester, access: &M::Access) {
        let (memory, mut requesters) = self.split();
        memory.request(requester, access, &mut requesters);
    }

    /// Stalls the processor until one of its requests completes.
    pub(super) fn stall(&mut self, at: usize, cause: StallCause) {
        self.begin_wait(at, Mode::Stalls, cause);
    }

    pub(super) fn begin_wait(&mut self, at: usize, mode: Mode, cause: StallCause) {
        let processor = &mut self.processors[at];
        (processor.mode, processor.stall, processor.since) = (mode, cause, self.now);
        self.streams[processor.process].prefetch();
        self.wakeups.sleep(at);
    }
}

/// Performs a reference if it hits; with `timed`, also if the hit takes longer than an operation.
/// Returns when the operation begins, or `None` on a miss.
#[inline(always)]
pub(super) fn hit<M: MemorySystem>(
    processor: &mut ClockedProcessor<M>,
    memory: &mut M,
    now: u64,
    timed: bool,
    reference: &MemoryReference,
) -> Option<u64> {
    if memory.try_hit(reference) {
        return Some(now);
    }
    if !timed {
        return None;
    }
    let done = memory.try_timed_hit(now, reference)?;
    let cause = if reference.kind.writes() { StallCause::Write } else { StallCause::Read };
    processor.lose(done - now, cause);
    Some(done)
}
