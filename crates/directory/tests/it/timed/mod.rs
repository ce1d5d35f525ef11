//! What tests with a clock share: a machine, operations of processes, one simulation.

use homenode_base::ReferenceFilter;
use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_directory::{
    ClockError, ClockedDirectoryResult, CoherenceTable, DemandCollection, DirectoryClockSetup,
    DirectoryProtocol, DirectorySetup, HomePolicy, HomeSetup, HomeSpec, MessageCost, MissRule,
    PageReplication, directory_clock,
};
use homenode_machine::{CachedMachine, Interconnect};

/// A reference to a word, or a synchronisation operation.
pub fn step(kind: OpKind, addr: u64) -> Operation {
    Operation { size: 4, ..Operation::new(kind, addr) }
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
    let (processor, scheduler) = (machine.processor, machine.scheduler);
    let clock = ClockSetup { processor, scheduler, seed: 1, processes: usize::from(nodes) };
    TimedMachine {
        setup: DirectorySetup {
            nodes,
            cache: machine.cache,
            page_bytes: machine.page_bytes,
            pointers: None,
            header_bytes: model.network.header_bytes,
            private: Vec::new(),
            filter: ReferenceFilter::ALL,
            rule: MissRule::Dubois,
            check: false,
            collect_demands: DemandCollection::Off,
            collect_uses: false,
        },
        timed: DirectoryClockSetup {
            clock,
            machine: model,
            sequential: false,
            phase_change: false,
            from_init_done: false,
            replication: PageReplication::None,
            collect_waits: false,
        },
        home: home.to_owned(),
    }
}

impl TimedMachine {
    /// Its homes before the first reference.
    pub fn homes(&self) -> Box<dyn HomePolicy> {
        let homes = HomeSetup {
            nodes: self.timed.machine.topology.memories(self.setup.nodes),
            seed: 1,
            marks_init_done: true,
            first_run: None,
            cost: &MessageCost,
        };
        HomeSpec::parse(&self.home).unwrap().build(&homes).unwrap()
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
        let mut clock = directory_clock(&self.setup, table, self.homes(), &self.timed).unwrap();
        let longest = processes.iter().map(Vec::len).max().unwrap_or(0);
        for at in (0..longest).step_by(portion) {
            let part = |steps: &Vec<Operation>| {
                let end = steps.len().min(at + portion);
                Portion::new(steps.get(at..end).unwrap_or_default().to_vec())
            };
            let operations = processes.iter().map(part).enumerate().collect();
            clock.push(&ThreadStreams { operations, ..ThreadStreams::default() })?;
        }
        clock.finish()
    }
}
