//! Who runs where and when, worked out by hand: blocks of 32 bytes, operations of 2 cycles, misses
//! of 68. A process that becomes ready comes to a processor in the next cycle.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod clocked;

use clocked::{Given, check_conservation, flags, given, item};
use homenode_base::{ReferenceFilter, Rng};
use homenode_clock::ProcessorTime;
use homenode_clock::streams::{OpKind, Operation, StreamSplitter};
use homenode_machine::Dispatch;
use homenode_snoop::{BusTime, Counts};
use homenode_trace::{Batch, Event, EventKind};

fn read(addr: u64) -> Operation {
    item(OpKind::Read, addr)
}

/// So many reads of one word.
fn reads(addr: u64, count: usize) -> Vec<Operation> {
    vec![read(addr); count]
}

fn depart(episode: u64, count: u32) -> Operation {
    Operation { count, ..item(OpKind::Depart, episode) }
}

fn joined(parts: &[&[Operation]]) -> Vec<Operation> {
    parts.concat()
}

/// Simulates, in portions of several lengths, which must not matter.
fn run(given: &Given, processes: &[Vec<Operation>]) -> (Counts, BusTime) {
    let result = given.run(processes, 1);
    for portion in [2, 5, 1000] {
        assert_eq!(given.run(processes, portion), result, "portions of {portion}");
    }
    check_conservation(given, &result.0, &result.1);
    result
}

fn ends(timing: &BusTime) -> Vec<u64> {
    timing.clock.processors.iter().map(|p| p.busy + p.delay).collect()
}

#[test]
fn more_processes_than_processors_take_turns() {
    // Slices of 3 references: the second process begins a cycle after the first one has left.
    let mut given = given("mesi", 1, 2).blocking();
    given.timed.clock.scheduler.time_slice_references = 3;
    let (counts, timing) = run(&given, &[reads(0, 4), reads(64, 3)]);
    // 68 + 6, switch, 68 + 6, switch, 2.
    assert_eq!(timing.clock.cycles, 74 + 1 + 74 + 1 + 2);
    assert_eq!(timing.clock.processors, [ProcessorTime { busy: 14, delay: 136, idle: 2 }]);
    assert_eq!((timing.clock.switches, timing.clock.migrations, counts.misses.total()), (3, 0, 2));
    // Alone, a process goes on after its slice.
    let (_, timing) = run(&given, &[reads(0, 7), Vec::new()]);
    assert_eq!((timing.clock.switches, timing.clock.processors[0].busy), (3, 14));
}

#[test]
fn a_slice_ends_between_references_not_within_one() {
    // The reference of 8 bytes at 28 is in two blocks.
    let mut given = given("mesi", 1, 2).blocking();
    given.timed.clock.scheduler.time_slice_references = 1;
    let straddles = Operation { size: 8, ..read(28) };
    let (counts, timing) = run(&given, &[vec![straddles, straddles], vec![read(64), read(68)]]);
    assert_eq!((counts.references, counts.block_references), (4, 6));
    assert_eq!((timing.clock.switches, timing.clock.cycles), (4, 2 * 70 + 1 + 70 + 1 + 4 + 1 + 2));
    // So it is with one that goes on in another page.
    let first = Operation { size: 4, ..read(28) };
    let rest = Operation { continues: true, ..read(96) };
    let (counts, timing) = run(&given, &[vec![first, rest], vec![read(64)]]);
    assert_eq!((counts.references, counts.block_references, timing.clock.switches), (2, 3, 2));
}

#[test]
fn a_lock_lets_one_in_and_gives_processors_to_others() {
    let lock = 0x9000;
    let critical = |addr| {
        joined(&[&[item(OpKind::Acquire, lock)], &reads(addr, 1), &[item(OpKind::Release, lock)]])
    };
    // Process 1 waits from 0 until process 0 gives the lock back at 70, and goes on at 71.
    let (_, timing) = run(&given("mesi", 2, 2).blocking(), &[critical(0), critical(64)]);
    assert_eq!(ends(&timing), [70, 70]);
    assert_eq!((timing.clock.cycles, timing.clock.processors[1].idle), (71 + 70, 71));
    // On one processor process 2, which wants no lock, runs while others wait.
    let holder = joined(&[&critical(0), &reads(0, 5)]);
    let (_, timing) = run(&given("mesi", 1, 3).blocking(), &[holder, critical(64), reads(128, 1)]);
    assert_eq!((timing.clock.switches, timing.clock.deadlocks_broken), (3, 0));
    // A process may take a lock again that it has, and give back what it never took.
    let twice = vec![item(OpKind::Acquire, lock), item(OpKind::Acquire, lock), read(0)];
    let back = vec![item(OpKind::Release, lock), item(OpKind::Release, lock)];
    let (_, timing) = run(&given("mesi", 2, 2), &[joined(&[&twice, &back]), critical(64)]);
    assert_eq!(timing.clock.deadlocks_broken, 0);
    let (_, timing) = run(&given("mesi", 2, 2), &[back, critical(64)]);
    assert_eq!(timing.clock.deadlocks_broken, 0);
}

