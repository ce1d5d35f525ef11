//! The same streams as operations of processes, and the work of machines with a clock.

use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_directory::{
    ClockedDirectoryResult, CoherenceTable, DirectoryClockSetup, DirectoryProtocol, DirectorySetup,
    HomePolicy, HomeSetup, HomeSpec, ListClockSetup, ProxySetup, ProxyUse, directory_clock,
    linked_clock,
};
use homenode_machine::{CachedMachine, Interconnect};
use homenode_trace::Batch;

/// Instructions before each reference.
const GAP: u32 = 3;

/// A batch as portions of all processes.
pub fn operations(nodes: u16, batches: &[Batch]) -> Vec<ThreadStreams> {
    let of_batch = |batch: &Batch| {
        let mut own: Vec<Vec<Operation>> = vec![Vec::new(); usize::from(nodes)];
        for (row, thread) in batch.turns.threads().enumerate() {
            let kind = if batch.kind[row] == 0 { OpKind::Read } else { OpKind::Write };
            let reference =
                Operation { count: GAP, size: 8, ..Operation::new(kind, batch.addr[row]) };
            own[usize::from(thread)].push(reference);
        }
        let portions = own.into_iter().map(Portion::new).enumerate();
        ThreadStreams { operations: portions.collect(), ..ThreadStreams::default() }
    };
    batches.iter().map(of_batch).collect()
}

/// The machines with a clock, each with its protocol, as the table names them.
pub const MACHINES: [&str; 5] = ["dash", "lrc", "sdd", "sdd-finite", "sdd-reactive"];

/// What happens on one of them, homes by first touch.
pub fn simulate(nodes: u16, machine: &str, portions: &[ThreadStreams]) -> ClockedDirectoryResult {
    let (protocol, variant) = machine.split_once('-').unwrap_or((machine, ""));
    let protocol = DirectoryProtocol::parse(protocol).expect("a protocol of the table");
    let mut clock = match protocol.table() {
        CoherenceTable::Linked(table) => {
            let (setup, timed) = alite(nodes, variant);
            linked_clock(&setup, table, first_touch(nodes), &timed)
        }
        table @ (CoherenceTable::Blocks(_) | CoherenceTable::Pages(_)) => {
            let (setup, timed) = dash_mesh(nodes, protocol.pointers);
            directory_clock(&setup, table, first_touch(nodes), &timed)
        }
    }
    .expect("a valid machine");
    for portion in portions {
        clock.push(portion).expect("a correct protocol");
    }
    clock.finish().expect("a correct protocol")
}

/// Simulates a machine on both streams, small ones of 16 nodes, and prints what it finds.
pub fn gate(machine: &str) {
    for (stream, batches) in super::streams(16, 100_000) {
        let found = simulate(16, machine, &operations(16, &batches));
        println!("{stream}: {machine}: {:?} {:?}", found.counts, found.time);
    }
}

fn first_touch(nodes: u16) -> Box<dyn HomePolicy> {
    let known = HomeSetup::new(nodes);
    let homes = HomeSpec::parse("first-touch").expect("a policy of the table");
    homes.build(&known).expect("a policy without hindsight")
}

/// `dash-mesh` with its own caches and contention.
fn dash_mesh(nodes: u16, pointers: Option<u64>) -> (DirectorySetup, DirectoryClockSetup) {
    let machine = CachedMachine::parse("dash-mesh").expect("a machine of the table");
    let Interconnect::Directory(model) = machine.interconnect else { unreachable!("dash-mesh") };
    let setup =
        DirectorySetup { pointers, ..nodes_of(&machine, nodes, model.network.header_bytes) };
    let timed = DirectoryClockSetup::new(ClockSetup::of(&machine, nodes.into()), model);
    (setup, timed)
}

/// `alite`: buffers without limit, of as many reads as the square root of its nodes, or these with
/// reactive proxies.
fn alite(nodes: u16, variant: &str) -> (DirectorySetup, ListClockSetup) {
    let machine = CachedMachine::parse("alite").expect("a machine of the table");
    let Interconnect::Controllers(model) = machine.interconnect else { unreachable!("alite") };
    let setup = nodes_of(&machine, nodes, model.network.header_bytes);
    let used = if variant == "reactive" { ProxyUse::Reactive } else { ProxyUse::None };
    let timed = ListClockSetup {
        proxies: ProxySetup { used, ..ProxySetup::default() },
        buffer_reads: (!variant.is_empty()).then(|| nodes.isqrt().into()),
        ..ListClockSetup::new(ClockSetup::of(&machine, nodes.into()), model)
    };
    (setup, timed)
}

fn nodes_of(machine: &CachedMachine, nodes: u16, header_bytes: u64) -> DirectorySetup {
    DirectorySetup { header_bytes, ..DirectorySetup::new(nodes, machine.cache, machine.page_bytes) }
}
