//! The interface between the clock and a machine's memory system.

use homenode_base::Flags;

use super::ClockedProcessor;
use crate::queue::EventQueue;
use crate::streams::{OpKind, Operation};

/// A reference of a processor to one block; one that straddles blocks is several of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryReference {
    /// The processor that issues it.
    pub processor: usize,
    /// A read, a write, an atomic or a fetch.
    pub kind: OpKind,
    /// Block number: the address without the offset in the block.
    pub block: u64,
    /// Offset of the first byte in the block.
    pub first: u64,
    /// Offset of the last byte in the block.
    pub last: u64,
    /// As in the trace.
    pub flags: Flags,
}

/// The place in a processor where a reference waits for the memory system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A load in the miss status holding register with this number.
    Mshr(u8),
    /// The store at the head of the store buffer.
    StoreBuffer,
    /// A reference that stalls the processor until it completes.
    Blocking,
}

/// A port of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The processor, in 16 bits to keep requests small: they are copied often.
    processor: u16,
    /// Its port.
    pub port: Port,
}

impl Requester {
    /// A port of this processor.
    #[inline]
    #[must_use]
    pub fn new(processor: usize, port: Port) -> Self {
        Self { processor: number(processor), port }
    }

    /// The processor's number.
    #[inline]
    #[must_use]
    pub fn processor(self) -> usize {
        usize::from(self.processor)
    }

    /// The processor and the port as dense indices, for tables by processor and port.
    #[inline]
    #[must_use]
    pub fn place(self) -> (usize, usize) {
        let port = match self.port {
            Port::StoreBuffer => 0,
            Port::Blocking => 1,
            Port::Mshr(number) => 2 + usize::from(number),
        };
        (self.processor(), port)
    }

    /// The rank of events for this port: ordered by processor and port, before the completion
    /// there.
    #[inline]
    #[must_use]
    pub fn rank(self) -> u32 {
        let port = match self.port {
            Port::Mshr(number) => u32::from(number),
            Port::StoreBuffer => 1 << 8,
            Port::Blocking => (1 << 8) + 1,
        };
        u32::from(self.processor) << OWNER_SHIFT | port
    }
}

/// Completed references, for the memory system's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceCounts {
    /// References.
    pub references: u64,
    /// References, with one that straddles blocks counted once per block.
    pub block_references: u64,
    /// References by the kernel.
    pub kernel: u64,
    /// References that write.
    pub writes: u64,
}

impl ReferenceCounts {
    /// Adds a reference to one block.
    #[inline(always)]
    pub(crate) fn add(&mut self, operation: &Operation) {
        self.references += 1;
        self.block_references += 1;
        self.kernel += u64::from(Flags(operation.flags).contains(Flags::KERNEL));
        self.writes += u64::from(operation.kind.writes());
    }
}

/// The memory system below the processors of a timed machine: caches, coherence protocol, network,
/// memory, and their latencies. [`crate::Clock`] runs processors, processes and their
/// synchronisation over it.
///
/// A reference is first tried as a hit without a transaction ([`Self::try_hit`], then
/// [`Self::try_timed_hit`]). A reference that misses there may still need no transaction
/// ([`Self::needs_request`]): it is performed at once. Otherwise a port of its processor requests
/// it. The memory system decides when it is performed ([`Requesters::perform`]) and when its data
/// arrive ([`Requesters::complete_at`]).
///
/// Each cycle processes first the events of the queue, in order; then the processors issue, lowest
/// number first; then comes [`Self::advance`]. The trait is a type parameter of the clock, because
/// it is called for every reference.
pub trait MemorySystem: Sized {
    /// A [`MemoryReference`] in the form in which this memory system keeps it while it is in
    /// flight.
    type Access: Copy;
    /// What a hit changed: enough to roll it back. `()` if that is not possible.
    type Hit: Copy;
    /// A scheduled event of the memory system.
    type Event;
    /// An error that ends the simulation.
    type Error;

    /// Whether [`Self::try_timed_hit`] can perform a reference.
    const HAS_TIMED_HITS: bool = false;