#[test]
fn who_waits_in_a_ring_is_let_go() {
    let [a, b] = [0x9000, 0x9040];
    let nested = |first, second, addr| {
        let taken = [item(OpKind::Acquire, first), read(addr), item(OpKind::Acquire, second)];
        joined(&[&taken, &[item(OpKind::Release, second), item(OpKind::Release, first)]])
    };
    let given = given("mesi", 2, 2).blocking().unsplit();
    let (counts, timing) = run(&given, &[nested(a, b, 0), nested(b, a, 64)]);
    assert_eq!((timing.clock.deadlocks_broken, counts.references), (1, 2));
    // At 136 + 2 both wait. Process 0 goes on at 139 and gives its lock to the other, which ends
    // at 140.
    assert_eq!(timing.clock.cycles, 140);
}

#[test]
fn a_barrier_holds_until_all_are_there() {
    let process = |addr, count| {
        let wait = [item(OpKind::Arrive, 7), depart(7, 3)];
        joined(&[&reads(addr, count), &wait, &reads(addr, 1)])
    };
    // The last one arrives at 68 + 20; the others go on a cycle later.
    let processes = [process(0, 1), process(0x1000, 10), process(0x2000, 1)];
    let (_, timing) = run(&given("mesi", 3, 3).blocking().unsplit(), &processes);
    let arrivals = [68 + 2, 2 * 68 + 20, 3 * 68 + 2];
    assert_eq!(ends(&timing), arrivals.map(|at| at + 2));
    assert_eq!(timing.clock.cycles, arrivals[2] + 1 + 2);
}

#[test]
fn who_waits_for_a_semaphore_goes_on_after_the_post() {
    let post = EventKind::ConditionWake { addr: 0x9000 };
    let wait = EventKind::ConditionWait { addr: 0x9000 };
    let batch = Batch {
        thread: vec![0, 0, 1],
        kind: vec![0; 3],
        size: vec![4; 3],
        addr: vec![0, 0, 64],
        events: vec![(2, Event { thread: 0, what: post }), (2, Event { thread: 1, what: wait })],
        ..Batch::default()
    };
    let mut splitter = StreamSplitter::new(2, ReferenceFilter::ALL, &[], None);
    let mut processes = vec![Vec::new(); 2];
    for (process, steps) in splitter.split(&batch).operations {
        processes[process].extend_from_slice(&steps);
    }
    // The post comes at 68 + 2 + 2; the other process goes on a cycle later.
    let (_, timing) = run(&given("mesi", 2, 2).blocking(), &processes);
    assert_eq!((ends(&timing), timing.clock.processors[1].idle), (vec![72, 70], 73));
    assert_eq!((timing.clock.cycles, timing.clock.deadlocks_broken), (73 + 70, 0));
}

#[test]
fn processes_are_born_and_awaited() {
    let parent =
        joined(&[&reads(0, 1), &[item(OpKind::Create, 1), item(OpKind::Join, 1)], &reads(0, 1)]);
    let child = joined(&[&[item(OpKind::Begin, 0)], &reads(64, 1)]);
    let (_, timing) = run(&given("mesi", 2, 2).blocking(), &[parent, child]);
    // The child begins at 71 and ends at 141; the parent goes on at 142.
    assert_eq!((timing.clock.cycles, timing.clock.deadlocks_broken), (144, 0));
}

#[test]
fn a_system_call_that_waits_gives_the_processor_up() {
    let calls = joined(&[&reads(0, 1), &[item(OpKind::Yield, 0)], &reads(0, 1)]);
    let (_, timing) = run(&given("mesi", 1, 2).blocking(), &[calls.clone(), reads(64, 1)]);
    assert_eq!(timing.clock.cycles, 70 + 1 + 70 + 1 + 2);
    // One that takes 500 cycles keeps its process away that long.
    let mut given = given("mesi", 1, 2).blocking();
    given.timed.clock.scheduler.wait_cycles = 500;
    let (_, timing) = run(&given, &[calls, reads(64, 1)]);
    assert_eq!(timing.clock.cycles, 70 + 500 + 1 + 2);
}

#[test]
fn whose_wait_ends_holds_nobody_up() {
    // Process 1 is over at 71 + 70, and process 2 begins at 142, as if the wait of process 0, from
    // 70 on, did not end then. That one begins when process 2 is over.
    let calls = joined(&[&reads(0, 1), &[item(OpKind::Yield, 0)], &reads(0, 1)]);
    let processes = [calls, reads(64, 1), reads(128, 1)];
    for (wait, cycles) in [(71, 215), (72, 215), (73, 215), (300, 373)] {
        let mut given = given("mesi", 1, 3).blocking();
        given.timed.clock.scheduler.wait_cycles = wait;
        assert_eq!(run(&given, &processes).1.clock.cycles, cycles, "a wait of {wait}");
    }
}

