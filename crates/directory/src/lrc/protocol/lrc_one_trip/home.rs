//! The controller of a page's home: that of `lrc`, where `modified` waits for write-backs.

use homenode_protocol::Labelled;

use crate::cell::{ControllerCell, ControllerStates};
use crate::lrc::protocol::lrc::home::PageHomeState;
use crate::lrc::vocabulary::{PageHomeAction, PageHomeEvent as E, PageSender as By};

use PageHomeState::{Readers, Unmapped, Weak, Writer};

/// A state of the home of `lrc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OneTripHomeState(pub(super) PageHomeState);

impl Labelled for OneTripHomeState {
    const ALL: &'static [Self] = &[Self(Unmapped), Self(Readers), Self(Writer), Self(Weak)];

    fn name(self) -> &'static str {
        self.0.name()
    }

    fn meaning(self) -> &'static str {
        self.0.meaning()
    }
}

impl ControllerStates for OneTripHomeState {
    type Event = E;
    type Sender = By;
    type Action = PageHomeAction;

    fn rests(self) -> bool {
        self.0.rests()
    }

    fn cell(self, event: E, sender: By) -> ControllerCell<PageHomeAction, Self> {
        match (self.0, event, sender) {
            (Writer, E::ModifiedEarly, By::Only)
            | (Weak, E::ModifiedEarly, By::Only | By::Sharer) => ControllerCell::Waits,
            _ => self.0.cell(event, sender).map_state(Self),
        }
    }
}
