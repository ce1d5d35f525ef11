//! What a node owes for what it wrote to a page, if it tells home when it writes back.

use homenode_protocol::labelled;

use crate::cell::{AnySender, ControllerCell, ControllerStates};
use crate::lrc::protocol::lrc::because;
use crate::lrc::vocabulary::{PageMessage, ReleaseAction, ReleaseEvent as E};

use ControllerCell::{Does, Impossible};
use OneTripReleaseState::{Acknowledging, Released, Telling, Written};
use ReleaseAction::{SendHome, WriteBack};

labelled! {
    /// States of a node's release of a page.
    pub(super) enum OneTripReleaseState {
        Released = "released": "nothing was written since the last release",
        Written = "written": "the page was written since the last release",
        Telling = "telling": "a release waits for home to get the write-backs and send notices",
        Acknowledging = "acknowledging": "a release waits for acknowledgements of notices",
    }
}

impl ControllerStates for OneTripReleaseState {
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
            (Written, E::Release) => Does(&[WriteBack, SendHome(PageMessage::Modified)], Telling),
            (Telling | Acknowledging, E::Store | E::Release) => Impossible(because::RELEASES),

            // No release waits for it.
            (_, E::WrittenBack) => Does(&[], self),

            (Telling, E::NoticesSent) => Does(&[], Released),
            (Telling, E::NoticesSentDue) => Does(&[], Acknowledging),
            (Telling | Acknowledging, E::Acknowledge) => Does(&[], self),
            (Acknowledging, E::LastAcknowledge) => Does(&[], Released),
            (Released | Written | Acknowledging, E::NoticesSent | E::NoticesSentDue) => {
                Impossible(because::NOT_TOLD)
            }
            (Released | Written, E::Acknowledge | E::LastAcknowledge)
            | (Telling, E::LastAcknowledge) => Impossible(because::NOT_DUE),
        }
    }
}