    /// Whether hits can be rolled back, so that processors may perform them ahead of each other for
    /// as long as they like: before this memory system changes a copy, or reads how it was used, it
    /// calls [`Requesters::roll_back`].
    const ROLLS_BACK: bool = false;

    /// Log2 of the block size in bytes.
    fn block_shift(&self) -> u32;

    /// Performs a reference if it is a hit that needs no transaction and that no other cache
    /// observes. Returns whether it was; if not, nothing has changed.
    fn try_hit(&mut self, reference: &MemoryReference) -> bool;

    /// The same for a hit that takes longer than an operation, such as one in a second level.
    /// Returns when it completes, if it was such a hit; the processor waits until then. Called only
    /// for processors that wait for every miss, and only if [`Self::HAS_TIMED_HITS`].
    #[inline]
    fn try_timed_hit(&mut self, now: u64, reference: &MemoryReference) -> Option<u64> {
        let _ = (now, reference);
        None
    }

    /// Loads what a reference of a processor to this block will need into the host's caches.
    #[inline(always)]
    fn prefetch(&self, processor: usize, block: u64) {
        let _ = (processor, block);
    }

    /// As [`Self::try_hit`]; returns what [`Self::roll_back`] needs. Called only if
    /// [`Self::ROLLS_BACK`].
    #[inline]
    fn try_logged_hit(&mut self, reference: &MemoryReference) -> Option<Self::Hit> {
        let _ = reference;
        None
    }

    /// Takes back a hit. Those after it are taken back already.
    #[inline]
    fn roll_back(&mut self, hit: &Self::Hit) {
        let _ = hit;
    }

    /// The block of a hit.
    #[inline]
    fn block_of(hit: &Self::Hit) -> u64 {
        let _ = hit;
        0
    }

    /// Whether a reference changes the order of use of the set in which a hit was.
    #[inline]
    fn same_set(&self, access: &Self::Access, hit: &Self::Hit) -> bool {
        let _ = (access, hit);
        false
    }

    /// As [`Self::try_hit`], for a reference that could not be performed when it was issued, such
    /// as a store that waited behind others in the store buffer.
    fn try_access(&mut self, access: &Self::Access) -> bool;

    /// Converts a reference that was no such hit to the form kept while it is in flight.
    fn access(&self, reference: &MemoryReference) -> Self::Access;

    /// Whether two references of one processor are for the same block in the same cache, so that
    /// the later one waits for the transaction of the earlier one.
    fn same_block(one: &Self::Access, other: &Self::Access) -> bool;

    /// Whether a reference needs a transaction in the current states of all copies.
    fn needs_request(&mut self, access: &Self::Access) -> bool;

    /// Performs a reference: brings all copies into their next states.
    ///
    /// # Errors
    /// When the protocol violates an invariant.
    fn perform(&mut self, now: u64, access: &Self::Access) -> Result<(), Self::Error>;

    /// Starts the transaction that a reference of this port needs.
    fn request(
        &mut self,
        requester: Requester,
        access: &Self::Access,
        requesters: &mut Requesters<'_, Self>,
    );

    /// Processes an event that was put into the queue.
    ///
    /// # Errors
    /// When the protocol violates an invariant.
    fn event(
        &mut self,
        event: Self::Event,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), Self::Error>;

    /// Serves, after the processors have issued in a cycle, the requests that can be served in it.
    /// By default all requests are served by events.
    ///
    /// # Errors
    /// When the protocol violates an invariant.
    #[inline]
    fn advance(&mut self, requesters: &mut Requesters<'_, Self>) -> Result<(), Self::Error> {
        let _ = requesters;
        Ok(())
    }

    /// The next cycle, from now on, in which [`Self::advance`] has work; `None`, the default, if it
    /// has none until the next event or request.
    #[inline]
    fn next_advance(&self, now: u64) -> Option<u64> {
        let _ = now;
        None
    }

    /// The first cycle in which the states of copies may differ from now, even through a request
    /// made now; events of the queue aside. Until then a processor runs ahead of the others as long
    /// as it hits.
    fn undisturbed_until(&self, now: u64) -> u64;

