//! How long misses take on nodes with controllers where nobody is in the way.

use homenode_machine::ControllerMachine;

use super::service::{StoreAccess, cycles};
use crate::home::HomeCost;

/// Cycles from a reference until the processor has what it needs, if nothing else is under way.
/// The processor goes on a cycle of its own later.
///
/// Source: Talbot and Kelly, section 1.4 and table 1.2; the table in `docs/directory.md` has them
/// worked out.
#[derive(Clone, Copy, Debug)]
pub struct ListLatency {
    machine: ControllerMachine,
}

impl ListLatency {
    /// Of such nodes.
    #[must_use]
    pub const fn new(machine: ControllerMachine) -> Self {
        Self { machine }
    }

    fn second_level(self, access: StoreAccess) -> u64 {
        cycles(&self.machine.second_level, access)
    }

    fn memory(self, access: StoreAccess) -> u64 {
        cycles(&self.machine.memory, access)
    }

    /// A message without a block, from its sending on; none within a node.
    fn short(self, goes: bool) -> u64 {
        let (send, network) = (self.machine.controller.send_cycles, self.machine.network);
        if goes { send + network.short_cycles } else { 0 }
    }

    /// A message with a block.
    fn long(self, goes: bool) -> u64 {
        let (send, network) = (self.machine.controller.send_cycles, self.machine.network);
        if goes { send + network.long_cycles } else { 0 }
    }

    /// A read that only the second level has.
    #[must_use]
    pub fn second_level_hit(self) -> u64 {
        self.second_level(StoreAccess::LookupAndLine)
    }

    /// A write of a block that the node may write.
    #[must_use]
    pub fn write_hit(self) -> u64 {
        self.second_level(StoreAccess::Lookup)
    }

    /// A miss that memory answers, at home or not.
    #[must_use]
    pub fn clean(self, remote: bool) -> u64 {
        self.second_level(StoreAccess::Lookup)
            + self.short(remote)
            + self.memory(StoreAccess::LookupAndLine)
            + self.long(remote)
            + self.second_level(StoreAccess::Line)
    }

    /// A miss that an owner answers; which of the ways from requester to home, from there to the
    /// owner, and back to the requester are between nodes.
    #[must_use]
    pub fn dirty(self, [to_home, to_owner, back]: [bool; 3]) -> u64 {
        self.second_level(StoreAccess::Lookup)
            + self.short(to_home)
            + self.memory(StoreAccess::Lookup)
            + self.short(to_owner)
            + self.second_level(StoreAccess::LookupAndLine)
            + self.long(back)
            + self.second_level(StoreAccess::Line)
    }

    /// A write of the only copy, which may only be read.
    #[must_use]
    pub fn upgrade(self, remote: bool) -> u64 {
        self.second_level(StoreAccess::Lookup)
            + self.short(remote)
            + self.memory(StoreAccess::Lookup)
            + self.short(remote)
            + self.second_level(StoreAccess::Lookup)
    }
}

impl HomeCost for ListLatency {
    fn fill(&self, node: u16, home: u16) -> u64 {
        self.clean(node != home)
    }

    fn write_back(&self, node: u16, home: u16) -> u64 {
        self.long(node != home)
    }
}
