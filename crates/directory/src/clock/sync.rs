//! Messages that synchronise processes: to the home of a lock or a barrier, and back.
//!
//! A lock has its home where its page has; barriers, conditions and locks whose page nobody has
//! referred to have theirs by number. An acquire is answered when the lock is free. Releases and
//! arrivals are sent, and their processor goes on.

use homenode_clock::SyncRequest;
use homenode_clock::streams::OpKind;

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
        | OpKind::Read
        | OpKind::Write
        | OpKind::Atomic
        | OpKind::Fetch => (false, false),
    };
    SyncPart { releases, told }
}

/// Operations that are on their way to a home.
#[derive(Debug, Default)]
pub(super) struct SyncOperations {
    requests: Vec<Option<SyncRequest>>,
    free: Vec<u32>,
    /// When, and where, operations were looked up that have their effects at that time.
    decided: Vec<(u64, SyncRequest, u16)>,
}

impl SyncOperations {
    /// Keeps an operation. Returns its number.
    pub(super) fn add(&mut self, request: SyncRequest) -> u32 {
        if let Some(number) = self.free.pop() {
            self.requests[at(number)] = Some(request);
            return number;
        }
        self.requests.push(Some(request));
        u32::try_from(self.requests.len() - 1).unwrap_or(u32::MAX)
    }

    /// The operation with this number, which has come.
    pub(super) fn take(&mut self, number: u32) -> Option<SyncRequest> {
        self.free.push(number);
        self.requests[at(number)].take()
    }

    /// A home has looked an operation up, which has its effect now.
    pub(super) fn decide(&mut self, now: u64, request: SyncRequest, home: u16) {
        self.decided.retain(|&(time, ..)| time == now);
        self.decided.push((now, request, home));
    }

    /// The home that has looked up an operation which has its effect now.
    pub(super) fn decided_at(&self, cause: &SyncRequest) -> Option<u16> {
        self.decided.iter().find(|(_, request, _)| request == cause).map(|&(.., home)| home)
    }
}

fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
