//! The table of latencies in `docs/directory.md`, worked by hand from table 1 of the publication:
//! 64 nodes, blocks of 64 bytes, no contention. A header takes 4 cycles of a path, a header
//! with a block 36, a hop 6, a lookup 10, the first word of memory 12 and each word 4.

use crate::timed::{dash_mesh, step};
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{MeshShape, MissLatency};

const DATA: u64 = 0x1_0000;
/// A lock and a barrier whose home is node 0.
const LOCK: u64 = 0x4_0000;
const BARRIER: u64 = 64;
const NODES: usize = 64;
/// Node 0 is the home; distances of these nodes from it.
const DISTANCES: [(usize, u64); 4] = [(0, 0), (1, 1), (7, 7), (63, 14)];

/// An operation `cycles` cycles after the one before.
fn later(kind: OpKind, cycles: u32) -> Operation {
    Operation { count: cycles, ..step(kind, DATA) }
}

fn latency() -> MissLatency {
    MissLatency::new(dash_mesh(64, "round-robin").timed.machine, 64)
}

fn programs(of: &[(usize, Vec<Operation>)]) -> Vec<Vec<Operation>> {
    let mut all = vec![Vec::new(); NODES];
    for (node, steps) in of {
        all[*node].clone_from(steps);
    }
    all
}

/// Cycles that a node waits for the last of its steps, after the others' steps.
fn waits(home: &str, node: usize, steps: &[Operation], others: &[(usize, Vec<Operation>)]) -> u64 {
    let delay = |steps: &[Operation]| {
        let mut all = programs(others);
        all[node] = steps.to_vec();
        dash_mesh(64, home).run(&all, 100).time.processors[node].delay
    };
    delay(steps) - delay(&steps[..steps.len() - 1])
}

/// Cycles until a read's data arrive: the first is the operation's own.
fn read(node: usize, others: &[(usize, Vec<Operation>)]) -> u64 {
    waits("fixed:node=0", node, &[later(OpKind::Read, 10_000)], others) + 1
}

/// Cycles until a write that the processor waits for is complete, perhaps after a read.
fn write(node: usize, before: &[Operation], others: &[(usize, Vec<Operation>)]) -> u64 {
    let steps = [before, &[later(OpKind::Atomic, 10_000)]].concat();
    waits("fixed:node=0", node, &steps, others)
}

fn hops(from: usize, to: usize) -> u64 {
    MeshShape::new(64).hops(u16::try_from(from).unwrap(), u16::try_from(to).unwrap())
}

#[test]
fn memory_answers() {
    for (node, distance) in DISTANCES {
        let expected = if distance == 0 { 86 } else { 90 + 12 * distance };
        assert_eq!(read(node, &[]), expected);
        assert_eq!(write(node, &[], &[]), expected);
        assert_eq!(latency().clean(distance), expected);
    }
}

#[test]
fn an_owner_answers() {
    let wrote = vec![step(OpKind::Write, DATA)];
    for (node, distance) in DISTANCES {
        for owner in [0, 8, 20].into_iter().filter(|&owner| owner != node) {
            let ways = [distance, hops(0, owner), hops(owner, node)];
            let expected = match (node, owner) {
                (0, _) => 50 + 12 * ways[1],
                (_, 0) => 50 + 12 * distance,
                _ => 54 + 6 * ways.iter().sum::<u64>(),
            };
            assert_eq!(read(node, &[(owner, wrote.clone())]), expected);
            assert_eq!(write(node, &[], &[(owner, wrote.clone())]), expected);
            assert_eq!(latency().dirty(ways), expected);
        }
    }
}

#[test]
fn a_copy_becomes_the_only_one() {
    let had = [step(OpKind::Read, DATA)];
    for (node, distance) in DISTANCES {
        let expected = if distance == 0 { 10 } else { 18 + 12 * distance };
        assert_eq!(write(node, &had, &[]), expected);
        assert_eq!(latency().upgrade(distance), expected);
        // Each invalidation leaves home before the permission, which sends no message within a
        // node.
        let shared: Vec<_> = [9, 18].map(|sharer| (sharer, had.to_vec())).into();
        let sent = if distance == 0 { 0 } else { 2 * 4 };
        assert_eq!(write(node, &had, &shared), expected + sent);
    }
}

