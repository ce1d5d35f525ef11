//! What a machine brings: memory, what connects it to the processors, and prices.

use homenode_base::Flags;

use super::ClockedProcessor;
use crate::queue::EventQueue;
use crate::streams::{OpKind, Operation};

/// A reference of a processor to one block; one that straddles blocks is several of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryReference {
    /// Who refers.
    pub processor: usize,
    /// A read, a write, an atomic or a fetch.
    pub kind: OpKind,
    /// The number of the block: its address without the offset.
    pub block: u64,
    /// Offset of the first byte.
    pub first: u64,
    /// Offset of the last byte.
    pub last: u64,
    /// As in the trace.
    pub flags: Flags,
}

/// Where in a processor a reference waits that memory was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Port {
    /// A load in the miss status holding register with this number.
    Mshr(u8),
    /// The store at the head of the store buffer.
    StoreBuffer,
    /// A reference that the processor itself waits for.
    Blocking,
}

/// A port of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The processor; small, as requests are moved about.
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

    /// The processor.
    #[inline]
    #[must_use]
    pub fn processor(self) -> usize {
        usize::from(self.processor)
    }

    /// The numbers of the processor and of the port there, both small.
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

    /// A rank for events that concern the port: by processor and port, before what completes there.
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

/// References that took place, for the memory system's counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceCounts {
    /// References.
    pub references: u64,
    /// The same, where one that straddles blocks counts for each.
    pub block_references: u64,
    /// Those of the kernel among the references.
    pub kernel: u64,
    /// Those that write.
    pub writes: u64,
}

/// What is below the processors of a timed machine: caches, what keeps them coherent, the network,
/// memory, and what all that costs. The clock drives processors, processes and their
/// synchronisation over it ([`crate::Clock`]).
///
/// A reference is first tried as a hit without a transaction ([`Self::try_hit`], then
/// [`Self::try_timed_hit`]). One that is none may still need no transaction
/// ([`Self::needs_request`]) and is performed at once; else it is requested from a port of its
/// processor. The memory system decides when it takes place ([`Requesters::perform`]) and when its
/// data are there ([`Requesters::complete_at`]).
///
/// In each cycle: events of the queue first, in their order; then processors issue, the lowest
/// first; then [`Self::advance`]. The trait is a static parameter of the clock, as there is a call
/// for every reference.
pub trait MemorySystem: Sized {
    /// A [`MemoryReference`] as this memory system keeps it while it is under way.
    type Access: Copy;
    /// What happens by itself at a known time.
    type Event;
    /// Why a simulation cannot go on.
    type Error;

    /// Whether [`Self::try_timed_hit`] ever does a reference.
    const HAS_TIMED_HITS: bool = false;

    /// Bytes in a block, as a shift.
    fn block_shift(&self) -> u32;

    /// Does a reference if it is a hit that needs no transaction and that nobody else learns of.
    /// Returns whether that was so; if not, nothing has changed.
    fn try_hit(&mut self, reference: &MemoryReference) -> bool;

    /// The same for a hit that takes longer than an operation, in a second level perhaps. Returns
    /// when it is done, if it was such a hit; the processor waits for that. Asked only of
    /// processors that wait for every miss, and not while [`Self::HAS_TIMED_HITS`] is false.
    #[inline]
    fn try_timed_hit(&mut self, now: u64, reference: &MemoryReference) -> Option<u64> {
        let _ = (now, reference);
        None
    }

    /// As [`Self::try_hit`], for a reference that could not be done when it was issued, such as a
    /// store that waited for others in the store buffer.
    fn try_access(&mut self, access: &Self::Access) -> bool;

    /// What is kept of a reference that was no such hit.
    fn access(&self, reference: &MemoryReference) -> Self::Access;

    /// Whether two references of one processor are for the same block in the same cache, so that
    /// the later one waits for the same transaction as the earlier one.
    fn same_block(one: &Self::Access, other: &Self::Access) -> bool;

    /// Whether a reference needs a transaction, by the states that all copies are in now.
    fn needs_request(&mut self, access: &Self::Access) -> bool;

    /// A reference takes place: all copies become what they are after it.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    fn perform(&mut self, now: u64, access: &Self::Access) -> Result<(), Self::Error>;

    /// A processor asks for what a reference needs.
    fn request(
        &mut self,
        requester: Requester,
        access: &Self::Access,
        requesters: &mut Requesters<'_, Self>,
    );