    /// The cycle from which nothing is in flight, given no further requests.
    fn at_rest_from(&self) -> u64;

    /// A processor takes a process. Ignored by default.
    fn switch(&mut self, processor: usize, process: usize) {
        let _ = (processor, process);
    }

    /// Adds completed references to the counts.
    fn count(&mut self, counted: ReferenceCounts);

    /// Takes away references that were counted and are rolled back.
    fn discount(&mut self, counted: ReferenceCounts) {
        let _ = counted;
    }

    /// Discards the counts so far, at the end of initialisation. By default the counts are kept.
    fn restart_counts(&mut self) {}

    /// A processor waited this many cycles for a request of a port, which completes `now`. Ignored
    /// by default.
    #[inline]
    fn waited(&mut self, now: u64, requester: Requester, cycles: u64) {
        let _ = (now, requester, cycles);
    }

    /// Whether the page of a reference is mapped for its processor; if not, [`Self::try_hit`]
    /// returns false. By default all pages are.
    #[inline]
    fn is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let _ = reference;
        true
    }

    /// Handles a page fault: the processor waits until [`Requesters::resume_at`], and retries.
    fn fault(&mut self, reference: &MemoryReference, requesters: &mut Requesters<'_, Self>) {
        requesters.resume_at(requesters.now(), reference.processor);
    }

    /// Begins a synchronisation operation; all earlier references of the processor have completed.
    /// By default it takes no time.
    #[inline]
    fn synchronise(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        let _ = (request, requesters);
        SyncCourse::Now
    }

    /// An operation takes effect: the process that waited for it may go on, or another one that it
    /// has `woken`. Returns whether that process does so at once; if not, it does at
    /// [`Requesters::resume_at`], or is ready at [`Requesters::ready_at`].
    #[inline]
    fn goes_on(
        &mut self,
        cause: &SyncRequest,
        woken: Option<usize>,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        let _ = (cause, woken, requesters);
        true
    }
}

/// A synchronisation operation, with its processor and process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncRequest {
    /// The processor.
    pub processor: usize,
    /// The process that issues it.
    pub process: usize,
    /// The operation.
    pub operation: Operation,
}

/// When a synchronisation operation takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCourse {
    /// Now.
    Now,
    /// Not yet: the processor retries the operation at [`Requesters::resume_at`].
    Later,
    /// At [`Requesters::effect_at`]; the processor waits until then.
    Awaited,
    /// At [`Requesters::posted_effect_at`]; the processor continues meanwhile. Only for operations
    /// that never block their own process: a release, an arrival, a creation.
    Posted,
}

/// Kinds of events in the rank of one, above 12 bits for the port.
const KIND_SHIFT: u32 = 12;
/// The processor or process in the rank of an event.
const OWNER_SHIFT: u32 = 16;

pub(crate) enum ClockEvent<E> {
    Memory(E),
    Complete(Requester),
    /// A processor that waits for something other than a reference resumes.
    Resume(u16),
    /// The synchronisation operation that the processor waits for takes effect.
    Effect(u16),
    /// A posted synchronisation operation takes effect.
    Posted(Box<SyncRequest>),
    /// A process is ready again.
    Ready(u16),
}

/// The memory system's view of the processors: the requests at their ports, and the event queue.
pub struct Requesters<'a, M: MemorySystem> {
    pub(crate) now: u64,
    pub(crate) processors: &'a mut [ClockedProcessor<M>],
    pub(crate) queue: &'a mut EventQueue<ClockEvent<M::Event>>,
    /// Processors whose hits were rolled back in the memory system and not yet in the clock.
    pub(crate) rolled_back: &'a mut Vec<usize>,
}

