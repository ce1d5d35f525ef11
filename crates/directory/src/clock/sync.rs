//! Messages that synchronise processes: to the home of a lock or a barrier, and back.
//!
//! A lock has its home where its page has; barriers, conditions and locks whose page nobody has
//! referred to have theirs by number. An acquire is answered when the lock is free. Releases and
//! arrivals are sent, and their processor goes on.

use homenode_clock::streams::OpKind;
use homenode_clock::{MemorySystem, Requesters, SyncRequest};

use crate::home::PageHomes;

/// A message about synchronisation.
#[derive(Clone, Copy, Debug)]
pub(super) enum SyncMessage {
    /// To the home: the operation with this number.
    Operation(u32),
    /// To the processor: it has what it asked for.
    Grant,
    /// To the node of this process: it may go on.
    Wake(u16),
}

/// What becomes of a synchronisation operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyncPart {
    /// Whether what the processor wrote before has to be seen by whoever learns of it.
    pub(super) releases: bool,
    /// Whether it is told to a home.
    pub(super) told: bool,
}

/// What an operation is in terms of release consistency.
pub(super) fn part(kind: OpKind) -> SyncPart {
    let (releases, told) = match kind {
        OpKind::Acquire => (false, true),
        OpKind::Release | OpKind::Arrive => (true, true),
        OpKind::Create | OpKind::Exit | OpKind::InitDone | OpKind::Phase => (true, false),
        OpKind::Depart
        | OpKind::Begin
        | OpKind::Join
        | OpKind::Yield
        | OpKind::Alarm
        | OpKind::Pause
        | OpKind::Resume
        | OpKind::Read
        | OpKind::Write
        | OpKind::Atomic
        | OpKind::Fetch => (false, false),
    };
    SyncPart { releases, told }
}

/// Sends synchronisation operations to their homes, and keeps them until they are there.
#[derive(Debug)]
pub(super) struct Synchroniser {
    block_shift: u32,
    requests: Vec<Option<SyncRequest>>,
    free: Vec<u32>,
    /// When operations have their effects that were looked up, and where they were.
    decided: Vec<(u64, SyncRequest, u16)>,
}

impl Synchroniser {
    pub(super) fn new(block_shift: u32) -> Self {
        Self { block_shift, requests: Vec::new(), free: Vec::new(), decided: Vec::new() }
    }

    /// Keeps an operation. Returns its number.
    fn add(&mut self, request: SyncRequest) -> u32 {
        if let Some(number) = self.free.pop() {
            self.requests[at(number)] = Some(request);
            return number;
        }
        self.requests.push(Some(request));
        u32::try_from(self.requests.len() - 1).unwrap_or(u32::MAX)
    }

    /// The memory whose node decides about a lock or a barrier, and the block of a lock.
    fn home(&self, request: &SyncRequest, (homes, memories): (&PageHomes, u16)) -> (u16, u64) {
        let (kind, addr) = (request.operation.kind, request.operation.addr);
        let lock = matches!(kind, OpKind::Acquire | OpKind::Release);
        let block = addr >> self.block_shift;
        let page = Some(block).filter(|_| lock).and_then(|block| homes.find(block));
        let by_number = if lock { block } else { addr } % u64::from(memories);
        let memory = page.map_or(u16::try_from(by_number).unwrap_or(0), |page| homes.home(page));
        (memory, block)
    }

    /// An operation is to go to its home, of which there are so many. Returns which memory that is,
    /// the block it is of, and what to send.
    pub(super) fn tell(
        &mut self,
        request: &SyncRequest,
        homes: (&PageHomes, u16),
    ) -> (u16, u64, SyncMessage) {
        let (memory, block) = self.home(request, homes);
        (memory, block, SyncMessage::Operation(self.add(*request)))
    }

    /// The home has looked an operation up at this time: it has its effect then.
    pub(super) fn take_effect<M: MemorySystem>(
        &mut self,
        (number, home): (u32, u16),
        then: u64,
        requesters: &mut Requesters<'_, M>,
    ) {
        self.free.push(number);
        let Some(request) = self.requests[at(number)].take() else { return };
        let now = requesters.now();
        self.decided.retain(|&(time, ..)| time >= now);
        self.decided.push((then, request, home));
        if part(request.operation.kind).releases {
            requesters.posted_effect_at(then, request);
        } else {
            requesters.effect_at(then, request.processor);
        }
    }

    /// The node that tells of an operation which has its effect now: the home that has looked it
    /// up, also if the lock's page has got another one since, or whoever did it.
    fn teller(&self, cause: &SyncRequest) -> u16 {
        let decided = self.decided.iter().find(|(_, request, _)| request == cause);
        decided.map_or(node(cause.processor), |&(.., home)| home)
    }

    /// The home tells the processor that it may go on: from where to where, and what.
    pub(super) fn grant(&self, request: &SyncRequest) -> ((u16, u16), SyncMessage) {
        ((self.teller(request), node(request.processor)), SyncMessage::Grant)
    }

    /// The home, or the processor that did something, tells the node of another process, of a
    /// machine with so many processors.
    pub(super) fn wake(
        &self,
        (cause, process): (&SyncRequest, usize),
        processors: usize,
    ) -> ((u16, u16), SyncMessage) {
        let message = SyncMessage::Wake(u16::try_from(process).unwrap_or(u16::MAX));
        ((self.teller(cause), node(process % processors)), message)
    }
}

/// A message about synchronisation has come to a processor, which learns of it at this time.
pub(super) fn answer<M: MemorySystem>(
    to: u16,
    (message, then): (SyncMessage, u64),
    requesters: &mut Requesters<'_, M>,
) {
    match message {
        SyncMessage::Grant => requesters.resume_at(then, usize::from(to)),
        SyncMessage::Wake(process) => requesters.ready_at(then, usize::from(process)),
        SyncMessage::Operation(_) => {}
    }
}

/// The node of a processor.
#[expect(clippy::cast_possible_truncation, reason = "there are at most 1,024 nodes")]
pub(super) fn node(processor: usize) -> u16 {
    processor as u16
}

fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