#[test]
fn writes_of_shared_blocks_and_their_acknowledgements() {
    let had = vec![step(OpKind::Read, DATA)];
    for (node, distance) in DISTANCES {
        // Three invalidations leave home while memory looks for the first word.
        let shared: Vec<_> = [9, 18, 27].map(|sharer| (sharer, had.clone())).into();
        let expected = if distance == 0 { 86 } else { 90 + 12 * distance };
        assert_eq!(write(node, &[], &shared), expected);
    }
    // Node 1 upgrades, node 63 has a copy: 1 hop to home, 14 to the copy, 13 back.
    let release = step(OpKind::Release, LOCK);
    let steps = [had.clone(), vec![later(OpKind::Write, 10_000), release]].concat();
    let all = |steps: &[Operation]| programs(&[(1, steps.to_vec()), (63, had.clone())]);
    let delay = |steps: &[Operation]| {
        dash_mesh(64, "fixed:node=0").run(&all(steps), 100).time.processors[1].delay
    };
    assert_eq!(delay(&steps) - delay(&steps[..1]) + 1, 22 + 6 * (1 + 14 + 13));
    assert_eq!(delay(&steps[..2]) - delay(&steps[..1]) + 1, 18 + 12 + 4, "without the release");
}

#[test]
fn pages_are_mapped_and_move() {
    let first = waits("first-touch", 5, &[step(OpKind::Read, DATA)], &[]) + 1;
    assert_eq!(first, 140 + 320 + 86);
    for (node, distance) in DISTANCES.into_iter().filter(|&(node, _)| node != 0) {
        let steps = [later(OpKind::Read, 1000), later(OpKind::InitDone, 0)];
        let steps = [&steps[..], &[step(OpKind::Read, DATA + 64)]].concat();
        // Node 0 is the first to use the page, which round-robin gives to it.
        let other = (0, vec![step(OpKind::Read, DATA)]);
        let whole = waits("first-use", node, &steps, &[other]) + 1;
        let moves = 140 + (4 + 6 * distance) + 10 + 12 + 6 * distance + 12 + 4096;
        assert_eq!(whole, moves + 320 + 86);
        assert_eq!(latency().page_move(distance, 4096), moves);
    }
    // At the mean distance of two nodes, 16/3 hops, it is the publication's value: 4,300.
    let mean = latency().page_move(5, 4096) + 4;
    assert!((3_870..=4_730).contains(&mean), "{mean}");
}

#[test]
fn locks_and_barriers() {
    for (node, distance) in DISTANCES {
        let expected = if distance == 0 { 10 } else { 18 + 12 * distance };
        let steps = [step(OpKind::Acquire, LOCK), step(OpKind::Release, LOCK)];
        assert_eq!(waits("fixed:node=0", node, &steps[..1], &[]), expected);
        assert_eq!(waits("fixed:node=0", node, &steps, &[]), 0, "no processor waits for a release");
    }
    let cycles = |of: &[(usize, Vec<Operation>)]| {
        dash_mesh(64, "fixed:node=0").run(&programs(of), 100).time.cycles
    };
    // Node 1 has the lock from cycle 30, works for 5,000 cycles and reads for 102; node 63 waits.
    let (take, give) = (step(OpKind::Acquire, LOCK), step(OpKind::Release, LOCK));
    let holds = (1, vec![take, later(OpKind::Read, 5_000), give]);
    let waits = (63, vec![step(OpKind::Read, DATA + 64), later(OpKind::Read, 1_000), take]);
    assert_eq!(cycles(&[holds, waits]), 30 + 5_000 + 102 + 18 + 6 * (1 + 14) + 1);
    // Node 1 is the last to arrive. It is notified after node 63, but is closer.
    let arrive = step(OpKind::Arrive, BARRIER);
    let depart = Operation { count: 2, ..step(OpKind::Depart, BARRIER) };
    let first = (63, vec![arrive, depart]);
    let last = (1, vec![later(OpKind::Read, 5_000), arrive, depart]);
    assert_eq!(cycles(&[first, last]), 5_000 + 102 + 18 + 6 * (1 + 14) + 1);
}