#[test]
fn what_is_private_for_all_is_written_without_the_bus() {
    // Processes with blocks of their own, in user mode and in the kernel, and blocks of all.
    let passive = |protocol: &'static str, private_kernel| {
        let mut rng = Rng::new(4);
        let mut given = given(protocol, 4, 9);
        given.timed.clock.scheduler.policy = Dispatch::Random;
        given.timed.clock.scheduler.time_slice_references = 20;
        given.setup.private_kernel = private_kernel;
        let mut process = |number: u64| {
            let mut step = |_| {
                let private = rng.below(3) > 0;
                let step = [OpKind::Read, OpKind::Write][usize::from(rng.below(3) == 0)];
                let addr = if private { 0x1_0000 * (1 + number) } else { 0 } + 4 * rng.below(100);
                Operation { flags: flags(private, rng.below(2) == 0), ..item(step, addr) }
            };
            (0..400).map(&mut step).collect::<Vec<Operation>>()
        };
        let processes: Vec<Vec<Operation>> = (0..9).map(&mut process).collect();
        let (counts, timing) = run(&given, &processes);
        assert!(timing.clock.migrations > 50, "{timing:?}");
        counts.coherence.passive
    };
    assert_eq!(passive("pscr", true), 0);
    // What the kernel reads is shared otherwise; other protocols leave copies behind.
    assert!(passive("pscr", false) > 10);
    assert!(passive("mesi", true) > 10);
}

/// Processes that come and go often.
fn busy_processes(count: u64) -> Vec<Vec<Operation>> {
    let process = |p: u64| {
        let part = |i: u64| {
            let mut steps: Vec<Operation> =
                (0..40).map(|k| read(0x1_0000 * p + 4 * (k * i % 64))).collect();
            steps.push(item(OpKind::Yield, 0));
            steps
        };
        (1..30).flat_map(part).collect()
    };
    (0..count).map(process).collect()
}

#[test]
fn affinity_migrates_less_than_chance_and_nobody_starves() {
    let processes = busy_processes(11);
    let mut affinity = given("mesi", 4, 11);
    affinity.timed.clock.scheduler.policy = Dispatch::Affinity;
    let mut random = affinity.clone();
    random.timed.clock.scheduler.policy = Dispatch::Random;
    let [(_, of_affinity), (_, of_chance)] = [&affinity, &random].map(|g| run(g, &processes));
    assert!(
        3 * of_affinity.clock.migrations < 2 * of_chance.clock.migrations,
        "{} {}",
        of_affinity.clock.migrations,
        of_chance.clock.migrations
    );
    // Another seed is another run, the same seed is the same.
    random.timed.clock.seed = 2;
    assert_ne!(run(&random, &processes).1, of_chance);
    random.timed.clock.seed = 1;
    assert_eq!(run(&random, &processes).1, of_chance);
}

#[test]
fn random_steps_end_and_add_up() {
    let mut rng = Rng::new(3);
    for _ in 0..60 {
        let (processors, count) = (1 + rng.below(6), 1 + rng.below(9));
        let mut given =
            given("pscr", u16::try_from(processors).unwrap(), usize::try_from(count).unwrap());
        given.timed.clock.scheduler.time_slice_references = 1 + rng.below(50);
        if rng.below(2) == 0 {
            given.timed.clock.scheduler.policy = Dispatch::Random;
        }
        given.timed.clock.scheduler.wait_cycles =
            [0, 1, 300][usize::try_from(rng.below(3)).unwrap()];
        let mut process = |_| {
            let mut step = |_| match rng.below(30) {
                0 => item(OpKind::Acquire, 0x9000 + 64 * rng.below(3)),
                1 => item(OpKind::Release, 0x9000 + 64 * rng.below(3)),
                2 => item(OpKind::Yield, 0),
                3 => item(OpKind::Join, rng.below(count)),
                4 => item(OpKind::Atomic, 4 * rng.below(300)),
                5..12 => item(OpKind::Write, 4 * rng.below(300)),
                _ => read(4 * rng.below(300)),
            };
            (0..200).map(&mut step).collect::<Vec<Operation>>()
        };
        let processes: Vec<Vec<Operation>> = (0..count).map(&mut process).collect();
        let (counts, _) = run(&given, &processes);
        let references = processes
            .iter()
            .flatten()
            .filter(|item| matches!(item.kind, OpKind::Read | OpKind::Write | OpKind::Atomic));
        assert_eq!(counts.references, references.count() as u64);
    }
}
