//! DASH: a directory at each block's home, invalidations by the home, data straight from an owner.

use homenode_protocol::{ProtocolParameter, ValueRange, labelled};

use super::Entry;
use crate::table::{DirectoryRules, DirectoryTable};
use crate::vocabulary::{
    CacheAction, CacheEvent, ControllerCell, CopyRole, HomeAction, HomeEvent, Message, Recipient,
    Sender,
};

use CacheAction::{Complete, Send};
use CacheState::{I, IM, IS, ISI, M, MA, S, SM};
use ControllerCell::{Does, Impossible, Waits};
use HomeState::{
    Dirty, ReadForwarded, ReadForwardedWritten, Shared, Uncached, WriteForwarded,
    WriteForwardedReturned, WriteForwardedWritten,
};
use Message as Msg;
use Recipient::{Home, Requester};

labelled! {
    /// States of a block in a cache's controller.
    enum CacheState {
        I = "I": "invalid: no copy",
        S = "S": "shared: other caches may have copies",
        M = "M": "modified: the only copy, memory is out of date",
        IS = "IS": "a copy is on its way",
        ISI = "ISI": "a copy is on its way that has to go as soon as it is read",
        IM = "IM": "the only copy is on its way",
        SM = "SM": "a copy, which home was asked to make the only one",
        MA = "MA": "the copy may be written, acknowledgements of others are due",
    }
}

labelled! {
    /// States of a block at its home.
    enum HomeState {
        Uncached = "uncached": "memory has the data, nobody is listed",
        Shared = "shared": "memory has the data, those listed may have copies",
        Dirty = "dirty": "the owner has the data",
        ReadForwarded = "read forwarded": "the owner was asked to send a copy to the requester",
        ReadForwardedWritten = "read forwarded, written back": "the same, but the owner had replaced \
            the block before: its refusal is on the way",
        WriteForwarded = "write forwarded": "the owner was asked to hand the block to the requester",
        WriteForwardedWritten = "write forwarded, written back": "the same, but the owner had \
            replaced the block before: its refusal is on the way",
        WriteForwardedReturned = "write forwarded, returned": "the requester had the block and has \
            replaced it: the owner's ownership transfer is on the way",
    }
}

/// Source: Marchetti, Kontothanassis, Bianchini and Scott 1995, section 3.1: the directory-based
/// write-invalidate protocol of the Stanford DASH machine; invalidations are sent at the time of
/// a write, acknowledgements awaited at a release. The paper prints no table. States of a copy are
/// three, clean blocks are replaced silently.
///
/// # Deviations
/// What the paper leaves open is ours: a home with a transaction under way lets later requests
/// wait. An owner that has not yet got its data, waits for acknowledgements, or has replaced the
/// block refuses what is forwarded to it; the home then answers itself, if the block was written
/// back meanwhile, or asks again.
pub const ENTRY: Entry = Entry {
    name: "dash",
    summary: "DASH: a directory at each block's home; a write invalidates all other copies",
    source: "Marchetti et al. 1995, section 3.1",
    params: &[ProtocolParameter {
        name: "pointers",
        doc: "nodes that the directory lists; if there are more, all are told of a write. Default: \
              all nodes",
        values: ValueRange::Number { from: 1, to: 1024 },
    }],
    build: DirectoryTable::of::<Dash>,
};

/// Reasons why something never happens.
mod because {
    pub(super) const EMPTY: &str = "there is no copy to replace";
    pub(super) const NOT_ASKED: &str = "nothing was asked for that this would answer";
    pub(super) const NOT_OWNER: &str = "the directory does not have this cache as the owner";
    pub(super) const STILL_DUE: &str = "whoever may write is no longer listed, and its \
                                        acknowledgements are in before it hands the block on";
    pub(super) const LISTED: &str = "who was told to give up its copy is not listed any more";
    pub(super) const NO_FORWARD: &str = "the owner was not asked for anything";
    pub(super) const NO_OWNER: &str = "nobody owns the block";
    pub(super) const NOBODY: &str = "nobody is listed";
    pub(super) const OWNS: &str =
        "who owns the block has nothing to ask for but after a write-back";
    pub(super) const ASKED: &str = "it waits for what it asked for, or has given its copy up";
    pub(super) const ONCE: &str = "the owner writes the block back once";
}

struct Dash;

impl DirectoryRules for Dash {
    type Cache = CacheState;
    type Home = HomeState;

