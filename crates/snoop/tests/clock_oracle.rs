//! With a clock the engine does what the slow simulator does, cycle for cycle, on random traces,
//! for every protocol, cache and choice.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod clocked;
mod oracle;

use clocked::{Given, check_conservation, flags, given};
use homenode_base::Rng;
use homenode_machine::{Arbitration, CacheShape};
use homenode_snoop::{Item, MissRule, Step, TABLE};
use oracle::Machine;
use oracle::clock::{ClockOracle, Op, Outcome, Times};
use oracle::random::{named, random_machine, random_trace};

fn random_times(rng: &mut Rng) -> Times {
    let pick = |rng: &mut Rng, of: &[u64]| of[usize::try_from(rng.below(of.len() as u64)).unwrap()];
    Times {
        operation: pick(rng, &[1, 2, 2, 3]),
        store_buffer: usize::try_from(pick(rng, &[0, 1, 2, 2, 5])).unwrap(),
        misses: usize::try_from(pick(rng, &[1, 2, 8, 8])).unwrap(),
        window: pick(rng, &[1, 4, 64, 64]),
        blocking: rng.below(4) == 0,
        split: rng.below(3) > 0,
        round_robin: rng.below(2) == 0,
    }
}

fn engine(machine: &Machine, times: &Times) -> Given {
    let processors = u16::try_from(machine.processors).unwrap();
    let mut given = given(machine.protocol, processors, machine.processors).cache(CacheShape {
        size_bytes: machine.size,
        block_size_bytes: machine.block,
        associativity: machine.ways as u64,
    });
    given.setup.instructions = machine.instructions.map(|(size_bytes, ways)| CacheShape {
        size_bytes,
        block_size_bytes: machine.block,
        associativity: ways as u64,
    });
    given.setup.reading.private_kernel = machine.private_kernel;
    given.setup.rule = if machine.torrellas { MissRule::Torrellas } else { MissRule::Dubois };
    let processor = &mut given.timed.processor;
    processor.operation_cycles = times.operation;
    processor.store_buffer_words = u32::try_from(times.store_buffer).unwrap();
    processor.misses_max = u32::try_from(times.misses).unwrap();
    processor.window_instructions = u32::try_from(times.window).unwrap();
    processor.blocking = times.blocking;
    given.timed.bus.split_transactions = times.split;
    if times.round_robin {
        given.timed.bus.arbitration = Arbitration::RoundRobin;
    }
    given
}

/// References of each processor; some fetch instructions.
fn random_ops(rng: &mut Rng, processors: usize, length: usize) -> Vec<Vec<Op>> {
    let mut all = vec![Vec::new(); processors];
    for r in random_trace(rng, length) {
        let process = usize::from(r.thread) % processors;
        let fetch = !r.write && process % 2 == 1 && rng.below(2) == 0;
        let atomic = r.write && rng.below(12) == 0;
        let gap = if process.is_multiple_of(2) && rng.below(3) == 0 { rng.below(70) } else { 0 };
        all[process].push(Op { r, fetch, atomic, gap: u32::try_from(gap).unwrap() });
    }
    all
}

fn items(ops: &[Op]) -> Vec<Item> {
    let one = |op: &Op| Item {
        addr: op.r.addr,
        count: op.gap,
        step: match (op.r.write, op.atomic, op.fetch) {
            (true, true, _) => Step::Atomic,
            (true, false, _) => Step::Write,
            (false, _, true) => Step::Fetch,
            (false, _, false) => Step::Read,
        },
        size: op.r.size,
        flags: flags(op.r.private, op.r.kernel),
        continues: false,
    };
    ops.iter().map(one).collect()
}

#[test]
fn the_clock_agrees_with_the_slow_one_in_every_count_and_cycle() {
    for entry in TABLE {
        let mut rng = Rng::new(7);
        let mut waited = 0;
        for round in 0..120 {
            let machine = random_machine(&mut rng, entry.name);
            let times = random_times(&mut rng);
            let ops = random_ops(&mut rng, machine.processors, 700);
            let given = engine(&machine, &times);
            let steps: Vec<Vec<Item>> = ops.iter().map(|ops| items(ops)).collect();
            let portion = usize::try_from(1 + rng.below(300)).unwrap();
            let (counts, timing) = given.run(&steps, portion);
            check_conservation(&given, &counts, &timing);
            waited += timing.processors.iter().map(|p| p.delay).sum::<u64>();
            let found = Outcome {
                counts: named(&counts),
                cycles: timing.cycles,
                bus_busy: timing.bus_busy,
                processors: timing.processors.iter().map(|p| (p.busy, p.delay)).collect(),
            };
            let expected = ClockOracle::new(machine, times, &ops).run();
            assert_eq!(found, expected, "round {round}: {machine:?} {times:?}");
        }
        assert!(waited > 1_000_000, "{}: the bus is busy: {waited}", entry.name);
    }
}
