//! The controller of a node under SDD.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{AnySender, ControllerCell, ControllerStates, CopyRole};
use crate::linked::table::CopyStates;
use crate::linked::vocabulary::{CopyAction as Action, CopyEvent as E, ListMessage as Msg};

use Action::{
    Acknowledge, Ask, AskAgain, AskFor, AskToRelay, Chain, Complete, HandOn, HandOver,
    InvalidateBehind, KeepFollower, PassOn, Relay, SendHome, Supply, SupplyClient, SupplyLast,
};
use ControllerCell::{Does, Impossible, Waits};
use SddCopyState::{I, IM, IMA, IS, ISF, L, M, MA, R, S, SF, SM, SMA, WB, WBF, WBS};

labelled! {
    /// States of a block at a node.
    pub(super) enum SddCopyState {
        I = "I": "invalid: no copy",
        S = "S": "shared: a copy in the list",
        M = "M": "modified: the only copy, memory is out of date",
        IS = "IS": "a copy is in flight",
        ISF = "ISF": "a copy is in flight, to be forwarded to a known node",
        SF = "SF": "a copy in the list, to be forwarded as soon as the recipient is known",
        IM = "IM": "the only copy is in flight",
        IMA = "IMA": "the only copy is in flight, all others are invalidated",
        SM = "SM": "a copy, possibly out of date; an upgrade was requested from home",
        SMA = "SMA": "the same, and all others are invalidated",
        MA = "MA": "the only copy, once all others are invalidated",
        L = "L": "replaced; the copies behind it are not yet invalidated",
        WB = "WB": "replaced and written back, which home has yet to acknowledge",
        WBF = "WBF": "home has acknowledged the write-back, but had already forwarded a request",
        WBS = "WBS": "a forwarded request was served; home has yet to acknowledge the write-back",
        R = "R": "relay: a copy was requested for clients; none stays here",
    }
}

type SddCell = ControllerCell<Action, SddCopyState>;

impl CopyStates for SddCopyState {
    fn role(self) -> CopyRole {
        match self {
            I | IS | ISF | IM | IMA | SM | SMA | MA | L | WB | WBF | WBS | R => CopyRole::None,
            S | SF => CopyRole::Readable,
            M => CopyRole::Writable,
        }
    }

    fn is_leaving(self) -> bool {
        matches!(self, L | WB | WBF | WBS | R)
    }
}

impl ControllerStates for SddCopyState {
    type Event = E;
    type Sender = AnySender;
    type Action = Action;

    fn rests(self) -> bool {
        matches!(self, I | S | M)
    }

    fn cell(self, event: E, _: AnySender) -> SddCell {
        match event {
            E::Load | E::Store | E::Replace | E::ReplaceAhead => of_processor(self, event),
            E::ProxyRead | E::ProxyReadToRelay | E::Bounce | E::Follower => {
                about_proxies(self, event)
            }
            E::Data
            | E::DataToHandOn
            | E::Exclusive
            | E::ExclusiveDue
            | E::Permission
            | E::PermissionDue
            | E::Acknowledge => answer(self, event),
            E::Invalidate | E::StaleInvalidate => invalidate(self, event),
            E::ForwardRead | E::ForwardWrite => forwarded(self, event),
            E::WrittenBack => match self {
                WB => Does(&[], I),
                I | S | M | IS | ISF | SF | IM | IMA | SM | SMA | MA | L | R => {
                    Impossible(because::NOT_ASKED)
                }
                WBF | WBS => Impossible(because::ONCE),
            },
            E::WrittenBackLate => match self {
                WB => Does(&[], WBF),
                WBS => Does(&[], I),
                I | S | M | IS | ISF | SF | IM | IMA | SM | SMA | MA | L | R => {
                    Impossible(because::NOT_ASKED)
                }
                WBF => Impossible(because::ONCE),
            },
        }
    }
}

/// The processor refers to the block, or needs its frame.
fn of_processor(state: SddCopyState, event: E) -> SddCell {
    match (state, event) {
        (I, E::Load) => Does(&[Ask], IS),
        (I, E::Store) => Does(&[SendHome(Msg::Write)], IM),
        (S, E::Store) => Does(&[SendHome(Msg::Upgrade)], SM),
        (S | SF | M, E::Load) | (M, E::Store) => Does(&[Complete], state),
        (S, E::Replace) => Does(&[], I),
        (S, E::ReplaceAhead) => Does(&[InvalidateBehind], L),
        (M, E::Replace) => Does(&[SendHome(Msg::WriteBack)], WB),
        (M, E::ReplaceAhead) => Impossible(because::ALONE),
        (IS | ISF | IM | IMA, E::ReplaceAhead) => Impossible(because::NO_COPY_BEHIND),
        (SMA, E::ReplaceAhead) => Impossible(because::WALKED),
        (IS | ISF | SF | IM | IMA | SM | SMA | MA, E::Replace)
        | (SF | SM | MA, E::ReplaceAhead)
        | (IS | ISF | IM | IMA | SM | SMA | MA | L | WB | WBF | WBS | R, E::Load)
        | (IS | ISF | SF | IM | IMA | SM | SMA | MA | L | WB | WBF | WBS | R, E::Store) => Waits,
        (I | L | WB | WBF | WBS | R, _) => Impossible(because::EMPTY),
        (S | M | IS | ISF | SF | IM | IMA | SM | SMA | MA, _) => Impossible(because::NOT_ASKED),
    }
}

