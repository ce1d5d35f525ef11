//! What tests of nodes with controllers share: a machine, and one simulation.

use crate::timed::{homes, simulate};
use homenode_clock::ClockSetup;
use homenode_clock::streams::Operation;
use homenode_directory::{
    ClockError, ClockedDirectoryResult, CoherenceTable, DirectoryProtocol, DirectorySetup,
    HomePolicy, ListClockSetup, ListTable, linked_clock,
};
use homenode_machine::{CachedMachine, Interconnect};

/// The protocol's table.
pub fn sdd() -> ListTable {
    let CoherenceTable::Linked(table) = DirectoryProtocol::parse("sdd").unwrap().table() else {
        unreachable!()
    };
    table
}

/// What a simulation is given.
#[derive(Clone, Debug)]
pub struct ListMachine {
    pub setup: DirectorySetup,
    pub timed: ListClockSetup,
    pub home: String,
}

/// `alite` with `nodes` nodes, a process on each.
pub fn alite(nodes: u16, home: &str) -> ListMachine {
    let machine = CachedMachine::parse("alite").unwrap();
    let Interconnect::Controllers(model) = machine.interconnect else { unreachable!() };
    let clock = ClockSetup::of(&machine, usize::from(nodes));
    ListMachine {
        setup: DirectorySetup {
            header_bytes: model.network.header_bytes,
            ..DirectorySetup::new(nodes, machine.cache, machine.page_bytes)
        },
        timed: ListClockSetup::new(clock, model),
        home: home.to_owned(),
    }
}

impl ListMachine {
    /// Its homes before the first reference.
    pub fn homes(&self) -> Box<dyn HomePolicy> {
        homes(&self.home, self.setup.nodes)
    }

    /// Simulates processes under `sdd`, with `portion` operations at a time.
    pub fn run(&self, processes: &[Vec<Operation>], portion: usize) -> ClockedDirectoryResult {
        self.try_run(sdd(), processes, portion).unwrap()
    }

    /// The same under any table.
    pub fn try_run(
        &self,
        table: ListTable,
        processes: &[Vec<Operation>],
        portion: usize,
    ) -> Result<ClockedDirectoryResult, ClockError> {
        let clock = linked_clock(&self.setup, table, self.homes(), &self.timed).unwrap();
        simulate(clock, processes, portion)
    }
}
