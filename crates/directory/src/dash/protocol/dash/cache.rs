//! The controller of a cache under DASH.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{AnySender, ControllerCell, ControllerStates, CopyRole};
use crate::dash::vocabulary::{CacheAction, CacheEvent, Message as Msg, Recipient};

use CacheAction::{Complete, Send};
use CacheState::{I, IM, IS, ISI, M, MA, S, SM};
use ControllerCell::{Does, Impossible, Waits};
use Recipient::{Home, Requester};

labelled! {
    /// States of a block in a cache's controller.
    pub(super) enum CacheState {
        I = "I": "invalid: no copy",
        S = "S": "shared: other caches may have copies",
        M = "M": "modified: the only copy, memory is out of date",
        IS = "IS": "a copy is on its way",
        ISI = "ISI": "a copy is on its way that has to go as soon as it is read",
        IM = "IM": "the only copy is on its way",
        SM = "SM": "a copy; an upgrade was requested from home",
        MA = "MA": "the copy may be written, acknowledgements of others are due",
    }
}

impl CacheState {
    pub(super) fn role(self) -> CopyRole {
        match self {
            I | IS | ISI | IM => CopyRole::None,
            S | SM => CopyRole::Readable,
            M | MA => CopyRole::Writable,
        }
    }
}

impl ControllerStates for CacheState {
    type Event = CacheEvent;
    type Sender = AnySender;
    type Action = CacheAction;

    fn rests(self) -> bool {
        matches!(self, I | S | M)
    }

    fn cell(self, event: CacheEvent, _: AnySender) -> ControllerCell<CacheAction, Self> {
        use CacheEvent as E;
        match (self, event) {
            (I, E::Load) => Does(&[Send(Msg::Read, Home)], IS),
            (I, E::Store) => Does(&[Send(Msg::Write, Home)], IM),
            (S, E::Store) => Does(&[Send(Msg::Upgrade, Home)], SM),
            (S | SM | M | MA, E::Load) | (M | MA, E::Store) => Does(&[Complete], self),
            (IS | ISI | IM, E::Load | E::Store) | (SM, E::Store) => Waits,
            (S, E::Replace) => Does(&[], I),
            (M, E::Replace) => Does(&[Send(Msg::WriteBack, Home)], I),
            (SM | MA, E::Replace) => Waits,
            (I | IS | ISI | IM, E::Replace) => Impossible(because::EMPTY),

            (IS, E::Data) => Does(&[Complete], S),
            (ISI, E::Data) => Does(&[Complete], I),
            // A directory that lists only some nodes may not list the requester, which has a copy.
            (IM | SM, E::Exclusive) | (SM, E::Permission) => Does(&[Complete], M),
            (IM | SM, E::ExclusiveDue) | (SM, E::PermissionDue) => Does(&[Complete], MA),
            (IM | SM | MA, E::Acknowledge) => Does(&[], self),
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
                Does(&[Send(Msg::Refuse, Home)], self)
            }
            (S | ISI, E::ForwardRead | E::ForwardWrite) => Impossible(because::NOT_OWNER),
        }
    }
}