    /// Something happens that was put into the queue.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    fn event(
        &mut self,
        event: Self::Event,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), Self::Error>;

    /// Serves, after the processors have issued in a cycle, whoever can be served in it.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    fn advance(&mut self, requesters: &mut Requesters<'_, Self>) -> Result<(), Self::Error>;

    /// When [`Self::advance`] has something to do, from now on; not if only events of the queue or
    /// requests can change that.
    fn next_advance(&self, now: u64) -> Option<u64>;

    /// The first cycle in which processors may find other copies than now, be it by a request that
    /// is made now; events of the queue aside. Up to there a processor runs ahead of the others as
    /// long as it hits.
    fn undisturbed_until(&self, now: u64) -> u64;

    /// From when on nothing is under way, if nobody asks for anything more.
    fn at_rest_from(&self) -> u64;

    /// References took place.
    fn count(&mut self, counted: ReferenceCounts);

    /// What was counted so far is not wanted: initialisation is over. By default nothing is thrown
    /// away.
    fn restart_counts(&mut self) {}

    /// A processor waited so many cycles for what it asked for at a port, which is there `now`. By
    /// default nobody wants to know.
    #[inline]
    fn waited(&mut self, now: u64, requester: Requester, cycles: u64) {
        let _ = (now, requester, cycles);
    }

    /// Whether a processor may refer to the page of a reference; [`Self::try_hit`] is false if it
    /// may not. By default it always may.
    #[inline]
    fn is_mapped(&mut self, reference: &MemoryReference) -> bool {
        let _ = reference;
        true
    }

    /// A processor refers to a page to which it may not: it waits until
    /// [`Requesters::resume_at`], and tries again.
    fn fault(&mut self, reference: &MemoryReference, requesters: &mut Requesters<'_, Self>) {
        requesters.resume_at(requesters.now(), reference.processor);
    }

    /// A processor comes to a synchronisation operation, and everything that it began before is
    /// done. By default that takes no time.
    #[inline]
    fn synchronise(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        let _ = (request, requesters);
        SyncCourse::Now
    }

    /// The operation that a processor waited for has its effect, and lets the processor go on.
    /// Returns whether it does so at once; else at [`Requesters::resume_at`].
    #[inline]
    fn granted(&mut self, request: &SyncRequest, requesters: &mut Requesters<'_, Self>) -> bool {
        let _ = (request, requesters);
        true
    }

    /// An operation lets another process go on. Returns whether that learns of it at once; else at
    /// [`Requesters::ready_at`].
    #[inline]
    fn woken(
        &mut self,
        cause: &SyncRequest,
        process: usize,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        let _ = (cause, process, requesters);
        true
    }
}

/// A synchronisation operation, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncRequest {
    /// The processor.
    pub processor: usize,
    /// The process that it runs.
    pub process: usize,
    /// What the process does.
    pub operation: Operation,
}

/// When a synchronisation operation has its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncCourse {
    /// Now.
    Now,
    /// Not yet: the processor comes to the operation again at [`Requesters::resume_at`].
    Later,
    /// At [`Requesters::effect_at`], for which the processor waits.
    Awaited,
    /// At [`Requesters::posted_effect_at`]; the processor goes on meanwhile. Nobody may wait for
    /// the effect himself: a release, an arrival, a creation.
    Posted,
}

/// Kinds of events in the rank of one, above 12 bits for the port.
const KIND_SHIFT: u32 = 12;
/// The processor or process in the rank of an event.
const OWNER_SHIFT: u32 = 16;

/// What happens by itself at a known time.
pub(crate) enum ClockEvent<E> {
    /// Something in the memory system.
    Memory(E),
    /// What a port asked for is there.
    Complete(Requester),
    /// A processor that waited for something else than a reference goes on.
    Resume(u16),
    /// The synchronisation operation that the processor waits for has its effect.
    Effect(u16),
    /// One that nobody waits for has its effect.
    Posted(Box<SyncRequest>),
    /// A process is ready again.
    Ready(u16),
}

/// All processors, as far as the memory system has to do with them: what waits at their ports.
pub struct Requesters<'a, M: MemorySystem> {
    pub(crate) now: u64,
    pub(crate) processors: &'a mut [ClockedProcessor<M>],
    pub(crate) queue: &'a mut EventQueue<ClockEvent<M::Event>>,
}

impl<M: MemorySystem> Requesters<'_, M> {
    /// The time.
    #[inline]
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The reference at a port takes place, and with it those that wait for its transaction:
    /// `perform` is called for each, in the order in which they were issued.
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

    /// What a port asked for will be there at this time: the port is free, and the processor may go
    /// on.
    #[inline]
    pub fn complete_at(&mut self, time: u64, requester: Requester) {
        let rank = requester.rank() | 1 << KIND_SHIFT;
        self.queue.push(time, rank, ClockEvent::Complete(requester));
    }

    /// A processor goes on at this time that waits for something else than a reference.
    pub fn resume_at(&mut self, time: u64, processor: usize) {
        let event = ClockEvent::Resume(number(processor));
        self.queue.push(time, sync_rank(processor), event);
    }

    /// The synchronisation operation that a processor waits for ([`SyncCourse::Awaited`]) has its
    /// effect at this time.
    pub fn effect_at(&mut self, time: u64, processor: usize) {
        let event = ClockEvent::Effect(number(processor));
        self.queue.push(time, sync_rank(processor), event);
    }

    /// A synchronisation operation that nobody waits for ([`SyncCourse::Posted`]) has its effect at
    /// this time.
    pub fn posted_effect_at(&mut self, time: u64, request: SyncRequest) {
        let rank = sync_rank(request.processor);
        self.queue.push(time, rank, ClockEvent::Posted(Box::new(request)));
    }

    /// A process goes on from this time on that waited for another one.
    pub fn ready_at(&mut self, time: u64, process: usize) {
        let event = ClockEvent::Ready(number(process));
        self.queue.push(time, ready_rank(process), event);
    }

    /// [`MemorySystem::event`] is called at this time. Of the events at one time those of the
    /// lowest rank come first.
    #[inline]
    pub fn schedule_at(&mut self, time: u64, rank: u32, event: M::Event) {
        self.queue.push(time, rank, ClockEvent::Memory(event));
    }
}

/// The number of a processor or process: threads of a trace and processors of a machine have
/// numbers of 16 bits.
#[inline]
pub(crate) fn number(owner: usize) -> u16 {
    u16::try_from(owner).unwrap_or(u16::MAX)
}

/// The rank of a process that becomes ready: by its number, after what concerns the processor with
/// that number.
pub(crate) fn ready_rank(process: usize) -> u32 {
    u32::from(number(process)) << OWNER_SHIFT | 2 << KIND_SHIFT
}

/// The rank of the effect of a synchronisation operation, after what completes at the processor.
pub(crate) fn sync_rank(processor: usize) -> u32 {
    u32::from(number(processor)) << OWNER_SHIFT | 3 << KIND_SHIFT
}
