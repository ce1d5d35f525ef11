//! What a node owes for what it wrote to a page: as under `lrc`, but home is told at once.

use homenode_protocol::Labelled;

use crate::cell::{AnySender, ControllerCell, ControllerStates};
use crate::lrc::protocol::lrc::release::ReleaseState;
use crate::lrc::vocabulary::{PageMessage, ReleaseAction, ReleaseEvent as E};

use ControllerCell::Does;
use ReleaseAction::{SendHome, WriteBack};
use ReleaseState::{Acknowledging, Released, Telling, Written};

/// A state of a node's release under `lrc`, except that none waits for write-backs only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OneTripReleaseState(pub(super) ReleaseState);

impl Labelled for OneTripReleaseState {
    const ALL: &'static [Self] =
        &[Self(Released), Self(Written), Self(Telling), Self(Acknowledging)];

    fn name(self) -> &'static str {
        self.0.name()
    }

    fn meaning(self) -> &'static str {
        if self.0 == Telling {
            return "a release waits for home to get the write-backs and send notices";
        }
        self.0.meaning()
    }
}

impl ControllerStates for OneTripReleaseState {
    type Event = E;
    type Sender = AnySender;
    type Action = ReleaseAction;

    fn rests(self) -> bool {
        self.0.rests()
    }

    fn cell(self, event: E, sender: AnySender) -> ControllerCell<ReleaseAction, Self> {
        match (self.0, event) {
            (Written, E::Release) => {
                Does(&[WriteBack, SendHome(PageMessage::Modified)], Self(Telling))
            }
            // No release waits for it.
            (_, E::WrittenBack) => Does(&[], self),
            _ => self.0.cell(event, sender).map_state(Self),
        }
    }
}