    fn role(state: CacheState) -> CopyRole {
        match state {
            I | IS | ISI | IM => CopyRole::None,
            S | SM => CopyRole::Readable,
            M | MA => CopyRole::Writable,
        }
    }

    fn cache_rests(state: CacheState) -> bool {
        matches!(state, I | S | M)
    }

    fn home_rests(state: HomeState) -> bool {
        matches!(state, Uncached | Shared | Dirty)
    }

    fn cache(state: CacheState, event: CacheEvent) -> ControllerCell<CacheAction, CacheState> {
        use CacheEvent as E;
        match (state, event) {
            (I, E::Load) => Does(&[Send(Msg::Read, Home)], IS),
            (I, E::Store) => Does(&[Send(Msg::Write, Home)], IM),
            (S, E::Store) => Does(&[Send(Msg::Upgrade, Home)], SM),
            (S | SM | M | MA, E::Load) | (M | MA, E::Store) => Does(&[Complete], state),
            (IS | ISI | IM, E::Load | E::Store) | (SM, E::Store) => Waits,
            (S, E::Replace) => Does(&[], I),
            (M, E::Replace) => Does(&[Send(Msg::WriteBack, Home)], I),
            (SM | MA, E::Replace) => Waits,
            (I | IS | ISI | IM, E::Replace) => Impossible(because::EMPTY),

            (IS, E::Data) => Does(&[Complete], S),
            (ISI, E::Data) => Does(&[Complete], I),
            // A directory that lists only some does not know that the sender of an upgrade has a copy.
            (IM | SM, E::Exclusive) | (SM, E::Permission) => Does(&[Complete], M),
            (IM | SM, E::ExclusiveDue) | (SM, E::PermissionDue) => Does(&[Complete], MA),
            (IM | SM | MA, E::Acknowledge) => Does(&[], state),
            (MA, E::LastAcknowledge) => Does(&[], M),
            (IM, E::Permission | E::PermissionDue) => Impossible(because::LISTED),
            (I | S | M | MA | IM | SM, E::Data)
            | (I | S | M | MA | IS | ISI, E::Exclusive | E::ExclusiveDue)
            | (I | S | M | MA | IS | ISI, E::Permission | E::PermissionDue)
            | (I | S | M | IS | ISI, E::Acknowledge)
            | (I | S | M | IS | ISI | IM | SM, E::LastAcknowledge) => {
                Impossible(because::NOT_ASKED)
            }

            (I | S, E::Invalidate) => Does(&[Send(Msg::Acknowledge, Requester)], I),
            (IS | ISI, E::Invalidate) => Does(&[Send(Msg::Acknowledge, Requester)], ISI),
            (IM | SM, E::Invalidate) => Does(&[Send(Msg::Acknowledge, Requester)], IM),
            (M | MA, E::Invalidate) => Impossible(because::STILL_DUE),

            (M, E::ForwardRead) => {
                Does(&[Send(Msg::Data, Requester), Send(Msg::SharingWriteBack, Home)], S)
            }
            (M, E::ForwardWrite) => {
                Does(&[Send(Msg::Exclusive, Requester), Send(Msg::OwnershipTransfer, Home)], I)
            }
            (I | IS | IM | SM | MA, E::ForwardRead | E::ForwardWrite) => {
                Does(&[Send(Msg::Refuse, Home)], state)
            }
            (S | ISI, E::ForwardRead | E::ForwardWrite) => Impossible(because::NOT_OWNER),
        }
    }

