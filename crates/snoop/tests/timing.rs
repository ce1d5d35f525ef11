//! Cycles worked out by hand, with blocks of 32 bytes: memory takes 68 cycles (8 to ask, 56 to
//! wait, 4 for the data), another cache 12, an invalidation or a word 5, a write-back 8.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod clocked;

use std::sync::Arc;

use clocked::{Given, check_conservation, given, item};
use homenode_base::Rng;
use homenode_clock::ProcessorTime;
use homenode_clock::streams::{OpKind, Operation, ThreadStreams};
use homenode_machine::CacheShape;
use homenode_snoop::{
    Action, BusClock, BusTime, ClockError, Counts, DataSupplier, ProcessorEvent, ProtocolSpec,
    TABLE, Table, TableCell, TraceOrderSimulation,
};
use homenode_trace::Batch;

fn read(addr: u64) -> Operation {
    item(OpKind::Read, addr)
}

fn write(addr: u64) -> Operation {
    item(OpKind::Write, addr)
}

/// Simulates, in portions of several lengths, which must not matter.
fn run(given: &Given, processes: &[Vec<Operation>]) -> (Counts, BusTime) {
    let result = given.run(processes, 1);
    for portion in [2, 3, 1000] {
        assert_eq!(given.run(processes, portion), result, "portions of {portion}");
    }
    check_conservation(given, &result.0, &result.1);
    result
}

fn time(busy: u64, delay: u64, idle: u64) -> ProcessorTime {
    ProcessorTime { busy, delay, idle }
}

#[test]
fn a_processor_that_waits_for_every_miss() {
    // Two misses of 68 cycles, three operations of 2.
    let given = given("mesi", 1, 1).blocking();
    let (counts, timing) = run(&given, &[vec![read(0), read(4), read(64)]]);
    assert_eq!((counts.misses.cold, counts.hits), (2, 1));
    assert_eq!(timing.clock.cycles, 2 * 68 + 3 * 2);
    assert_eq!(timing.clock.processors, [time(6, 136, 0)]);
    assert_eq!(timing.bus_busy, 2 * 12, "split: 8 to ask and 4 for the data");
    assert!((timing.clock.gsp() - 6.0 / 142.0).abs() < 1e-12);
    let (_, timing) = run(&given.unsplit(), &[vec![read(0), read(4), read(64)]]);
    assert_eq!((timing.clock.cycles, timing.bus_busy), (142, 136));
}

#[test]
fn misses_overlap_where_the_bus_is_split() {
    // The second load begins at 2, asks at 8 when the bus is free; memory answers at 64 and 72.
    let loads = [vec![read(0), read(64)]];
    let (_, timing) = run(&given("mesi", 1, 1), &loads);
    assert_eq!((timing.clock.cycles, timing.bus_busy), (8 + 64 + 4, 24));
    assert_eq!(timing.clock.processors, [time(4, 72, 0)]);
    // On a bus that is held all the time they come one after the other.
    let (_, timing) = run(&given("mesi", 1, 1).unsplit(), &loads);
    assert_eq!((timing.clock.cycles, timing.bus_busy), (136, 136));
    assert_eq!(timing.clock.processors, [time(4, 132, 0)]);
}

#[test]
fn no_more_misses_are_under_way_than_there_are_slots() {
    let loads = [(0..3).map(|i| read(64 * i)).collect::<Vec<_>>()];
    let mut two = given("mesi", 1, 1);
    two.timed.clock.processor.misses_max = 2;
    // The third load waits for the first, whose data are there at 68: 68 + 68.
    let (_, timing) = run(&two, &loads);
    assert_eq!(timing.clock.cycles, 136);
    assert_eq!(timing.clock.processors, [time(6, 130, 0)]);
    let (_, timing) = run(&given("mesi", 1, 1), &loads);
    assert_eq!(timing.clock.cycles, 16 + 64 + 4);
}

