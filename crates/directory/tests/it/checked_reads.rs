//! With a clock reads can be checked: right protocols pass, whatever the programs do, and nothing
//! that is counted or timed changes; protocols with a planted bug are found out.

use crate::programs::pick;
use crate::timed::{TimedMachine, dash_mesh};
use homenode_base::Rng;
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{
    CacheEvent, ClockError, ClockedDirectoryResult, CoherenceTable, ControllerCell,
    DirectoryCounts, DirectoryFindingKind, DirectoryProtocol, HomeAction, HomeEvent, MappingEvent,
    PageHomeEvent, PageReplication, PageSender, ReleaseEvent, Sender, check,
};
use homenode_machine::{
    CacheShape, LastLevelModel, MemoryTopology, NetworkContention, SharedMemories,
};
use homenode_protocol::Labelled;

fn table(protocol: &str) -> CoherenceTable {
    DirectoryProtocol::parse(protocol).unwrap().table()
}

/// A machine with tiny caches and pages, so that everything happens often.
fn machine(rng: &mut Rng) -> TimedMachine {
    let nodes = pick(rng, &[2, 3, 6]);
    let home = pick(rng, &["round-robin", "fixed:node=0", "first-touch", "first-use"]);
    let mut machine = dash_mesh(nodes, home);
    let (block, ways) = (pick(rng, &[16, 32]), pick(rng, &[1, 2, 4]));
    machine.setup.cache = CacheShape {
        size_bytes: block * ways * pick(rng, &[1, 2, 4]),
        block_size_bytes: block,
        associativity: ways,
    };
    machine.setup.page_bytes = block * pick(rng, &[1, 2, 4]);
    machine.timed.sequential = rng.below(3) == 0;
    machine.timed.clock.processor.blocking = machine.timed.sequential;
    machine.timed.clock.processor.store_buffer_words = pick(rng, &[0, 1, 4]);
    machine.timed.machine.directory_cycles = pick(rng, &[1, 10, 90]);
    machine.timed.machine.network.path_bits = pick(rng, &[8, 64]);
    machine
}

/// Memories that processors share, with slices and last levels.
fn share_memories(rng: &mut Rng, machine: &mut TimedMachine) {
    let slices = pick(rng, &[1, 2, 3]);
    machine.timed.machine.topology = MemoryTopology::Shared(SharedMemories {
        sockets: pick(rng, &[1, 2]),
        memories: pick(rng, &[1, 2]),
        slices,
        tiles: 0,
        near_cycles: pick(rng, &[0, 3]),
        socket_cycles: 5,
        far_cycles: 20,
    });
    let block = machine.setup.cache.block_size_bytes;
    machine.timed.machine.last_level = (rng.below(2) == 0).then(|| LastLevelModel {
        size_bytes: block * u64::from(slices),
        associativity: 1,
        latency_cycles: 5,
    });
}

fn reference(rng: &mut Rng, words: u64) -> Operation {
    let kind = pick(rng, &[OpKind::Read, OpKind::Read, OpKind::Write, OpKind::Atomic]);
    let count = u32::try_from(rng.below(3) * rng.below(40)).unwrap();
    let addr = 0x1000 + 4 * rng.below(words);
    Operation { size: pick(rng, &[4, 4, 8]), count, ..Operation::new(kind, addr) }
}

/// Programs of one process a node: references under a lock, and if `races` also without one, and
/// barriers.
fn programs(rng: &mut Rng, nodes: u16, races: bool) -> Vec<Vec<Operation>> {
    let (words, count) = (pick(rng, &[4, 16, 48]), u32::from(nodes));
    let mut all = vec![Vec::new(); usize::from(nodes)];
    for episode in 0..4 {
        for steps in &mut all {
            for _ in 0..rng.below(6) {
                if races {
                    steps.extend((0..rng.below(8)).map(|_| reference(rng, words)));
                }
                steps.push(Operation::new(OpKind::Acquire, 0x9000));
                steps.extend((0..rng.below(6)).map(|_| reference(rng, words)));
                steps.push(Operation::new(OpKind::Release, 0x9000));
            }
            steps.push(Operation::new(OpKind::Arrive, episode));
            steps.push(Operation { count, ..Operation::new(OpKind::Depart, episode) });
        }
    }
    all
}

