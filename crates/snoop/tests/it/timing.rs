//! The clock on random references against a closed form and against itself, and a planted bug.
//! Cycles worked out by hand are cases (`testdata/cases/bus-clock.toml`); a case cannot say that
//! portions in which operations arrive do not matter, nor run a table that is wrong.

use homenode_base::Rng;
use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_snoop::{
    Action, BusCounts, BusResult, ClockError, ContextSwitchMisses, DataSupplier, ProcessorEvent,
    ProtocolSpec, ProtocolTable, TABLE, TableCell, TraceOrderSimulation, bus_clock,
};
use homenode_trace::Batch;

use crate::clocked::{given, item, read, run};

/// Random references of one process, and the same as a batch.
fn stream(rng: &mut Rng, length: usize) -> (Vec<Operation>, Batch) {
    let (mut items, mut batch) = (Vec::new(), Batch::default());
    for _ in 0..length {
        let write = rng.below(3) == 0;
        let addr = 4 * rng.below(700);
        let size = [1, 4, 4, 8, 32][usize::try_from(rng.below(5)).unwrap()];
        let step = if write { OpKind::Write } else { OpKind::Read };
        items.push(Operation { size, ..item(step, addr) });
        batch.turns.push(0);
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
        let BusResult { counts, time, .. } = run(&given, &[items]);
        let table = ProtocolSpec::parse(entry.name).unwrap().table();
        let mut counter = TraceOrderSimulation::new(&given.setup, table).unwrap();
        counter.push(&batch).unwrap();
        // Nothing is scheduled in the order of the trace; a process that is alone loses no block.
        assert_eq!(counts.context_switch_misses, Some(ContextSwitchMisses::default()));
        let untimed = BusCounts { context_switch_misses: None, ..counts };
        assert_eq!(untimed, counter.finish(), "{}", entry.name);
        // A closed form: operations, and 68 cycles a miss. Evicted blocks cost nothing, for
        // they go while memory looks.
        let expected = 2 * counts.block_references + 68 * counts.misses.total();
        assert_eq!(time.cycles, expected, "{}", entry.name);
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

/// MESI, but a write to a shared copy announces nothing.
fn silent_mesi() -> ProtocolTable {
    let mut table = ProtocolSpec::parse("mesi").unwrap().table();
    let [shared, modified] = ["S", "M"].map(|name| table.state(name).unwrap());
    let quiet =
        Action { transaction: None, source: DataSupplier::Own, next: modified, again: false };
    for condition in (0..).take(table.conditions().len()) {
        if matches!(table.cell(shared, ProcessorEvent::Write, condition), TableCell::Does(_)) {
            table.set_cell(shared, ProcessorEvent::Write, condition, TableCell::Does(quiet));
        }
    }
    table
}

#[test]
fn a_stale_read_is_found_with_its_cycle_processor_and_address() {
    // Processor 0 writes a word of the block that both have, at 82, and announces nothing.
    let processes = [
        [vec![read(0); 41], vec![item(OpKind::Write, 4)]].concat(),
        vec![read(0), read(0x1000), item(OpKind::Atomic, 0x2000), read(4)],
    ];
    let mut given = given("mesi", 2, 2);
    given.setup.check = true;
    let mut clock = bus_clock(&given.setup, silent_mesi(), &given.timed).unwrap();
    let steps = processes.map(Portion::new).into_iter().enumerate().collect();
    let pushed = clock.push(&ThreadStreams { operations: steps, ..ThreadStreams::default() });
    let error = pushed.and_then(|()| clock.finish().map(|_| ())).unwrap_err();
    // Processor 1 has its blocks at 80 and 84; the atomic reference asks then, and has its own
    // at 152.
    assert_eq!(error, ClockError::Stale { cycle: 154, processor: 1, address: 4 });
    assert!(
        error.to_string().contains("cycle 154: processor 1 reads a stale value at address 0x4")
    );
}