#[test]
fn no_instruction_begins_beyond_the_window() {
    // A miss and hits: instruction 65 is too far from instruction 1, which is done at 68.
    let mut steps = vec![read(0)];
    steps.extend((0..70).map(|_| read(4)));
    let mut one = given("mesi", 1, 1);
    one.timed.clock.processor.window_instructions = 4;
    // Loads 1 to 4 begin at 0, 2, 4 and 6, those after at 68, 70, ...: 67 of them.
    let (counts, timing) = run(&one, std::slice::from_ref(&steps));
    assert_eq!((counts.hits, timing.clock.cycles), (70, 68 + 67 * 2));
    assert_eq!(timing.clock.processors, [time(142, 60, 0)]);
    // With 64 instructions the processor is at 128 before the window is full.
    let (_, timing) = run(&given("mesi", 1, 1), std::slice::from_ref(&steps));
    assert_eq!(timing.clock.cycles, 142);
    // Where a process fetches its instructions, only these count.
    let fetches = |item: &Operation| Operation { kind: OpKind::Fetch, ..*item };
    let mixed: Vec<Operation> =
        steps.iter().flat_map(|i| [fetches(i), *i, *i, *i]).take(16).collect();
    let (_, timing) = run(&one, &[mixed]);
    assert_eq!(timing.clock.cycles, 68, "four instructions of four references");
}

#[test]
fn instructions_without_a_reference_are_in_the_window_and_take_no_time() {
    // A miss and ten hits, each with nine other instructions before it: they are instructions 11,
    // 21, ... Those up to 61 begin while the miss is under way, at 2, 4, ... 12; instruction 65
    // would be too far. 71, 81, 91 and 101 begin at 68, 70, 72 and 74, when it is done.
    let hit = |count| Operation { count, ..read(4) };
    let steps: Vec<Operation> = [read(0)].into_iter().chain((0..10).map(|_| hit(9))).collect();
    let (counts, timing) = run(&given("mesi", 1, 1), std::slice::from_ref(&steps));
    assert_eq!((counts.references, counts.hits, timing.clock.cycles), (11, 10, 76));
    assert_eq!(timing.clock.processors, [time(22, 54, 0)]);
    // Were there no others, all would be over before the miss is.
    let bare: Vec<Operation> = steps.iter().map(|item| Operation { count: 0, ..*item }).collect();
    assert_eq!(run(&given("mesi", 1, 1), &[bare]).1.clock.cycles, 68);
    // The last that fits into a window of 64 is instruction 64.
    for (count, cycles) in [(62, 68), (63, 70)] {
        let (_, timing) = run(&given("mesi", 1, 1), &[vec![read(0), hit(count)]]);
        assert_eq!(timing.clock.cycles, cycles, "{count} instructions between them");
    }
    // Those before the miss are not behind it, and one that straddles blocks has them once: the
    // miss is instruction 101, its second half too, the next one 164.
    let straddles = Operation { count: 100, size: 8, ..read(28) };
    let (_, timing) = run(&given("mesi", 1, 1), &[vec![straddles, hit(62)]]);
    assert_eq!((timing.clock.cycles, timing.clock.processors[0].busy), (8 + 64 + 4, 6));
}

#[test]
fn stores_wait_in_the_buffer_and_in_their_order() {
    // Three stores that miss and a load that hits. The first asks at 0 and is done at 68, the
    // second asks then; the third begins when the first leaves the buffer.
    let steps = vec![write(0), write(64), write(128), read(4)];
    let (counts, timing) = run(&given("mesi", 1, 1), std::slice::from_ref(&steps));
    assert_eq!((counts.transactions.read_invalidate_memory, counts.hits), (3, 1));
    assert_eq!(timing.clock.cycles, 3 * 68);
    assert_eq!(timing.clock.processors, [time(8, 3 * 68 - 8, 0)]);
    // A larger buffer takes them all: the load is done at 8, and nothing else is to do.
    let mut large = given("mesi", 1, 1);
    large.timed.clock.processor.store_buffer_words = 3;
    assert_eq!(run(&large, std::slice::from_ref(&steps)).1.clock.cycles, 3 * 68);
    // Without a buffer every store is waited for.
    let mut none = given("mesi", 1, 1);
    none.timed.clock.processor.store_buffer_words = 0;
    let (_, timing) = run(&none, &[steps]);
    assert_eq!(timing.clock.cycles, 3 * 68 + 4 * 2);
}

#[test]
fn loads_pass_stores_but_not_those_to_their_block() {
    // The load of another block asks at 2 and has the bus at 8, while memory looks for the store's.
    let (_, timing) = run(&given("mesi", 1, 1), &[vec![write(0), read(64)]]);
    assert_eq!(timing.clock.cycles, 8 + 64 + 4);
    // One of the store's block comes with it, without a transaction of its own.
    let (counts, timing) = run(&given("mesi", 1, 1), &[vec![write(0), read(4)]]);
    assert_eq!((counts.misses.total(), timing.clock.cycles, timing.bus_busy), (1, 68, 12));
    // An atomic operation waits for all that was before, and is waited for.
    let steps = vec![write(0), item(OpKind::Atomic, 64), read(64)];
    let (_, timing) = run(&given("mesi", 1, 1), &[steps]);
    assert_eq!(timing.clock.cycles, 68 + 68 + 2 + 2);
}

