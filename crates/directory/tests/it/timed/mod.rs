//! What tests with a clock share: a machine, operations of processes, one simulation.

use homenode_clock::streams::{OpKind, Operation, ThreadStreams};
use homenode_clock::{ClockSetup, TimedSimulation};
use homenode_directory::{
    ClockError, ClockedDirectoryResult, CoherenceTable, DirectoryClockSetup, DirectoryProtocol,
    DirectorySetup, HomePolicy, HomeSetup, HomeSpec, directory_clock,
};
use homenode_machine::{CachedMachine, Interconnect};

/// A reference to a word, or a synchronisation operation.
pub fn step(kind: OpKind, addr: u64) -> Operation {
    Operation { size: 4, ..Operation::new(kind, addr) }
}

/// An operation `cycles` cycles after the one before.
pub fn later(kind: OpKind, cycles: u32, addr: u64) -> Operation {
    Operation { count: cycles, ..step(kind, addr) }
}

/// Homes in a trace that says when initialisation is over.
pub fn homes(home: &str, memories: u16) -> Box<dyn HomePolicy> {
    let homes = HomeSetup { seed: 1, marks_init_done: true, ..HomeSetup::new(memories) };
    HomeSpec::parse(home).unwrap().build(&homes).unwrap()
}

/// Simulates processes, with `portion` operations at a time.
pub fn simulate(
    mut clock: Box<dyn TimedSimulation<ClockedDirectoryResult, ClockError>>,
    processes: &[Vec<Operation>],
    portion: usize,
) -> Result<ClockedDirectoryResult, ClockError> {
    for portion in ThreadStreams::portions(processes, portion) {
        clock.push(&portion)?;
    }
    clock.finish()
}

/// What a simulation is given.
#[derive(Clone)]
pub struct TimedMachine {
    pub setup: DirectorySetup,
    pub timed: DirectoryClockSetup,
    pub home: String,
}

/// `dash-mesh` with `nodes` nodes, a process on each.
pub fn dash_mesh(nodes: u16, home: &str) -> TimedMachine {
    machine_of("dash-mesh", nodes, home)
}

/// A machine of the table with `nodes` processors, a process on each.
pub fn machine_of(name: &str, nodes: u16, home: &str) -> TimedMachine {
    let machine = CachedMachine::parse(name).unwrap();
    let Interconnect::Directory(model) = machine.interconnect else { unreachable!() };
    let clock = ClockSetup::of(&machine, usize::from(nodes));
    TimedMachine {
        setup: DirectorySetup {
            header_bytes: model.network.header_bytes,
            ..DirectorySetup::new(nodes, machine.cache, machine.page_bytes)
        },
        timed: DirectoryClockSetup::new(clock, model),
        home: home.to_owned(),
    }
}

impl TimedMachine {
    /// Its homes before the first reference.
    pub fn homes(&self) -> Box<dyn HomePolicy> {
        homes(&self.home, self.timed.machine.topology.memories(self.setup.nodes))
    }

    /// Simulates processes under `dash`, with `portion` operations at a time.
    pub fn run(&self, processes: &[Vec<Operation>], portion: usize) -> ClockedDirectoryResult {
        let table = DirectoryProtocol::parse("dash").unwrap().table();
        self.try_run(table, processes, portion).unwrap()
    }

    /// The same under any table.
    pub fn try_run(
        &self,
        table: CoherenceTable,
        processes: &[Vec<Operation>],
        portion: usize,
    ) -> Result<ClockedDirectoryResult, ClockError> {
        let clock = directory_clock(&self.setup, table, self.homes(), &self.timed).unwrap();
        simulate(clock, processes, portion)
    }
}
