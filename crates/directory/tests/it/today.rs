//! Current machines with a directory: the models reproduce measured latencies, and agree with other
//! measurements of routes.

use crate::timed::{TimedMachine, machine_of, step};
use homenode_clock::streams::{OpKind, Operation};
use homenode_machine::CachedMachine;

const DATA: u64 = 0x1_0000;

/// A machine, and the length of its cycle in ns.
struct RealMachine {
    machine: TimedMachine,
    ns: f64,
}

/// A machine with all its pages in one memory.
fn machine(name: &str, processors: u16, home: u16) -> RealMachine {
    let mhz = CachedMachine::parse(name).unwrap().directory().unwrap().cycles_per_ms / 1000;
    let machine = machine_of(name, processors, &format!("fixed:node={home}"));
    RealMachine { machine, ns: 1000.0 / f64::from(u32::try_from(mhz).unwrap()) }
}

/// Nanoseconds that a processor waits for a read, after operations of its own and of another one.
fn read(
    machine: &RealMachine,
    reader: usize,
    before: &[Operation],
    other: Option<(usize, Operation)>,
) -> f64 {
    let RealMachine { machine, ns } = machine;
    let delay = |steps: Vec<Operation>| {
        let mut all = vec![Vec::new(); usize::from(machine.setup.nodes)];
        if let Some((processor, operation)) = other {
            all[processor] = vec![operation];
        }
        all[reader] = steps;
        machine.run(&all, 1000).time.processors[reader].delay
    };
    let late = Operation { count: 100_000, ..step(OpKind::Read, DATA) };
    let cycles = delay([before, &[late]].concat()) - delay(before.to_vec());
    // The first cycle is the operation's own.
    ns * f64::from(u32::try_from(cycles + 1).unwrap())
}

/// A read of data that another processor wrote, on a page in this memory.
fn written(name: &str, processors: u16, home: u16, reader: usize, writer: usize) -> f64 {
    let wrote = Some((writer, step(OpKind::Write, DATA)));
    read(&machine(name, processors, home), reader, &[], wrote)
}

/// A read of memory.
fn memory(name: &str, processors: u16, home: u16, reader: usize) -> f64 {
    read(&machine(name, processors, home), reader, &[], None)
}

#[track_caller]
fn is(found: f64, [least, most]: [f64; 2]) {
    assert!((least..=most).contains(&found), "{found} ns, not {least} to {most}");
}

#[test]
fn two_sockets() {
    const NAME: &str = "spr-2s-directory";
    // Measured on two Xeon Gold 4416+.
    is(memory(NAME, 40, 0, 0), [106.0, 113.0]);
    is(memory(NAME, 40, 1, 0), [168.0, 170.0]);
    is(written(NAME, 40, 0, 0, 1), [69.0, 71.0]);
    // Derived: 138.6 was measured between the sockets of a Graviton4, which are reported to be
    // about as far from each other.
    is(written(NAME, 40, 0, 0, 39), [125.0, 150.0]);
    is(written(NAME, 40, 1, 0, 39), [125.0, 150.0]);
    // A hit in the last level: the line was read before, and its frame was reused.
    let ours = machine(NAME, 40, 0);
    let cache = ours.machine.setup.cache;
    let set = cache.size_bytes / cache.associativity;
    let others = (1..=cache.associativity).map(|n| step(OpKind::Read, DATA + n * set));
    let before: Vec<Operation> = std::iter::once(step(OpKind::Read, DATA)).chain(others).collect();
    is(read(&ours, 0, &before, None), [32.5, 33.5]);
}

#[test]
fn eight_nodes() {
    const NAME: &str = "genoa-8n-directory";
    // Measured on an EPYC 9354P in NPS4 mode: the processor's quadrant, and another one.
    is(memory(NAME, 64, 0, 0), [104.0, 106.0]);
    is(memory(NAME, 64, 3, 0), [113.0, 118.6]);
    is(memory(NAME, 64, 4, 0), [190.0, 220.0]);
    // Measured on two EPYC 9274F: between complexes, and between sockets.
    is(written(NAME, 64, 0, 0, 1), [97.0, 104.0]);
    is(written(NAME, 64, 0, 0, 63), [193.0, 202.0]);
    is(written(NAME, 64, 4, 0, 32), [193.0, 202.0]);
    // Derived: within a socket it takes 188 to 196 where the page is in the other one
    // (core-to-core-latency, issue 97).
    is(written(NAME, 64, 4, 0, 1), [188.0, 202.0]);
}

#[test]
fn a_mesh() {
    const NAME: &str = "graviton2-mesh";
    let mean = |latency: &dyn Fn(usize) -> f64| (0..64).map(latency).sum::<f64>() / 64.0;
    is(mean(&|reader| memory(NAME, 64, 0, reader)), [78.0, 84.0]);
    is(mean(&|reader| written(NAME, 64, 0, reader, (reader + 27) % 64)), [43.0, 49.0]);
    // A corner is farther from the opposite one than from its neighbour.
    let [near, far] = [1, 63].map(|writer| written(NAME, 64, 0, 0, writer));
    assert!(near < far, "{near} {far}");
}