#[test]
fn two_processors_contend() {
    // Both miss at 0 in different blocks. Processor 0 asks from 0 to 8, processor 1 from 8 to 16;
    // the answers are at 64 to 68 and 72 to 76.
    let both = [vec![read(0)], vec![read(64)]];
    let (_, timing) = run(&given("mesi", 2, 2).blocking(), &both);
    assert_eq!(timing.clock.cycles, 78);
    assert_eq!(timing.clock.processors, [time(2, 68, 8), time(2, 76, 0)]);
    // Held all the time, the bus is free for processor 1 at 68.
    let (_, timing) = run(&given("mesi", 2, 2).blocking().unsplit(), &both);
    assert_eq!(timing.clock.processors, [time(2, 68, 68), time(2, 136, 0)]);
    // In the same block: the second has to wait until memory has sent it, then the first supplies.
    let (counts, timing) = run(&given("mesi", 2, 2).blocking(), &[vec![read(0)], vec![read(0)]]);
    assert_eq!(counts.transactions.read_block_cache, 1);
    assert_eq!(timing.clock.processors, [time(2, 68, 12), time(2, 80, 0)]);
}

#[test]
fn a_write_that_waited_for_the_bus_looks_again() {
    // Processors 0 and 1 share a block from 68 and 80 on and want to write it at 268 and 280, when
    // processor 2 has the bus, from 248 to 316. Then processor 0 invalidates; processor 1 had asked
    // to do so too, but has no copy any more: it fetches the block, from 321 to 333.
    let share = |addr| vec![read(0), read(4), write(addr)];
    let mut given = given("mesi", 3, 3).blocking().unsplit();
    given.timed.clock.processor.operation_cycles = 100;
    let other = vec![read(0x1000), read(0x2000)];
    let (counts, timing) = run(&given, &[share(0), share(4), other]);
    let made = counts.transactions;
    assert_eq!((made.invalidate, made.read_invalidate_cache), (1, 1), "{made:?}");
    assert_eq!(counts.misses.invalidation_true + counts.misses.invalidation_false, 1);
    let delays: Vec<u64> = timing.clock.processors.iter().map(|p| p.delay).collect();
    assert_eq!(delays, [68 + 53, 80 + 53, 148 + 68]);
}

#[test]
fn whose_turn_it_is() {
    // Processor 0 asks for four blocks at 0, 2, 4 and 6, processor 1 for two at 0 and 6; the
    // unsplit bus takes 68 cycles for each.
    let processes = [
        (0..4).map(|i| read(64 * i)).collect(),
        vec![read(0x1000), read(0x1000), read(0x1000), read(0x1040)],
    ];
    let ends = |given: &Given| {
        let (_, timing) = run(given, &processes);
        timing.clock.processors.iter().map(|p| p.busy + p.delay).collect::<Vec<_>>()
    };
    // First come, first served: 0 1 0 0 0 1.
    assert_eq!(ends(&given("mesi", 2, 2).unsplit()), [5 * 68, 6 * 68]);
    // In turn: 0 1 0 1 0 0.
    assert_eq!(ends(&given("mesi", 2, 2).unsplit().round_robin()), [6 * 68, 4 * 68]);
}

#[test]
fn a_dirty_victim_goes_while_memory_looks() {
    // A cache of one block: the third reference drives the second one's block out. Asking and the
    // write-back hold the bus from 68 + 2 on for 16 cycles; the answer comes at 64 all the same.
    let one = CacheShape { size_bytes: 32, block_size_bytes: 32, associativity: 1 };
    let given = given("mesi", 1, 1).cache(one).blocking();
    let (counts, timing) = run(&given, &[vec![write(0), read(64)]]);
    assert_eq!((counts.transactions.update_block, timing.bus_busy), (1, 12 + 12 + 8));
    assert_eq!(timing.clock.cycles, 2 * 68 + 2 * 2);
    // On a bus that is held, it goes after the block has come: the processor need not wait for it.
    let given = given.unsplit();
    let (_, timing) = run(&given, &[vec![write(0), read(64)]]);
    assert_eq!(timing.clock.processors, [time(4, 136, 6)]);
    assert_eq!(timing.clock.cycles, 68 + 2 + 68 + 8);
}