impl<M: MemorySystem> Requesters<'_, M> {
    /// The current cycle.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Performs the reference at a port and those that wait for its transaction: calls `perform`
    /// for each, in issue order.
    ///
    /// # Errors
    /// What `perform` returns.
    #[inline]
    pub fn perform(
        &mut self,
        requester: Requester,
        perform: impl FnMut(&M::Access) -> Result<(), M::Error>,
    ) -> Result<(), M::Error> {
        let processor = &mut self.processors[requester.processor()];
        match requester.port {
            Port::Mshr(number) => processor.perform_load(usize::from(number), perform),
            Port::StoreBuffer => processor.perform_store(perform),
            Port::Blocking => processor.perform_blocking(perform),
        }
    }

    /// Whether hits of a processor in this block, later than this cycle, have been performed.
    #[inline]
    #[must_use]
    pub fn is_ahead_in(&self, processor: usize, block: u64) -> bool {
        let ahead = &self.processors[processor].ahead;
        ahead.may_have(block) && ahead.reaches(self.now + 1)
    }

    /// Whether hits of a processor, later than this cycle, have been performed.
    #[inline]
    #[must_use]
    pub fn is_ahead(&self, processor: usize) -> bool {
        self.processors[processor].ahead.reaches(self.now + 1)
    }

    /// Rolls back the hits of a processor that it has performed ahead: the first one later than
    /// this cycle that is `concerned`, and all after it. To be called from
    /// [`MemorySystem::advance`].
    pub fn roll_back(
        &mut self,
        memory: &mut M,
        processor: usize,
        concerned: impl Fn(&M::Hit) -> bool,
    ) {
        let ahead = &mut self.processors[processor].ahead;
        if ahead.roll_back(memory, self.now + 1, |_, hit| concerned(hit)) {
            self.rolled_back.push(processor);
        }
    }

    /// Completes the request of a port at this time: frees the port and lets the processor
    /// continue.
    #[inline]
    pub fn complete_at(&mut self, time: u64, requester: Requester) {
        let rank = requester.rank() | 1 << KIND_SHIFT;
        self.queue.push(time, rank, ClockEvent::Complete(requester));
    }

    /// Resumes, at this time, a processor that waits for something other than a reference.
    pub fn resume_at(&mut self, time: u64, processor: usize) {
        let event = ClockEvent::Resume(number(processor));
        self.queue.push(time, sync_rank(processor), event);
    }

    /// The synchronisation operation that a processor waits for ([`SyncCourse::Awaited`]) takes
    /// effect at this time.
    pub fn effect_at(&mut self, time: u64, processor: usize) {
        let event = ClockEvent::Effect(number(processor));
        self.queue.push(time, sync_rank(processor), event);
    }

    /// A posted synchronisation operation ([`SyncCourse::Posted`]) takes effect at this time.
    pub fn posted_effect_at(&mut self, time: u64, request: SyncRequest) {
        let rank = sync_rank(request.processor);
        self.queue.push(time, rank, ClockEvent::Posted(Box::new(request)));
    }

    /// A process that waited for another one is ready from this time on.
    pub fn ready_at(&mut self, time: u64, process: usize) {
        let event = ClockEvent::Ready(number(process));
        self.queue.push(time, ready_rank(process), event);
    }

    /// Schedules a call of [`MemorySystem::event`]. Events of one cycle are processed by rank,
    /// lowest first.
    #[inline]
    pub fn schedule_at(&mut self, time: u64, rank: u32, event: M::Event) {
        self.queue.push(time, rank, ClockEvent::Memory(event));
    }
}

/// A processor or process number in 16 bits, the width of thread numbers in a trace and of
/// processor numbers in a machine.
#[inline]
pub(crate) fn number(owner: usize) -> u16 {
    u16::try_from(owner).unwrap_or(u16::MAX)
}

/// The rank of a process that becomes ready: by its number, after the events of the processor with
/// that number.
pub(crate) fn ready_rank(process: usize) -> u32 {
    u32::from(number(process)) << OWNER_SHIFT | 2 << KIND_SHIFT
}

/// The rank of the effect of a synchronisation operation, after completions at the processor.
pub(crate) fn sync_rank(processor: usize) -> u32 {
    u32::from(number(processor)) << OWNER_SHIFT | 3 << KIND_SHIFT
}
