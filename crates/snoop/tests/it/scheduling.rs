//! Laws of schedules of random processes. Hand-worked schedules are cases
//! (`testdata/cases/bus-scheduling.toml`); a case cannot compare policies, seeds, or the portions
//! in which operations arrive.

use homenode_base::Rng;
use homenode_clock::streams::{OpKind, Operation};
use homenode_machine::Dispatch;
use homenode_snoop::BusResult;

use crate::clocked::{flags, given, item, read, run};

#[test]
fn what_is_private_for_all_is_written_without_the_bus() {
    // Processes with blocks of their own, in user mode and in the kernel, and shared blocks.
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
        let BusResult { counts, time, .. } = run(&given, &processes);
        assert!(time.migrations > 50, "{time:?}");
        counts.coherence.passive
    };
    assert_eq!(passive("pscr", true), 0);
    // The kernel's reads are shared otherwise; other protocols leave copies behind.
    assert!(passive("pscr", false) > 10);
    assert!(passive("mesi", true) > 10);
}

/// Processes that often leave and resume.
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
fn affinity_migrates_less_than_chance_without_starvation() {
    let processes = busy_processes(11);
    let mut affinity = given("mesi", 4, 11);
    affinity.timed.clock.scheduler.policy = Dispatch::Affinity;
    let mut random = affinity.clone();
    random.timed.clock.scheduler.policy = Dispatch::Random;
    let [of_affinity, of_chance] = [&affinity, &random].map(|g| run(g, &processes).time);
    assert!(
        3 * of_affinity.migrations < 2 * of_chance.migrations,
        "{} {}",
        of_affinity.migrations,
        of_chance.migrations
    );
    // Another seed is another run, the same seed is the same.
    random.timed.clock.seed = 2;
    assert_ne!(run(&random, &processes).time, of_chance);
    random.timed.clock.seed = 1;
    assert_eq!(run(&random, &processes).time, of_chance);
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
        let counts = run(&given, &processes).counts;
        let references = processes
            .iter()
            .flatten()
            .filter(|item| matches!(item.kind, OpKind::Read | OpKind::Write | OpKind::Atomic));
        assert_eq!(counts.references, references.count() as u64);
    }
}
