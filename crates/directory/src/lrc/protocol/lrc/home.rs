//! The controller of a page's home under lazy release consistency.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{ControllerCell, ControllerStates};
use crate::lrc::vocabulary::{
    PageHomeAction as Action, PageHomeEvent as E, PageMessage as Msg, PageSender as By,
};

use Action::{List, Notify, Reply, TakeWords, Unlist};
use ControllerCell::{Does, Impossible, Waits};
use PageHomeState::{Readers, Unmapped, Weak, Writer};

labelled! {
    /// States of a page at its home. With the list they say what each node's mapping permits,
    /// except for a weak page, where nothing depends on it.
    pub(in crate::lrc::protocol) enum PageHomeState {
        Unmapped = "unmapped": "no node maps the page",
        Readers = "readers": "the listed nodes map the page, all of them read-only",
        Writer = "writer": "the listed node maps the page read-write",
        Weak = "weak": "the listed nodes map the page, and caches may have stale lines",
    }
}

type PageCell = ControllerCell<Action, PageHomeState>;

const ENTERS: &[Action] = &[List, Reply(Msg::Mapped)];

impl ControllerStates for PageHomeState {
    type Event = E;
    type Sender = By;
    type Action = Action;

    /// A home answers at once; a message that waits there counts as in flight.
    fn rests(self) -> bool {
        true
    }

    fn cell(self, event: E, sender: By) -> PageCell {
        match (self, event, sender) {
            (Unmapped, _, By::Only | By::Sharer) => Impossible(because::NONE_LISTED),
            (Writer, _, By::Sharer) => Impossible(because::ONE),

            (Unmapped | Readers, E::ReadFault, By::Other) => Does(ENTERS, Readers),
            (Unmapped, E::WriteFault, By::Other) => Does(ENTERS, Writer),
            (Readers | Weak, E::WriteFault, By::Other) => Does(ENTERS, Weak),
            (Writer | Weak, E::ReadFault, By::Other) | (Writer, E::WriteFault, By::Other) => {
                Does(ENTERS, Weak)
            }
            // Its unmap message is in flight.
            (Readers | Writer | Weak, E::ReadFault | E::WriteFault, By::Only | By::Sharer) => Waits,

            (Readers, E::Upgrade, By::Only) => Does(&[Reply(Msg::Mapped)], Writer),
            (Readers, E::Upgrade, By::Sharer) | (Weak, E::Upgrade, By::Only | By::Sharer) => {
                Does(&[Reply(Msg::Mapped)], Weak)
            }
            (Writer, E::Upgrade, By::Only) => Impossible(because::WRITES),

            (Readers | Writer | Weak, E::Unmap, By::Only) => Does(&[Unlist], Unmapped),
            (Readers | Weak, E::Unmap, By::Sharer) => Does(&[Unlist], self),

            (Readers | Writer | Weak, E::Fetch, By::Only | By::Sharer) => {
                Does(&[Reply(Msg::Line)], self)
            }
            (Writer | Weak, E::WriteBack, By::Only | By::Sharer) => {
                Does(&[TakeWords, Reply(Msg::WrittenBack)], self)
            }
            (Readers, E::WriteBack, By::Only | By::Sharer) => Impossible(because::ONLY_READS),

            // Nodes that map a page that is not weak have fetched its lines since memory got the
            // words.
            (Unmapped | Readers | Writer, E::Modified, _) | (Weak, E::Modified, By::Only) => {
                Does(&[Reply(Msg::NoticesSent)], self)
            }
            (Weak, E::Modified, By::Sharer | By::Other) => {
                Does(&[Notify, Reply(Msg::NoticesSent)], Weak)
            }

            (_, E::ModifiedEarly, _) => Impossible(because::TAKEN),
            (_, E::Upgrade | E::Unmap | E::Fetch | E::WriteBack, By::Other) => {
                Impossible(because::MAPPED)
            }
        }
    }
}
