//! Latencies of misses on nodes with controllers, without contention.

use homenode_machine::ControllerMachine;

use super::service::{StoreAccess, cycles};
use crate::home::HomeCost;

/// Cycles from a reference until it is served, without contention. The processor continues one of
/// its own cycles later.
///
/// Source: Talbot and Kelly, section 1.4 and table 1.2; the table in `docs/directory.md` has them
/// worked out.
#[derive(Clone, Copy, Debug)]
pub struct ListLatency {
    machine: ControllerMachine,
}

impl ListLatency {
    /// Latencies of a machine.
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

    /// A message without a block, including its sending; 0 within a node.
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

    /// A miss that an owner answers. The flags say whether the request to the home, the forwarded
    /// request to the owner, and the data cross the network.
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

    /// A write of the only copy, which is read-only.
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