/// What was counted. A processor that needs nothing of others writes ahead of their time unless its
/// references are checked: with races, a miss of theirs can find such a write or not, by which it
/// is true or false sharing. These are one class then.
fn classified(found: &ClockedDirectoryResult, races: bool) -> DirectoryCounts {
    let mut counts = found.counts;
    if races {
        let misses = &mut counts.misses;
        misses.invalidation_true += std::mem::take(&mut misses.invalidation_false);
    }
    counts
}

#[test]
fn right_protocols_pass_and_nothing_else_changes() {
    let mut rng = Rng::new(41);
    for round in 0..600 {
        let mut machine = machine(&mut rng);
        let races = round % 2 == 0;
        let programs = programs(&mut rng, machine.setup.nodes, races);
        let protocol =
            ["dash", "lrc", "lrc-one-trip", "lrc", "dash:pointers=1", "lrc-one-trip"][round % 6];
        if protocol.starts_with("lrc") {
            let policies = [PageReplication::None, PageReplication::Counter(1)];
            machine.timed.replication = pick(&mut rng, &policies);
            // Without queues at the ends of the network messages overtake each other.
            let contention = [NetworkContention::None, NetworkContention::Ends];
            machine.timed.machine.network.contention = pick(&mut rng, &contention);
        } else if rng.below(2) == 0 {
            share_memories(&mut rng, &mut machine);
        }
        machine.setup.pointers = DirectoryProtocol::parse(protocol).unwrap().pointers;
        let plain = machine.try_run(table(protocol), &programs, 7).unwrap();
        machine.setup.check = true;
        let checked = machine.try_run(table(protocol), &programs, 7);
        let checked = checked.unwrap_or_else(|error| panic!("{round} {protocol}: {error}"));
        assert_eq!(classified(&checked, races), classified(&plain, races), "{round} {protocol}");
        assert_eq!(checked.page_messages, plain.page_messages, "{round} {protocol}");
        assert_eq!(checked.timing, plain.timing, "{round} {protocol}");
        assert_eq!(checked.time, plain.time, "{round} {protocol}");
    }
}

/// How many of some random programs are found out to read something stale; other errors are none.
fn stale(table: &CoherenceTable, races: bool) -> usize {
    let mut rng = Rng::new(43);
    let found = (0..60).filter(|_| {
        let mut machine = machine(&mut rng);
        machine.setup.check = true;
        let programs = programs(&mut rng, machine.setup.nodes, races);
        matches!(machine.try_run(table.clone(), &programs, 50), Err(ClockError::Stale { .. }))
    });
    found.count()
}

/// The cell without the actions of these numbers, and with this state, if one is given.
fn without<A: Copy>(
    cell: ControllerCell<A, u8>,
    left_out: &[usize],
    state: Option<u8>,
) -> ControllerCell<A, u8> {
    let ControllerCell::Does(actions, next) = cell else { panic!("it does nothing") };
    let kept = actions.iter().enumerate().filter(|(at, _)| !left_out.contains(at));
    let kept: Vec<A> = kept.map(|(_, &action)| action).collect();
    ControllerCell::Does(kept.leak(), state.unwrap_or(next))
}

fn state(states: &[homenode_protocol::TableLabel], name: &str) -> u8 {
    let found = states.iter().position(|state| state.name == name).unwrap();
    u8::try_from(found).unwrap()
}

