//! The kernel that is made up: its references one by one, where a case
//! (`testdata/cases/bus-kernel.toml`) has only their number, and what holds of them however often
//! processes are switched.

use homenode_base::{Flags, ReferenceFilter, ReferenceRole};
use homenode_clock::streams::{OpKind, Operation, StreamSplitter};
use homenode_machine::{CacheShape, CachedMachine, Dispatch, KernelModel};
use homenode_snoop::{BusCounts, ProtocolSpec, bus_clock};
use homenode_trace::{Batch, Event, EventKind};

use crate::clocked::{check_conservation, given};

fn model() -> KernelModel {
    let model = CachedMachine::parse("bus-smp").unwrap().kernel.unwrap();
    KernelModel {
        call_words: 2,
        transfer_words: 3,
        switch_words: 2,
        tick_words: 1,
        tick_references: 4,
        ..model
    }
}

/// Reads of one thread, with system calls before the first of them.
fn batch(reads: usize, calls: &[u32]) -> Batch {
    let call = |&number: &u32| (0, Event { thread: 0, what: EventKind::SyscallEnter { number } });
    Batch {
        turns: std::iter::repeat_n(0, reads).collect(),
        kind: vec![0; reads],
        size: vec![4; reads],
        addr: vec![0x1000; reads],
        events: calls.iter().map(call).collect(),
        ..Batch::default()
    }
}

fn dealt(seed: u64, filter: ReferenceFilter, batch: &Batch) -> Vec<Operation> {
    let mut splitter = StreamSplitter::new(1, filter, &[], None).with_kernel(&model(), seed);
    splitter.split(batch).operations.remove(0).1.to_vec()
}

/// `W` for writes and so on, with `k` of the kernel and `p` of the process's own.
fn text(items: &[Operation]) -> String {
    let one = |item: &Operation| {
        let flags = Flags(item.flags);
        let own = if flags.contains(Flags::PRIVATE) { "p" } else { "" };
        let kernel = if flags.contains(Flags::KERNEL) { "k" } else { "" };
        let kind = match item.kind {
            OpKind::Read => "R",
            OpKind::Write => "W",
            OpKind::Atomic => "A",
            OpKind::Yield => "y",
            OpKind::Fetch
            | OpKind::Acquire
            | OpKind::Release
            | OpKind::Arrive
            | OpKind::Depart
            | OpKind::Create
            | OpKind::Begin
            | OpKind::Join
            | OpKind::InitDone
            | OpKind::Phase
            | OpKind::Alarm
            | OpKind::Pause
            | OpKind::Resume
            | OpKind::Exit => panic!("{item:?}"),
        };
        format!("{kind}{kernel}{own}")
    };
    items.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn calls_and_ticks_are_as_written_down() {
    let filter = ReferenceFilter::ALL;
    // getpid: a frame of two words, two of the structure, the entry.
    let call = "Wkp Wkp Rkp Rkp Rk Rkp Rkp";
    assert_eq!(text(&dealt(1, filter, &batch(1, &[39]))), format!("{call} R"));
    // write: the buffer's header, the page table, three words; then the call may wait.
    let write = "Wkp Wkp Rkp Rkp Rk Ak Rk Rkp Wk Wk Wk Rkp Rkp y";
    assert_eq!(text(&dealt(1, filter, &batch(1, &[1]))), format!("{write} R"));
    let read = write.replace("Wk Wk Wk", "Rk Rk Rk");
    assert_eq!(text(&dealt(1, filter, &batch(1, &[0]))), format!("{read} R"));
    // A tick after every four references.
    let tick = "Wkp Wk Wk Rkp";
    let expected = format!("R R R R {tick} R R R R {tick} R");
    assert_eq!(text(&dealt(1, filter, &batch(9, &[]))), expected);
    // What is a process's own is left out with all that is private.
    let without = ReferenceFilter { private: ReferenceRole::Excluded, ..filter };
    assert_eq!(text(&dealt(1, without, &batch(1, &[39]))), "Rk R");
    let shared = ReferenceFilter { private: ReferenceRole::Shared, ..filter };
    assert_eq!(text(&dealt(1, shared, &batch(1, &[39]))), "Wk Wk Rk Rk Rk Rk Rk R");
}

#[test]
fn buffers_are_chosen_by_the_seed() {
    let calls = [1, 0].repeat(20);
    let addresses = |seed| {
        let items = dealt(seed, ReferenceFilter::ALL, &batch(1, &calls));
        items.iter().map(|item| item.addr).collect::<Vec<u64>>()
    };
    assert_eq!(addresses(1), addresses(1));
    assert_ne!(addresses(1), addresses(2));
}

fn counts(protocol: &'static str, processors: u16, slice: u64) -> (BusCounts, u64) {
    let cache = CacheShape { size_bytes: 1 << 16, block_size_bytes: 32, associativity: 8 };
    let mut given = given(protocol, processors, 3).cache(cache);
    given.timed.clock.scheduler.policy = Dispatch::Random;
    given.timed.clock.scheduler.time_slice_references = slice;
    let spec = ProtocolSpec::parse(protocol).unwrap();
    given.setup.private_kernel = spec.private_kernel;
    let mut clock = bus_clock(&given.setup, spec.table(), &given.timed).unwrap();
    clock.set_kernel(&model(), given.setup.filter);
    let mut splitter =
        StreamSplitter::new(3, given.setup.filter, &[], None).with_kernel(&model(), 1);
    let mut both = batch(60, &[]);
    both.turns = (0..60).map(|row| row % 3).collect();
    clock.push(&splitter.split(&both)).unwrap();
    let result = clock.finish().unwrap();
    check_conservation(&given, &result);
    (result.counts, result.time.switches)
}

#[test]
fn every_switch_is_paid_for() {
    for (processors, slice) in [(1, 7), (1, 1_000), (2, 5)] {
        let (counts, switches) = counts("mesi", processors, slice);
        // Eight references a switch; four ticks of four in 20 references of each process.
        assert_eq!(counts.kernel.references, 8 * switches + 3 * 4 * 4);
        assert_eq!(counts.references, 60 + counts.kernel.references);
    }
}

#[test]
fn what_is_a_process_s_own_is_private_if_the_kernel_may_have_private_areas() {
    let passive = |protocol| {
        let counts = counts(protocol, 2, 3).0;
        (counts.coherence.passive, counts.misses.removal)
    };
    assert_eq!(passive("pscr"), (0, 0));
    assert!(passive("pscr:private_kernel=yes").1 > 0, "stacks move with their processes");
}
