//! The controller of a block's home under SDD.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{ControllerCell, ControllerStates};
use crate::linked::vocabulary::{
    ListHomeAction as Action, ListHomeEvent as E, ListMessage as Msg, ListSender as By,
};

use Action::{
    Clear, Forward, InvalidateHead, OwnByHead, PutAtHead, Reply, ReplyData, ReplyExclusive,
    ReplyExclusiveDue, TakeData,
};
use ControllerCell::{Does, Impossible, Waits};
use ListHomeState::{Dirty, Returning, Shared, Uncached};

labelled! {
    /// States of a block at its home.
    pub(super) enum ListHomeState {
        Uncached = "uncached": "memory has the data, the list is empty",
        Shared = "shared": "memory has the data, copies are in the list",
        Dirty = "dirty": "the head of the list has the only copy, or will have it",
        Returning = "returning": "a read was forwarded to the owner, whose data are in flight",
    }
}

impl ControllerStates for ListHomeState {
    type Event = E;
    type Sender = By;
    type Action = Action;

    fn rests(self) -> bool {
        self != Returning
    }

    fn cell(self, event: E, sender: By) -> ControllerCell<Action, Self> {
        match (self, event, sender) {
            (_, E::Read | E::Write, By::Head | By::Owner) => Impossible(because::NEW),

            (Uncached | Shared, E::Read, By::Other) => Does(&[ReplyData, PutAtHead], Shared),
            (Uncached, E::Write | E::Upgrade, By::Other) => {
                Does(&[ReplyExclusive, PutAtHead, OwnByHead], Dirty)
            }
            (Shared, E::Upgrade, By::Head) => {
                Does(&[Reply(Msg::Permission), PutAtHead, OwnByHead], Dirty)
            }
            (Shared, E::Write | E::Upgrade, By::Other) => {
                Does(&[InvalidateHead, ReplyExclusiveDue, PutAtHead, OwnByHead], Dirty)
            }
            (Dirty, E::Read, By::Other) => Does(&[Forward(Msg::ForwardRead), PutAtHead], Returning),
            (Dirty, E::Write | E::Upgrade, By::Other) => {
                Does(&[Forward(Msg::ForwardWrite), PutAtHead, OwnByHead], Dirty)
            }
            (Dirty, E::Upgrade, By::Head | By::Owner) => Impossible(because::HAS_IT),
            (Returning, E::Read | E::Write, By::Other) => Waits,
            // A node that has or had the data requests the only copy.
            (Returning, E::Upgrade, _) => Waits,
            (Uncached, E::Upgrade, By::Head | By::Owner) => Impossible(because::NO_COPIES),
            (Shared, E::Upgrade, By::Owner) => Impossible(because::MEMORY_HAS),

            (Returning, E::SharingWriteBack, By::Owner) => Does(&[TakeData], Shared),
            (Dirty, E::WriteBack, By::Owner) => {
                Does(&[TakeData, Clear, Reply(Msg::WrittenBack)], Uncached)
            }
            (Returning, E::WriteBack, By::Owner) => {
                Does(&[TakeData, Reply(Msg::WrittenBackLate)], Shared)
            }
            // It was forwarded a request meanwhile, and was not the owner from then on.
            (_, E::WriteBack, By::Other) => Does(&[Reply(Msg::WrittenBackLate)], self),
            (Uncached | Shared, _, By::Head | By::Owner) => Impossible(because::MEMORY_HAS),
            (Dirty | Returning, E::WriteBack, By::Head) => Impossible(because::HAS_IT),
            (_, E::SharingWriteBack, _) => Impossible(because::NOT_FORWARDED),
        }
    }
}
