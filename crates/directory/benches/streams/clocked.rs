//! The same streams as operations of processes, and the work of machines with a clock.

use homenode_base::ReferenceFilter;
use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_directory::{
    ClockedDirectoryResult, DemandCollection, DirectoryClock, DirectoryClockSetup,
    DirectoryProtocol, DirectorySetup, HomeSetup, HomeSpec, MessageCost, MissRule, PageReplication,
};
use homenode_machine::{CachedMachine, Interconnect};
use homenode_trace::Batch;

/// Instructions before each reference.
const GAP: u32 = 3;

/// A batch as portions of all processes.
pub fn operations(nodes: u16, batches: &[Batch]) -> Vec<ThreadStreams> {
    let of_batch = |batch: &Batch| {
        let mut own: Vec<Vec<Operation>> = vec![Vec::new(); usize::from(nodes)];
        for row in 0..batch.len() {
            let kind = if batch.kind[row] == 0 { OpKind::Read } else { OpKind::Write };
            let reference =
                Operation { count: GAP, size: 8, ..Operation::new(kind, batch.addr[row]) };
            own[usize::from(batch.thread[row])].push(reference);
        }
        let portions = own.into_iter().map(Portion::new).enumerate();
        ThreadStreams { operations: portions.collect(), closed: Vec::new() }
    };
    batches.iter().map(of_batch).collect()
}

/// What a protocol does on `dash-mesh` with its own caches and contention, homes by first touch.
pub fn simulate(nodes: u16, protocol: &str, portions: &[ThreadStreams]) -> ClockedDirectoryResult {
    let machine = CachedMachine::parse("dash-mesh").expect("a machine of the table");
    let Interconnect::Directory(model) = machine.interconnect else { unreachable!("dash-mesh") };
    let protocol = DirectoryProtocol::parse(protocol).expect("a protocol of the table");
    let setup = DirectorySetup {
        nodes,
        cache: machine.cache,
        page_bytes: machine.page_bytes,
        pointers: protocol.pointers,
        header_bytes: model.network.header_bytes,
        private: Vec::new(),
        filter: ReferenceFilter::ALL,
        rule: MissRule::Dubois,
        check: false,
        collect_demands: DemandCollection::Off,
        collect_uses: false,
    };
    let timed = DirectoryClockSetup {
        clock: ClockSetup {
            processor: machine.processor,
            scheduler: machine.scheduler,
            seed: 1,
            processes: usize::from(nodes),
        },
        machine: model,
        sequential: false,
        phase_change: false,
        from_init_done: false,
        replication: PageReplication::None,
        collect_waits: false,
    };
    let known =
        HomeSetup { nodes, seed: 0, marks_init_done: false, first_run: None, cost: &MessageCost };
    let homes = HomeSpec::parse("first-touch").expect("a policy of the table");
    let homes = homes.build(&known).expect("a policy without hindsight");
    let mut clock = DirectoryClock::new(&setup, protocol.table(), (homes, &timed))
        .expect("a machine that can be");
    for portion in portions {
        clock.push(portion).expect("a protocol that keeps its promises");
    }
    clock.finish().expect("a protocol that keeps its promises")
}
