//! With a clock the engine does what the slow simulator does, cycle for cycle, on random traces,
//! for every protocol, cache and choice.

use std::collections::BTreeSet;

use homenode_base::{AccessKind, Rng};
use homenode_clock::streams::StreamSplitter;
use homenode_machine::{AgingUnit, Arbitration, CacheShape, Dispatch, KernelModel};
use homenode_snoop::{BusResult, MissRule, ProtocolSpec, bus_clock};
use homenode_trace::{Batch, Event, EventKind, ProcessorAreas};

use crate::clocked::{Given, check_conservation, flags_of_page, given};
use crate::oracle::clock::{ClockOracle, Outcome, Times};
use crate::oracle::random::{named, random_machine, random_trace};
use crate::oracle::schedule::Schedule;
use crate::oracle::system::{Line, Op, System};
use crate::oracle::{Machine, Ref};

fn pick(rng: &mut Rng, of: &[u64]) -> u64 {
    of[usize::try_from(rng.below(of.len() as u64)).unwrap()]
}

fn number(rng: &mut Rng, below: usize) -> usize {
    usize::try_from(rng.below(below as u64)).unwrap()
}

const AGING_UNITS: [AgingUnit; 4] = [
    AgingUnit::Dispatches,
    AgingUnit::HomeDispatches,
    AgingUnit::SlicesWaited,
    AgingUnit::SlicesBehind,
];

fn random_times(rng: &mut Rng) -> Times {
    let operation = pick(rng, &[1, 2, 2, 3]);
    Times {
        operation,
        store_buffer: usize::try_from(pick(rng, &[0, 1, 2, 2, 5])).unwrap(),
        misses: usize::try_from(pick(rng, &[1, 2, 8, 8])).unwrap(),
        window: pick(rng, &[1, 4, 64, 64]),
        width: [None, Some(1), Some(3), Some(4)][number(rng, 4)],
        blocking: rng.below(4) == 0,
        split: rng.below(3) > 0,
        round_robin: rng.below(2) == 0,
        schedule: Schedule {
            random: rng.below(2) == 0,
            slice: pick(rng, &[1, 5, 20, 60, 200_000]),
            aging: u32::try_from(rng.below(5)).unwrap(),
            unit: AGING_UNITS[number(rng, AGING_UNITS.len())],
            operation,
            wait: pick(rng, &[0, 0, 1, 30, 400]),
            seed: rng.below(1000),
            restart: rng.below(3) == 0,
        },
    }
}

/// A kernel with small numbers, so that all events are frequent.
fn random_kernel(rng: &mut Rng) -> KernelModel {
    KernelModel {
        stack_bytes: pick(rng, &[64, 512, 4096]),
        structure_bytes: pick(rng, &[32, 512]),
        entry_bytes: pick(rng, &[16, 64, 200]),
        buffers: 1 + rng.below(6),
        buffer_bytes: pick(rng, &[16, 256]),
        call_words: rng.below(5),
        transfer_words: rng.below(12),
        switch_words: rng.below(4),
        tick_words: rng.below(4),
        tick_references: 1 + rng.below(60),
    }
}

/// Perhaps areas of processors, and perhaps a modelled kernel.
fn random_system(rng: &mut Rng) -> System {
    let count = 2 + rng.below(4);
    let (start, apart) = (0x4_0000, 0x400 << rng.below(3));
    let areas = ProcessorAreas {
        size: 0x100 + rng.below(0x300),
        starts: (0..count).map(|number| start + number * apart).collect(),
    };
    System {
        areas: (rng.below(3) > 0).then_some(areas),
        kernel: (rng.below(3) > 0).then(|| (random_kernel(rng), rng.below(1000))),
    }
}

fn engine(machine: &Machine, times: &Times, processes: usize) -> Given {
    let processors = u16::try_from(machine.processors).unwrap();
    let mut given = given(machine.protocol, processors, processes).cache(CacheShape {
        size_bytes: machine.size,
        block_size_bytes: machine.block,
        associativity: machine.ways as u64,
    });
    given.setup.instructions = machine.instructions.map(|(size_bytes, ways)| CacheShape {
        size_bytes,
        block_size_bytes: machine.block,
        associativity: ways as u64,
    });
    given.setup.private_kernel = machine.private_kernel;
    given.setup.rule = if machine.torrellas { MissRule::Torrellas } else { MissRule::Dubois };
    let processor = &mut given.timed.clock.processor;
    processor.operation_cycles = times.operation;
    processor.store_buffer_words = u32::try_from(times.store_buffer).unwrap();
    processor.misses_max = u32::try_from(times.misses).unwrap();
    processor.window_instructions = u32::try_from(times.window).unwrap();
    processor.issue_width = times.width.map(|width| u32::try_from(width).unwrap());
    processor.blocking = times.blocking;
    given.timed.bus.split_transactions = times.split;
    if times.round_robin {
        given.timed.bus.arbitration = Arbitration::RoundRobin;
    }
    let (scheduler, how) = (&mut given.timed.clock.scheduler, times.schedule);
    scheduler.policy = if how.random { Dispatch::Random } else { Dispatch::Affinity };
    (scheduler.time_slice_references, scheduler.aging) = (how.slice, how.aging);
    scheduler.aging_unit = how.unit;
    (scheduler.wait_cycles, given.timed.clock.seed) = (how.wait, how.seed);
    scheduler.restart = how.restart;
    given
}