    fn home(
        state: HomeState,
        event: HomeEvent,
        sender: Sender,
    ) -> ControllerCell<HomeAction, HomeState> {
        use HomeAction::{
            Disown, Forward, Invalidate, ListOwner, ListRequester, Own, Reply, TakeData,
        };
        use HomeEvent as E;
        use Sender as By;
        match (state, event, sender) {
            (Uncached | Shared, E::Read, By::Other) => {
                Does(&[Reply(Msg::Data), ListRequester], Shared)
            }
            (Shared, E::Read, By::Sharer) => Does(&[Reply(Msg::Data)], Shared),
            (Uncached, E::Write | E::Upgrade, By::Other) => {
                Does(&[Reply(Msg::Exclusive), Own], Dirty)
            }
            (Shared, E::Upgrade, By::Sharer) => {
                Does(&[Invalidate, Reply(Msg::Permission), Own], Dirty)
            }
            (Shared, E::Write, By::Sharer) | (Shared, E::Write | E::Upgrade, By::Other) => {
                Does(&[Invalidate, Reply(Msg::Exclusive), Own], Dirty)
            }
            (Dirty, E::Read, By::Other) => {
                Does(&[Forward(Msg::ForwardRead)], ReadForwarded)
            }
            (Dirty, E::Write | E::Upgrade, By::Other) => {
                Does(&[Forward(Msg::ForwardWrite)], WriteForwarded)
            }
            // Its write-back is on the way.
            (Dirty, E::Read | E::Write, By::Owner) => Waits,
            (Dirty, E::Upgrade, By::Owner) => Impossible(because::OWNS),
            (Dirty, E::WriteBack, By::Owner) => Does(&[TakeData, Disown], Uncached),

            (ReadForwarded, E::SharingWriteBack, By::Owner) => {
                Does(&[TakeData, ListOwner, ListRequester], Shared)
            }
            (ReadForwarded, E::WriteBack, By::Owner) => Does(&[TakeData], ReadForwardedWritten),
            (ReadForwarded, E::Refuse, By::Owner) => {
                Does(&[Forward(Msg::ForwardRead)], ReadForwarded)
            }
            (ReadForwardedWritten, E::Refuse, By::Owner) => {
                Does(&[Disown, Reply(Msg::Data), ListRequester], Shared)
            }

            (WriteForwarded, E::OwnershipTransfer, By::Owner) => Does(&[Own], Dirty),
            (WriteForwarded, E::WriteBack, By::Owner) => Does(&[TakeData], WriteForwardedWritten),
            (WriteForwarded, E::WriteBack, By::Requester) => {
                Does(&[TakeData], WriteForwardedReturned)
            }
            (WriteForwarded, E::Refuse, By::Owner) => {
                Does(&[Forward(Msg::ForwardWrite)], WriteForwarded)
            }
            (WriteForwardedWritten, E::Refuse, By::Owner) => {
                Does(&[Reply(Msg::Exclusive), Own], Dirty)
            }
            (WriteForwardedReturned, E::OwnershipTransfer, By::Owner) => Does(&[Disown], Uncached),

            (
                ReadForwarded | ReadForwardedWritten | WriteForwarded | WriteForwardedWritten
                | WriteForwardedReturned,
                E::Read | E::Write,
                By::Owner | By::Other,
            )
            | (
                ReadForwarded | ReadForwardedWritten | WriteForwarded | WriteForwardedWritten
                | WriteForwardedReturned,
                E::Upgrade,
                By::Other,
            )
            // The block has come from the owner, who has yet to tell home.
            | (
                ReadForwarded | WriteForwarded | WriteForwardedReturned,
                E::Read | E::Write,
                By::Requester,
            )
            | (ReadForwarded, E::Upgrade, By::Owner | By::Requester) => Waits,

            (
                ReadForwardedWritten | WriteForwardedWritten,
                E::Read | E::Write | E::Upgrade,
                By::Requester,
            )
            | (
                ReadForwardedWritten | WriteForwarded | WriteForwardedWritten
                | WriteForwardedReturned,
                E::Upgrade,
                By::Owner | By::Requester,
            ) => Impossible(because::ASKED),
            (
                Uncached | Dirty | ReadForwarded | ReadForwardedWritten | WriteForwarded
                | WriteForwardedWritten | WriteForwardedReturned,
                _,
                By::Sharer,
            ) => Impossible(because::NOBODY),
            (Uncached | Shared, _, By::Owner | By::Requester)
            | (
                Uncached | Shared,
                E::SharingWriteBack | E::OwnershipTransfer | E::WriteBack | E::Refuse,
                _,
            ) => Impossible(because::NO_OWNER),
            (Dirty, _, _) => Impossible(because::NO_FORWARD),
            (
                ReadForwardedWritten | WriteForwardedWritten | WriteForwardedReturned,
                E::WriteBack,
                _,
            ) => Impossible(because::ONCE),
            (
                ReadForwarded | ReadForwardedWritten | WriteForwarded | WriteForwardedWritten
                | WriteForwardedReturned,
                E::SharingWriteBack | E::OwnershipTransfer | E::WriteBack | E::Refuse,
                _,
            ) => Impossible(because::NOT_ASKED),
        }
    }
}