#[test]
fn pscr_writes_words_beside_the_processor() {
    // Both have the block from 80 on. Processor 0 stores words at 82 and 84; at 86 the buffer is
    // full until 87, at 89 until 92. They have the bus from 82, 87, 92 and 97 on: done at 102.
    let mut steps = vec![read(0); 41];
    steps.extend([write(0); 4]);
    let (counts, timing) = run(&given("pscr", 2, 2), &[steps, vec![read(0)]]);
    assert_eq!((counts.transactions.write, counts.misses.total()), (4, 2));
    assert_eq!((timing.clock.cycles, timing.clock.processors[0]), (102, time(90, 1 + 3 + 8, 0)));
}

/// Random references of one process, and the same as a batch.
fn stream(rng: &mut Rng, length: usize) -> (Vec<Operation>, Batch) {
    let (mut items, mut batch) = (Vec::new(), Batch::default());
    for _ in 0..length {
        let write = rng.below(3) == 0;
        let addr = 4 * rng.below(700);
        let size = [1, 4, 4, 8, 32][usize::try_from(rng.below(5)).unwrap()];
        let step = if write { OpKind::Write } else { OpKind::Read };
        items.push(Operation { size, ..item(step, addr) });
        batch.thread.push(0);
        batch.kind.push(u8::from(write));
        batch.size.push(size);
        batch.addr.push(addr);
    }
    (items, batch)
}

#[test]
fn one_processor_that_waits_counts_what_the_order_of_the_trace_counts() {
    let mut rng = Rng::new(5);
    for entry in TABLE {
        let given = given(entry.name, 1, 1).blocking();
        let (items, batch) = stream(&mut rng, 5_000);
        let (counts, timing) = run(&given, &[items]);
        let table = ProtocolSpec::parse(entry.name).unwrap().table();
        let mut counter = TraceOrderSimulation::new(&given.setup, table).unwrap();
        counter.push(&batch).unwrap();
        assert_eq!(counts, counter.finish(), "{}", entry.name);
        // A closed form: operations, and 68 cycles a miss. Blocks that give way cost nothing, for
        // they go while memory looks.
        let expected = 2 * counts.block_references + 68 * counts.misses.total();
        assert_eq!(timing.clock.cycles, expected, "{}", entry.name);
    }
}

#[test]
fn checking_finds_nothing_and_changes_nothing() {
    let mut rng = Rng::new(9);
    for entry in TABLE {
        for _ in 0..5 {
            let processes: Vec<Vec<Operation>> = (0..5).map(|_| stream(&mut rng, 800).0).collect();
            let mut given = given(entry.name, 4, 5);
            let plain = given.run(&processes, 100);
            given.setup.check = true;
            assert_eq!(given.run(&processes, 77), plain, "{}", entry.name);
        }
    }
}

/// MESI, but a write to a shared copy tells nobody.
fn silent_mesi() -> Table {
    let mut table = ProtocolSpec::parse("mesi").unwrap().table();
    let [shared, modified] = ["S", "M"].map(|name| table.state(name).unwrap());
    let quiet =
        Action { transaction: None, source: DataSupplier::Own, next: modified, again: false };
    for condition in (0..).take(table.conditions().len()) {
        if matches!(table.cell(shared, ProcessorEvent::Write, condition), TableCell::Does(_)) {
            table.set_cell((shared, ProcessorEvent::Write, condition), TableCell::Does(quiet));
        }
    }
    table
}

#[test]
fn a_stale_read_is_found_with_its_cycle_processor_and_address() {
    // Processor 0 writes a word of the block that both have, at 82, and tells nobody.
    let processes = [
        [vec![read(0); 41], vec![write(4)]].concat(),
        vec![read(0), read(0x1000), item(OpKind::Atomic, 0x2000), read(4)],
    ];
    let mut given = given("mesi", 2, 2);
    given.setup.check = true;
    let mut clock = BusClock::new(&given.setup, silent_mesi(), &given.timed).unwrap();
    let steps = processes.map(Arc::from).into_iter().enumerate().collect();
    let pushed = clock.push(&ThreadStreams { operations: steps, closed: Vec::new() });
    let error = pushed.and_then(|()| clock.finish().map(|_| ())).unwrap_err();
    // Processor 1 has its blocks at 80 and 84; the atomic reference asks then, and has its own
    // at 152.
    assert_eq!(error, ClockError::Stale { cycle: 154, processor: 1, address: 4 });
    assert!(
        error.to_string().contains("cycle 154: processor 1 reads a stale value at address 0x4")
    );
}