/// A trace of this number of processes, some of which fetch instructions.
fn random_lines(rng: &mut Rng, processes: usize, length: usize) -> Vec<Line> {
    let references = random_trace(rng, length);
    let one = |r: Ref| {
        let process = usize::from(r.thread) % processes;
        let fetch = !r.write && process % 2 == 1 && rng.below(2) == 0;
        let atomic = r.write && rng.below(12) == 0;
        let gap = if rng.below(3) == 0 { rng.below(70) } else { 0 };
        let gap = u32::try_from(gap).unwrap();
        Line::Refers(process, Op { r, fetch, atomic, gap, area: None })
    };
    references.into_iter().map(one).collect()
}

/// The same, with system calls, locks and what processors of the traced system did.
fn with_more(rng: &mut Rng, lines: &[Line], system: &System, processes: usize) -> Vec<Line> {
    let mut all = Vec::new();
    let mut was: Vec<usize> = (0..processes).collect();
    let mut held = BTreeSet::new();
    // Where locks are taken often, few processes run in parallel.
    let seldom = pick(rng, &[25, 100, 10_000]);
    for &line in lines {
        let process = number(rng, processes);
        if rng.below(25) == 0 {
            let call = pick(rng, &[0, 1, 7, 18, 35, 39, 39, 45, 46, 102, 202]);
            all.push(Line::Calls(process, u32::try_from(call).unwrap()));
        }
        if rng.below(seldom) == 0 {
            let lock = 0x9000 + 64 * rng.below(3);
            let has = held.contains(&(process, lock));
            // Now and then one is taken twice, or given back by who never took it.
            if has != (rng.below(8) == 0) {
                held.remove(&(process, lock));
                all.push(Line::GivesBack(process, lock));
            } else {
                held.insert((process, lock));
                all.push(Line::Takes(process, lock));
            }
        }
        let Some(areas) = &system.areas else {
            all.push(line);
            continue;
        };
        if rng.below(20) == 0 {
            was[process] = number(rng, areas.starts.len() + 1);
            all.push(Line::Was(process, was[process]));
        }
        let Line::Refers(by, mut op) = line else { continue };
        if rng.below(4) == 0 {
            // Most are to its own processor's area, and some reach beyond one.
            let other = if rng.below(5) == 0 { number(rng, 4) } else { 0 };
            op.r.addr = areas.starts[(was[by] + other) % areas.starts.len()] + 4 * rng.below(70);
            op.r.addr += if rng.below(8) == 0 { areas.size - 0x100 } else { 0 };
            op.r.kernel |= rng.below(3) > 0;
        }
        all.push(Line::Refers(by, op));
    }
    all
}

fn batch(lines: &[Line]) -> Batch {
    let mut batch = Batch::default();
    for &line in lines {
        let (process, what) = match line {
            Line::Refers(process, op) => {
                let kind = match (op.r.write, op.atomic, op.fetch) {
                    (true, true, _) => AccessKind::Atomic,
                    (true, false, _) => AccessKind::Write,
                    (false, _, true) => AccessKind::Fetch,
                    (false, _, false) => AccessKind::Read,
                };
                batch.turns.push(u16::try_from(process).unwrap());
                batch.kind.push(kind.code());
                batch.size.push(op.r.size);
                batch.addr.push(op.r.addr);
                batch.gap.push(op.gap);
                batch.flags.push(flags_of_page(op.r.private, op.r.kernel, op.r.user_page));
                continue;
            }
            Line::Calls(process, number) => (process, EventKind::SyscallEnter { number }),
            Line::Takes(process, addr) => (process, EventKind::LockAcquire { addr }),
            Line::GivesBack(process, addr) => (process, EventKind::LockRelease { addr }),
            Line::Was(process, processor) => {
                (process, EventKind::Marker { text: format!("processor {processor}") })
            }
        };
        let thread = u16::try_from(process).unwrap();
        batch.events.push((u32::try_from(batch.len()).unwrap(), Event { thread, what }));
    }
    batch
}

/// The result of the engine for a trace in portions.
fn simulated(given: &Given, system: &System, lines: &[Line], portion: usize) -> BusResult {
    let table = ProtocolSpec::parse(given.protocol).unwrap().table();
    let mut clock = bus_clock(&given.setup, table, &given.timed).unwrap();
    let mut splitter =
        StreamSplitter::new(given.timed.clock.processes, given.setup.filter, &[], None);
    if let Some(areas) = &system.areas {
        clock.set_areas(areas);
        splitter = splitter.with_areas(areas);
    }
    if let Some((model, seed)) = &system.kernel {
        clock.set_kernel(model, given.setup.filter);
        splitter = splitter.with_kernel(model, *seed);
    }
    for lines in lines.chunks(portion) {
        clock.push(&splitter.split(&batch(lines))).unwrap();
    }
    clock.finish().unwrap()
}

