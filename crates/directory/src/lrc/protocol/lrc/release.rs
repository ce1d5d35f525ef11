//! What a node owes for what it wrote to a page, under lazy release consistency.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{AnySender, ControllerCell, ControllerStates};
use crate::lrc::vocabulary::{PageMessage, ReleaseAction, ReleaseEvent as E};

use ControllerCell::{Does, Impossible};
use ReleaseAction::{SendHome, WriteBack};
use ReleaseState::{Acknowledging, Released, Telling, WritingBack, Written};

labelled! {
    /// States of a node's release of a page. They are independent of whether the node still maps
    /// the page: an acquire may unmap it before its writes are released.
    pub(in crate::lrc::protocol) enum ReleaseState {
        Released = "released": "nothing was written since the last release",
        Written = "written": "the page was written since the last release",
        WritingBack = "writing back": "a release waits for the page's write-backs",
        Telling = "telling": "a release waits for home to send notices",
        Acknowledging = "acknowledging": "a release waits for acknowledgements of notices",
    }
}

impl ControllerStates for ReleaseState {
    type Event = E;
    type Sender = AnySender;
    type Action = ReleaseAction;

    fn rests(self) -> bool {
        self == Released
    }

    fn cell(self, event: E, _: AnySender) -> ControllerCell<ReleaseAction, Self> {
        match (self, event) {
            (Released | Written, E::Store) => Does(&[], Written),
            (Released, E::Release) => Does(&[], Released),
            (Written, E::Release) => Does(&[WriteBack], WritingBack),
            (WritingBack | Telling | Acknowledging, E::Store | E::Release) => {
                Impossible(because::RELEASES)
            }

            // A replaced or flushed line: no release waits for it.
            (Released | Written, E::WrittenBack) => Does(&[], self),
            (WritingBack, E::WrittenBack) => Does(&[SendHome(PageMessage::Modified)], Telling),
            (Telling | Acknowledging, E::WrittenBack) => Impossible(because::NOT_DUE),

            (Telling, E::NoticesSent) => Does(&[], Released),
            (Telling, E::NoticesSentDue) => Does(&[], Acknowledging),
            (Telling | Acknowledging, E::Acknowledge) => Does(&[], self),
            (Acknowledging, E::LastAcknowledge) => Does(&[], Released),
            (
                Released | Written | WritingBack | Acknowledging,
                E::NoticesSent | E::NoticesSentDue,
            ) => Impossible(because::NOT_TOLD),
            (Released | Written | WritingBack, E::Acknowledge | E::LastAcknowledge)
            | (Telling, E::LastAcknowledge) => Impossible(because::NOT_DUE),
        }
    }
}
