//! The mapping of a page at a node under lazy release consistency.

use homenode_protocol::labelled;

use super::because;
use crate::cell::{AnySender, ControllerCell, ControllerStates};
use crate::lrc::vocabulary::{MappingAction as Action, MappingEvent as E, PageMessage as Msg};

use Action::{Acknowledge, Complete, Flush, SendHome};
use ControllerCell::{Does, Impossible, Waits};
use MappingState::{
    Leaving, ReadFault, ReadOnly, ReadOnlyNoticed, ReadWrite, ReadWriteNoticed, Unmapped, Upgrade,
    UpgradeNoticed, WriteFault,
};

labelled! {
    /// States of a page in a node's page table.
    pub(in crate::lrc::protocol) enum MappingState {
        Unmapped = "unmapped": "the page is not in the page table, its lines are not in the cache",
        ReadOnly = "read-only": "mapped, a write faults",
        ReadOnlyNoticed = "read-only, noticed": "the same, and the next acquire unmaps it",
        ReadWrite = "read-write": "mapped",
        ReadWriteNoticed = "read-write, noticed": "the same, and the next acquire unmaps it",
        ReadFault = "read fault": "home was notified of a read fault",
        WriteFault = "write fault": "home was notified of a write fault",
        Upgrade = "upgrade": "mapped read-only, home was notified of a write fault",
        UpgradeNoticed = "upgrade, noticed": "the same, and the next acquire unmaps it",
        Leaving = "leaving": "removed from the page table and the cache; home is notified once \
            all dirty words are written back",
    }
}

impl ControllerStates for MappingState {
    type Event = E;
    type Sender = AnySender;
    type Action = Action;

    fn rests(self) -> bool {
        matches!(self, Unmapped | ReadOnly | ReadOnlyNoticed | ReadWrite | ReadWriteNoticed)
    }

    fn cell(self, event: E, _: AnySender) -> ControllerCell<Action, Self> {
        match (self, event) {
            (Unmapped, E::Load) => Does(&[SendHome(Msg::ReadFault)], ReadFault),
            (Unmapped, E::Store) => Does(&[SendHome(Msg::WriteFault)], WriteFault),
            (ReadOnly, E::Store) => Does(&[SendHome(Msg::Upgrade)], Upgrade),
            (ReadOnlyNoticed, E::Store) => Does(&[SendHome(Msg::Upgrade)], UpgradeNoticed),
            (ReadOnly | ReadOnlyNoticed, E::Load)
            | (ReadWrite | ReadWriteNoticed, E::Load | E::Store) => Does(&[Complete], self),
            (Leaving, E::Load | E::Store) => Waits,

            (ReadFault, E::Mapped) => Does(&[Complete], ReadOnly),
            (WriteFault | Upgrade, E::Mapped) => Does(&[Complete], ReadWrite),
            (UpgradeNoticed, E::Mapped) => Does(&[Complete], ReadWriteNoticed),
            (Unmapped | ReadOnly | ReadOnlyNoticed, E::Mapped)
            | (ReadWrite | ReadWriteNoticed | Leaving, E::Mapped) => Impossible(because::NO_FAULT),

            // Without a mapping the cache has no lines, and those it will fetch have what was
            // written.
            (Unmapped | ReadFault | WriteFault | Leaving, E::WriteNotice) => {
                Does(&[Acknowledge], self)
            }
            (ReadOnly | ReadOnlyNoticed, E::WriteNotice) => Does(&[Acknowledge], ReadOnlyNoticed),
            (ReadWrite | ReadWriteNoticed, E::WriteNotice) => {
                Does(&[Acknowledge], ReadWriteNoticed)
            }
            (Upgrade | UpgradeNoticed, E::WriteNotice) => Does(&[Acknowledge], UpgradeNoticed),

            (Unmapped | ReadOnly | ReadWrite | Leaving, E::Acquire) => Does(&[], self),
            // A read-only page has no dirty words: the unmap message can leave at once.
            (ReadOnlyNoticed, E::Acquire) => Does(&[Flush, SendHome(Msg::Unmap)], Unmapped),
            (ReadWriteNoticed, E::Acquire) => Does(&[Flush], Leaving),
            (Leaving, E::WrittenBack) => Does(&[SendHome(Msg::Unmap)], Unmapped),
            (Unmapped | ReadOnly | ReadOnlyNoticed, E::WrittenBack)
            | (ReadWrite | ReadWriteNoticed, E::WrittenBack) => Does(&[], self),

            (ReadFault | WriteFault | Upgrade | UpgradeNoticed, E::WrittenBack) => {
                Impossible(because::CLEAN)
            }
            (ReadFault | WriteFault, E::Load | E::Store | E::Acquire)
            | (Upgrade | UpgradeNoticed, E::Load | E::Store | E::Acquire) => {
                Impossible(because::BLOCKED)
            }
        }
    }
}