#[test]
fn a_lost_invalidation_is_found() {
    let CoherenceTable::Blocks(mut bug) = table("dash") else { unreachable!() };
    assert_eq!(stale(&CoherenceTable::Blocks(bug.clone()), true), 0);
    let shared = state(bug.cache.states(), "S");
    let cell = bug.cache.cell(shared, CacheEvent::Invalidate);
    // It is acknowledged, and the copy stays.
    bug.cache.set_cell(shared, CacheEvent::Invalidate, without(cell, &[], Some(shared)));
    assert!(stale(&CoherenceTable::Blocks(bug.clone()), true) > 10);
    assert!(stale(&CoherenceTable::Blocks(bug), false) > 10, "without races, too");
}

#[test]
fn a_lost_write_back_is_found() {
    let CoherenceTable::Blocks(mut bug) = table("dash") else { unreachable!() };
    // Home takes no data, though it believes so.
    for state in 0..u8::try_from(bug.home.states().len()).unwrap() {
        for &event in HomeEvent::ALL {
            for &sender in Sender::ALL {
                let cell = bug.home.cell_by(state, event, sender);
                let ControllerCell::Does(actions, _) = cell else { continue };
                if let Some(at) = actions.iter().position(|a| *a == HomeAction::TakeData) {
                    bug.home.set_cell_by(state, event, sender, without(cell, &[at], None));
                }
            }
        }
    }
    assert!(stale(&CoherenceTable::Blocks(bug), true) > 10);
}

/// `lrc-one-trip`, where home takes `modified` although write-backs are still to come.
#[test]
fn a_notice_before_the_words_is_found() {
    let CoherenceTable::Pages(right) = table("lrc-one-trip") else { unreachable!() };
    for (name, senders) in
        [("writer", &[PageSender::Only][..]), ("weak", &[PageSender::Only, PageSender::Sharer])]
    {
        let mut bug = right.clone();
        let state = state(right.home.states(), name);
        for &sender in senders {
            let early = PageHomeEvent::ModifiedEarly;
            assert_eq!(right.home.cell_by(state, early, sender), ControllerCell::Waits);
            let cell = right.home.cell_by(state, PageHomeEvent::Modified, sender);
            bug.home.set_cell_by(state, early, sender, cell);
        }
        let report = check(&CoherenceTable::Pages(bug), 2);
        let kinds: Vec<_> = report.findings.iter().map(|found| found.kind).collect();
        assert_eq!(kinds, [DirectoryFindingKind::StaleRead], "{name}");
    }
}

#[test]
fn lost_notices_flushes_and_write_backs_of_pages_are_found() {
    let CoherenceTable::Pages(right) = table("lrc") else { unreachable!() };
    for races in [false, true] {
        assert_eq!(stale(&CoherenceTable::Pages(right.clone()), races), 0);
        let mut bug = right.clone();
        let weak = state(right.home.states(), "weak");
        for sender in [PageSender::Sharer, PageSender::Other] {
            let event = PageHomeEvent::Modified;
            let cell = right.home.cell_by(weak, event, sender);
            bug.home.set_cell_by(weak, event, sender, without(cell, &[0], None));
        }
        assert!(stale(&CoherenceTable::Pages(bug), races) > 5, "no notices");

        let mut bug = right.clone();
        for (name, next) in
            [("read-only, noticed", "read-only"), ("read-write, noticed", "read-write")]
        {
            let next = state(right.mapping.states(), next);
            let noticed = state(right.mapping.states(), name);
            bug.mapping.set_cell(noticed, MappingEvent::Acquire, ControllerCell::Does(&[], next));
        }
        assert!(stale(&CoherenceTable::Pages(bug), races) > 5, "nothing is unmapped");

        let mut bug = right.clone();
        let released = state(right.release.states(), "released");
        let written = state(right.release.states(), "written");
        bug.release.set_cell(written, ReleaseEvent::Release, ControllerCell::Does(&[], released));
        assert!(stale(&CoherenceTable::Pages(bug), races) > 5, "nothing is written back");
    }
}