/// A client, or the way of the node's own read.
fn about_proxies(state: SddCopyState, event: E) -> SddCell {
    match (state, event) {
        (I, E::ProxyRead) => Does(&[Ask, Chain], IS),
        (IS, E::ProxyRead) => Does(&[Chain], IS),
        (S, E::ProxyRead) => Does(&[SupplyClient], S),
        (M | IM | IMA | SM | SMA | MA | L | WB | WBF | WBS, E::ProxyRead) => Does(&[AskFor], state),
        (ISF | SF, E::ProxyRead) => Impossible(because::IS_CLIENT),
        (I, E::ProxyReadToRelay) => Does(&[AskToRelay, Chain], R),
        (_, E::ProxyReadToRelay) => Impossible(because::NOT_RELAYED),
        (R, E::ProxyRead) => Does(&[Chain], R),
        (R, E::Bounce) => Does(&[AskToRelay], R),

        (IS, E::Bounce) => Does(&[AskAgain], IS),
        (IS, E::Follower) => Does(&[KeepFollower], ISF),
        (SF, E::Follower) => Does(&[KeepFollower, HandOn], S),
        (ISF, E::Follower) => Impossible(because::ONCE),
        (I | S | M | ISF | SF | IM | IMA | SM | SMA | MA | L | WB | WBF | WBS | R, _) => {
            Impossible(because::NOT_ASKED)
        }
        (IS, _) => Impossible(because::READS),
    }
}

/// The reply to the node's request arrives, or the last other copy is invalidated.
fn answer(state: SddCopyState, event: E) -> SddCell {
    match (state, event) {
        (IS, E::Data) | (ISF, E::DataToHandOn) => Does(&[Complete, HandOn], S),
        (IS, E::DataToHandOn) => Does(&[Complete], SF),
        (ISF, E::Data) => Impossible(because::IS_CLIENT),

        (IM | SM, E::Exclusive) | (IMA | SMA, E::ExclusiveDue) => Does(&[Complete], M),
        (IM | SM, E::ExclusiveDue) => Does(&[], MA),
        (SM, E::Permission) => Does(&[Complete], M),
        (SM, E::PermissionDue) => Does(&[InvalidateBehind], MA),
        (IM, E::Acknowledge) => Does(&[], IMA),
        (SM, E::Acknowledge) => Does(&[], SMA),
        (MA, E::Acknowledge) => Does(&[Complete], M),
        (L, E::Acknowledge) => Does(&[], I),
        (R, E::Data) => Does(&[Relay], I),

        (IS | ISF | SF, _) => Impossible(because::READS),
        (I | S | M | IM | IMA | SM | SMA | MA | L | WB | WBF | WBS | R, _) => {
            Impossible(because::NOT_ASKED)
        }
    }
}

/// The copy, or one that the node had before, has to go.
fn invalidate(state: SddCopyState, event: E) -> SddCell {
    match (state, event) {
        // The write waited for each walk that could still lead to a copy that the node had before,
        // and no pointer to one was left.
        (IMA | SMA | M | WB | WBF | WBS, E::StaleInvalidate) => Impossible(because::WALKED),
        // Copies behind a node that has left the list are invalidated by other messages.
        (_, E::StaleInvalidate) => Does(&[Acknowledge], state),
        (S, _) => Does(&[PassOn], I),
        (SM | MA, _) => Does(&[PassOn], state),
        // The pointer is current, so home has served the read and the copy is on its way; a copy
        // that leaves the list waits only for those behind it.
        (IS | ISF | SF | L, _) => Waits,
        (I | R, _) => Impossible(because::NO_COPY),
        (IM | IMA, _) => Impossible(because::NO_COPY),
        (SMA, _) => Impossible(because::WALKED),
        (M | WB | WBF | WBS, _) => Impossible(because::OWNS),
    }
}

/// Home has forwarded a request to the owner.
fn forwarded(state: SddCopyState, event: E) -> SddCell {
    match (state, event) {
        (M, E::ForwardRead) => Does(&[Supply, SendHome(Msg::SharingWriteBack)], S),
        (M, _) => Does(&[HandOver], I),
        (WB, E::ForwardRead) => Does(&[SupplyLast], WBS),
        (WB, _) => Does(&[HandOver], WBS),
        (WBF, E::ForwardRead) => Does(&[SupplyLast], I),
        (WBF, _) => Does(&[HandOver], I),
        // Home has made it the owner, which it is not yet.
        (IM | IMA | SM | SMA | MA, _) => Waits,
        (I | S | IS | ISF | SF | L | R, _) => Impossible(because::NOT_OWNER),
        (WBS, _) => Impossible(because::ONCE),
    }
}
