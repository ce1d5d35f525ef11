//! The controller of a block's home under DASH.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{ControllerCell, ControllerStates};
use crate::dash::vocabulary::{HomeAction, HomeEvent as E, Message as Msg, Sender as By};

use ControllerCell::{Does, Impossible, Waits};
use HomeAction::{Disown, Forward, Invalidate, ListOwner, ListRequester, Own, Reply, TakeData};
use HomeState::{
    Dirty, ReadForwarded, ReadForwardedWritten, Shared, Uncached, WriteForwarded,
    WriteForwardedReturned, WriteForwardedWritten,
};

labelled! {
    /// States of a block at its home.
    pub(super) enum HomeState {
        Uncached = "uncached": "memory has the data, no cache is listed",
        Shared = "shared": "memory has the data, those listed may have copies",
        Dirty = "dirty": "the owner has the data",
        ReadForwarded = "read forwarded": "a read was forwarded to the owner",
        ReadForwardedWritten = "read forwarded, written back": "the same, but the owner had \
            already replaced the block: its refusal is in flight",
        WriteForwarded = "write forwarded": "a write was forwarded to the owner",
        WriteForwardedWritten = "write forwarded, written back": "the same, but the owner had \
            already replaced the block: its refusal is in flight",
        WriteForwardedReturned = "write forwarded, returned": "the requester had the block and \
            has replaced it: the owner's ownership transfer is in flight",
    }
}

type Cell = ControllerCell<HomeAction, HomeState>;

impl ControllerStates for HomeState {
    type Event = E;
    type Sender = By;
    type Action = HomeAction;

    fn rests(self) -> bool {
        matches!(self, Uncached | Shared | Dirty)
    }

    fn cell(self, event: E, sender: By) -> Cell {
        match event {
            E::Read | E::Write | E::Upgrade => request(self, event, sender),
            E::SharingWriteBack | E::OwnershipTransfer | E::WriteBack | E::Refuse => {
                message_of_holder(self, event, sender)
            }
        }
    }
}

/// A node requests the block.
fn request(state: HomeState, event: E, sender: By) -> Cell {
    match (state, event, sender) {
        (Uncached | Shared, E::Read, By::Other) => Does(&[Reply(Msg::Data), ListRequester], Shared),
        (Shared, E::Read, By::Sharer) => Does(&[Reply(Msg::Data)], Shared),
        (Uncached, _, By::Other) => Does(&[Reply(Msg::Exclusive), Own], Dirty),
        (Shared, E::Upgrade, By::Sharer) => Does(&[Invalidate, Reply(Msg::Permission), Own], Dirty),
        (Shared, _, By::Sharer | By::Other) => {
            Does(&[Invalidate, Reply(Msg::Exclusive), Own], Dirty)
        }
        (Dirty, E::Read, By::Other) => Does(&[Forward(Msg::ForwardRead)], ReadForwarded),
        (Dirty, _, By::Other) => Does(&[Forward(Msg::ForwardWrite)], WriteForwarded),

        // Its write-back is in flight.
        (Dirty, E::Read | E::Write, By::Owner) => Waits,
        (Dirty, _, By::Owner) => Impossible(because::OWNS),
        (Uncached | Shared, _, By::Owner | By::Requester) => Impossible(because::NO_OWNER),
        (Dirty, _, By::Requester) => Impossible(because::NO_FORWARD),
        (Uncached | Dirty, _, By::Sharer) => Impossible(because::NONE_LISTED),
        (
            ReadForwarded
            | ReadForwardedWritten
            | WriteForwarded
            | WriteForwardedWritten
            | WriteForwardedReturned,
            _,
            _,
        ) => request_meanwhile(state, event, sender),
    }
}

/// A node requests the block during a transaction, which must end first.
fn request_meanwhile(state: HomeState, event: E, sender: By) -> Cell {
    match (state, event, sender) {
        (_, _, By::Sharer) => Impossible(because::NONE_LISTED),
        (_, _, By::Other) | (_, E::Read | E::Write, By::Owner) => Waits,
        // The block has come from the owner, who has yet to tell home.
        (
            ReadForwarded | WriteForwarded | WriteForwardedReturned,
            E::Read | E::Write,
            By::Requester,
        )
        | (ReadForwarded, _, By::Owner | By::Requester) => Waits,
        (_, _, By::Owner | By::Requester) => Impossible(because::ASKED),
    }
}

/// A message to home from the present or former owner.
fn message_of_holder(state: HomeState, event: E, sender: By) -> Cell {
    match (state, event, sender) {
        (Dirty, E::WriteBack, By::Owner) => Does(&[TakeData, Disown], Uncached),

        (ReadForwarded, E::SharingWriteBack, By::Owner) => {
            Does(&[TakeData, ListOwner, ListRequester], Shared)
        }
        (ReadForwarded, E::WriteBack, By::Owner) => Does(&[TakeData], ReadForwardedWritten),
        (ReadForwarded, E::Refuse, By::Owner) => Does(&[Forward(Msg::ForwardRead)], ReadForwarded),
        (ReadForwardedWritten, E::Refuse, By::Owner) => {
            Does(&[Disown, Reply(Msg::Data), ListRequester], Shared)
        }

        (WriteForwarded, E::OwnershipTransfer, By::Owner) => Does(&[Own], Dirty),
        (WriteForwarded, E::WriteBack, By::Owner) => Does(&[TakeData], WriteForwardedWritten),
        (WriteForwarded, E::WriteBack, By::Requester) => Does(&[TakeData], WriteForwardedReturned),
        (WriteForwarded, E::Refuse, By::Owner) => {
            Does(&[Forward(Msg::ForwardWrite)], WriteForwarded)
        }
        (WriteForwardedWritten, E::Refuse, By::Owner) => Does(&[Reply(Msg::Exclusive), Own], Dirty),
        (WriteForwardedReturned, E::OwnershipTransfer, By::Owner) => Does(&[Disown], Uncached),

        (
            Uncached
            | Dirty
            | ReadForwarded
            | ReadForwardedWritten
            | WriteForwarded
            | WriteForwardedWritten
            | WriteForwardedReturned,
            _,
            By::Sharer,
        ) => Impossible(because::NONE_LISTED),
        (Uncached | Shared, _, _) => Impossible(because::NO_OWNER),
        (Dirty, _, _) => Impossible(because::NO_FORWARD),
        (
            ReadForwardedWritten | WriteForwardedWritten | WriteForwardedReturned,
            E::WriteBack,
            _,
        ) => Impossible(because::ONCE),
        (
            ReadForwarded
            | ReadForwardedWritten
            | WriteForwarded
            | WriteForwardedWritten
            | WriteForwardedReturned,
            _,
            _,
        ) => Impossible(because::NOT_ASKED),
    }
}
