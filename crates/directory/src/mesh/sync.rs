//! Messages of synchronisation: to the home of a lock or a barrier, and back.
//!
//! The home of a lock is the home of its page; barriers, conditions and locks on pages without a
//! reference get a home by number. An acquire is answered when the lock is free. Releases and
//! arrivals are sent, and the processor continues.

use homenode_clock::streams::OpKind;
use homenode_clock::{MemorySystem, Requesters, SyncRequest};

use super::network::Route;
use crate::home::PageHomes;

#[derive(Clone, Copy, Debug)]
pub(crate) enum SyncMessage {
    /// To the home: the operation with this index.
    Operation(u32),
    /// To the processor: its acquire has succeeded.
    Grant,
    /// To the node of this process: it may continue.
    Wake(u16),
}

/// How a synchronisation operation is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncPart {
    /// Whether earlier writes of the processor have to be visible to processes that observe it.
    pub(crate) releases: bool,
    /// Whether a message about it goes to a home.
    pub(crate) sent: bool,
}

/// The role of an operation under release consistency.
pub(crate) fn part(kind: OpKind) -> SyncPart {
    let (releases, sent) = match kind {
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
    SyncPart { releases, sent }
}

/// Sends synchronisation operations to their homes, and stores them until they arrive.
#[derive(Debug)]
pub(crate) struct Synchroniser {
    block_shift: u32,
    requests: Vec<Option<SyncRequest>>,
    free: Vec<u32>,
    /// Operations whose effect is decided: when it takes place, and the home.
    decided: Vec<(u64, SyncRequest, u16)>,
}

impl Synchroniser {
    pub(crate) fn new(block_shift: u32) -> Self {
        Self { block_shift, requests: Vec::new(), free: Vec::new(), decided: Vec::new() }
    }

    /// Stores an operation. Returns its index.
    fn add(&mut self, request: SyncRequest) -> u32 {
        if let Some(number) = self.free.pop() {
            self.requests[at(number)] = Some(request);
            return number;
        }
        self.requests.push(Some(request));
        u32::try_from(self.requests.len() - 1).unwrap_or(u32::MAX)
    }

    /// The memory that decides about a lock or a barrier, and the block of a lock.
    fn home(&self, request: &SyncRequest, homes: &PageHomes, memories: u16) -> (u16, u64) {
        let (kind, addr) = (request.operation.kind, request.operation.addr);
        let lock = matches!(kind, OpKind::Acquire | OpKind::Release);
        let block = addr >> self.block_shift;
        let page = Some(block).filter(|_| lock).and_then(|block| homes.find(block));
        let by_number = if lock { block } else { addr } % u64::from(memories);
        let memory = page.map_or(u16::try_from(by_number).unwrap_or(0), |page| homes.home(page));
        (memory, block)
    }

    /// Stores an operation that goes to its home, one of `memories` memories. Returns that memory,
    /// the block, and the message.
    pub(crate) fn submit(
        &mut self,
        request: &SyncRequest,
        homes: &PageHomes,
        memories: u16,
    ) -> (u16, u64, SyncMessage) {
        let (memory, block) = self.home(request, homes, memories);
        (memory, block, SyncMessage::Operation(self.add(*request)))
    }

    /// The home has looked up an operation, which takes effect at `then`.
    pub(crate) fn take_effect<M: MemorySystem>(
        &mut self,
        number: u32,
        home: u16,
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

    /// The node that sends the effect of an operation: the home that looked it up, even if the
    /// lock's page has moved since, or else the processor that performed it.
    fn sender(&self, cause: &SyncRequest) -> u16 {
        let decided = self.decided.iter().find(|(_, request, _)| request == cause);
        decided.map_or(node(cause.processor), |&(.., home)| home)
    }

    /// The message by which the home, or the processor that performed an operation, lets its
    /// process go on, or one that it has woken.
    pub(crate) fn lets_go_on(
        &self,
        cause: &SyncRequest,
        woken: Option<usize>,
        processors: usize,
    ) -> (Route, SyncMessage) {
        let wake = |process| SyncMessage::Wake(u16::try_from(process).unwrap_or(u16::MAX));
        let to = woken.map_or(cause.processor, |process| process % processors);
        (Route::new(self.sender(cause), node(to)), woken.map_or(SyncMessage::Grant, wake))
    }
}

/// A message of synchronisation has arrived at a processor, and takes effect at `then`.
pub(crate) fn answer<M: MemorySystem>(
    to: u16,
    message: SyncMessage,
    then: u64,
    requesters: &mut Requesters<'_, M>,
) {
    match message {
        SyncMessage::Grant => requesters.resume_at(then, usize::from(to)),
        SyncMessage::Wake(process) => requesters.ready_at(then, usize::from(process)),
        SyncMessage::Operation(_) => {}
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are at most 1,024 nodes")]
pub(crate) fn node(processor: usize) -> u16 {
    processor as u16
}

fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
