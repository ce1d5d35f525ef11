//! What tests of nodes with controllers share: a machine, operations of processes, one simulation.

use homenode_base::ReferenceFilter;
use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_directory::{
    ClockError, ClockedDirectoryResult, CoherenceTable, DemandCollection, DirectoryProtocol,
    DirectorySetup, HomePolicy, HomeSetup, HomeSpec, ListClockSetup, ListTable, MessageCost,
    MissRule, ProxySetup, linked_clock,
};
use homenode_machine::{CachedMachine, Interconnect};

/// A reference to a word, or a synchronisation operation.
pub fn step(kind: OpKind, addr: u64) -> Operation {
    Operation { size: 4, ..Operation::new(kind, addr) }
}

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
    let (processor, scheduler) = (machine.processor, machine.scheduler);
    let clock = ClockSetup { processor, scheduler, seed: 1, processes: usize::from(nodes) };
    ListMachine {
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
        timed: ListClockSetup {
            clock,
            machine: model,
            phase_change: false,
            from_init_done: false,
            proxies: ProxySetup::default(),
            buffer_reads: None,
        },
        home: home.to_owned(),
    }
}

impl ListMachine {
    /// Its homes before the first reference.
    pub fn homes(&self) -> Box<dyn HomePolicy> {
        let homes = HomeSetup {
            nodes: self.setup.nodes,
            seed: 1,
            marks_init_done: true,
            first_run: None,
            cost: &MessageCost,
        };
        HomeSpec::parse(&self.home).unwrap().build(&homes).unwrap()
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
        let mut clock = linked_clock(&self.setup, table, self.homes(), &self.timed).unwrap();
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