/// Compares the two on one trace.
fn compare(
    machine: Machine,
    times: Times,
    system: &System,
    lines: &[Line],
    processes: usize,
    portion: usize,
) -> BusResult {
    let given = engine(&machine, &times, processes);
    let result = simulated(&given, system, lines, portion);
    check_conservation(&given, &result);
    let BusResult { counts, time, bus_busy, .. } = &result;
    let found = Outcome {
        counts: named(counts),
        cycles: time.cycles,
        bus_busy: bus_busy.unwrap(),
        processors: time.processors.iter().map(|p| (p.busy, p.delay)).collect(),
        switches: time.switches,
        migrations: time.migrations,
        forced: time.deadlocks_broken,
    };
    let does = system.processes(lines, processes);
    let expected = ClockOracle::new(machine, times, system.clone(), does).run();
    assert_eq!(found, expected, "{machine:?} {times:?} {system:?}");
    result
}

#[test]
fn the_clock_agrees_with_the_slow_one_in_every_count_and_cycle() {
    for entry in crate::oracle::protocols() {
        let mut rng = Rng::new(7);
        let mut waited = 0;
        for _ in 0..120 {
            let machine = random_machine(&mut rng, entry.name);
            let mut times = random_times(&mut rng);
            times.schedule.slice = 200_000;
            let lines = random_lines(&mut rng, machine.processors, 700);
            let portion = 1 + number(&mut rng, 300);
            let (system, processes) = (System::default(), machine.processors);
            let BusResult { time, .. } =
                compare(machine, times, &system, &lines, processes, portion);
            waited += time.processors.iter().map(|p| p.delay).sum::<u64>();
        }
        assert!(waited > 1_000_000, "{}: the bus is busy: {waited}", entry.name);
    }
}

/// Sets of caches of more than one word, and processors in more than one group of the clock's.
#[test]
fn machines_of_any_size_agree_with_the_slow_clock() {
    for (processors, rounds, length) in [(65, 4, 2_000), (100, 4, 2_000), (1024, 1, 1_500)] {
        let mut rng = Rng::new(9);
        for entry in (0..rounds).flat_map(|_| crate::oracle::protocols()) {
            let machine = Machine { processors, ..random_machine(&mut rng, entry.name) };
            let mut times = random_times(&mut rng);
            // A thousand processors that stay busy to the end saturate the bus: that takes minutes.
            times.schedule.restart &= processors < 1024;
            let processes = processors + number(&mut rng, 20);
            let mut lines = random_lines(&mut rng, processes, length);
            // A random trace has few threads: here every process makes references.
            for line in &mut lines {
                if let Line::Refers(process, op) = line {
                    *process = number(&mut rng, processes);
                    op.fetch &= *process % 2 == 1;
                }
            }
            let portion = 1 + number(&mut rng, 900);
            let system = System::default();
            let BusResult { counts, time, .. } =
                compare(machine, times, &system, &lines, processes, portion);
            assert!(times.schedule.restart || counts.references == length as u64);
            let makers = time.shares.iter().filter(|share| share.own > 0).count() as u64;
            let average = (length as u64).div_ceil(makers.max(1));
            assert!(time.shares.iter().all(|share| share.begun >= share.own.min(average)));
            assert!(time.processors.iter().filter(|p| p.busy > 0).count() > 64);
        }
    }
}

#[test]
fn scheduled_processes_agree_with_areas_and_with_a_kernel_made_up() {
    for entry in crate::oracle::protocols() {
        let mut rng = Rng::new(8);
        let (mut made_up, mut moved, mut forced) = (0, 0, 0);
        let (mut left, mut replaced) = (0, 0);
        for _ in 0..120 {
            let machine = random_machine(&mut rng, entry.name);
            let times = random_times(&mut rng);
            let system = random_system(&mut rng);
            let processes = 1 + number(&mut rng, 9);
            let lines = random_lines(&mut rng, processes, 500);
            let lines = with_more(&mut rng, &lines, &system, processes);
            let portion = 1 + number(&mut rng, 300);
            let BusResult { counts, time, .. } =
                compare(machine, times, &system, &lines, processes, portion);
            made_up += counts.references - 500;
            moved += time.migrations;
            forced += time.deadlocks_broken;
            let of_switches = counts.context_switch_misses.unwrap();
            left += of_switches.cold;
            replaced += of_switches.replacement;
        }
        let often = made_up > 20_000 && moved > 500 && forced > 20;
        assert!(often, "{}: {made_up} {moved} {forced}", entry.name);
        assert!(left > 500 && replaced > 2_000, "{}: {left} {replaced}", entry.name);
    }
}
