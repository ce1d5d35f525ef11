//! A new timed machine needs only a memory system: this one has infinite caches without coherence,
//! and a fixed memory latency without contention. The timing of processors, processes and locks
//! over it is worked out by hand.

use std::collections::HashSet;
use std::convert::Infallible;

use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_clock::{
    Clock, ClockSetup, ClockTime, MemoryReference, MemorySystem, ProcessorTime, ReferenceCounts,
    Requester, Requesters, SyncCourse, SyncRequest,
};
use homenode_machine::{AgingUnit, Dispatch, ProcessorModel, SchedulerModel};

/// Cycles until a block arrives.
const LATENCY: u64 = 10;
/// Cycles to acquire a free lock.
const ACQUIRE: u64 = 5;
/// Cycles until the next owner receives the lock.
const HANDOVER: u64 = 3;

/// A memory system that records which processor caches which block.
#[derive(Default)]
pub struct FixedLatency {
    cached: HashSet<(usize, u64)>,
    /// Whether every reference hits.
    hits: bool,
    prices_locks: bool,
    pub counted: ReferenceCounts,
    misses: u64,
}

impl FixedLatency {
    /// Every reference hits.
    pub fn all_hits() -> Self {
        Self { hits: true, ..Self::default() }
    }
}

impl MemorySystem for FixedLatency {
    type Access = (usize, u64);
    /// A block arrives.
    type Hit = ();
    type Event = Requester;
    type Error = Infallible;

    fn block_shift(&self) -> u32 {
        6
    }

    fn try_hit(&mut self, reference: &MemoryReference) -> bool {
        self.try_access(&self.access(reference))
    }

    fn try_access(&mut self, access: &(usize, u64)) -> bool {
        self.hits || self.cached.contains(access)
    }

    fn access(&self, reference: &MemoryReference) -> (usize, u64) {
        (reference.processor, reference.block)
    }

    fn same_block(one: &(usize, u64), other: &(usize, u64)) -> bool {
        one == other
    }

    fn needs_request(&mut self, access: &(usize, u64)) -> bool {
        !self.cached.contains(access)
    }

    fn perform(&mut self, _: u64, access: &(usize, u64)) -> Result<(), Infallible> {
        self.misses += u64::from(self.cached.insert(*access));
        Ok(())
    }

    fn request(
        &mut self,
        requester: Requester,
        _: &(usize, u64),
        requesters: &mut Requesters<'_, Self>,
    ) {
        requesters.schedule_at(requesters.now() + LATENCY, requester.rank(), requester);
    }

    fn event(
        &mut self,
        requester: Requester,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), Infallible> {
        let now = requesters.now();
        requesters.perform(requester, |access| self.perform(now, access))?;
        requesters.complete_at(now, requester);
        Ok(())
    }

    fn undisturbed_until(&self, _: u64) -> u64 {
        u64::MAX
    }

    fn at_rest_from(&self) -> u64 {
        0
    }

    fn count(&mut self, counted: ReferenceCounts) {
        self.counted.references += counted.references;
        self.counted.block_references += counted.block_references;
    }

    fn synchronise(
        &mut self,
        request: &SyncRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> SyncCourse {
        if !self.prices_locks || request.operation.kind != OpKind::Acquire {
            return SyncCourse::Now;
        }
        requesters.effect_at(requesters.now() + ACQUIRE, request.processor);
        SyncCourse::Awaited
    }

    fn goes_on(
        &mut self,
        _: &SyncRequest,
        woken: Option<usize>,
        requesters: &mut Requesters<'_, Self>,
    ) -> bool {
        if let Some(process) = woken.filter(|_| self.prices_locks) {
            requesters.ready_at(requesters.now() + HANDOVER, process);
            return false;
        }
        true
    }
}

/// One process per processor.
pub fn setup(processes: usize, blocking: bool) -> ClockSetup {
    let processor = ProcessorModel {
        operation_cycles: 1,
        instruction_cycles: 0,
        window_instructions: 8,
        issue_width: None,
        misses_max: 2,
        store_buffer_words: 2,
        blocking,
    };
    let scheduler = SchedulerModel {
        policy: Dispatch::Affinity,
        time_slice_references: 1_000,
        aging: 8,
        aging_unit: AgingUnit::HomeDispatches,
        wait_cycles: 0,
        restart: false,
    };
    ClockSetup { processor, scheduler, seed: 1, processes }
}

pub fn operation(kind: OpKind, addr: u64) -> Operation {
    Operation { size: 4, ..Operation::new(kind, addr) }
}

fn read(addr: u64) -> Operation {
    operation(OpKind::Read, addr)
}

/// Runs each process on a processor of its own; operations come in portions of `portion`.
fn run(
    memory: FixedLatency,
    blocking: bool,
    processes: &[Vec<Operation>],
    portion: usize,
) -> (FixedLatency, ClockTime) {
    let mut clock = Clock::new(memory, processes.len(), &setup(processes.len(), blocking));
    for portion in ThreadStreams::portions(processes, portion) {
        let Ok(()) = clock.push(&portion);
    }
    let Ok(result) = clock.finish();
    result
}

#[test]
fn a_processor_that_blocks_waits_for_every_block() {
    let reads = vec![read(0), read(4), read(8), read(64)];
    for portion in [1, 3, 10] {
        let (memory, time) =
            run(FixedLatency::default(), true, std::slice::from_ref(&reads), portion);
        // 10 + 1, two hits, 10 + 1.
        assert_eq!(time.cycles, 11 + 2 + 11);
        assert_eq!(time.processors, [ProcessorTime { busy: 4, delay: 20, idle: 0 }]);
        assert_eq!((memory.counted.references, memory.misses), (4, 2));
    }
}

#[test]
fn a_processor_with_miss_registers_continues() {
    // Requests at 0 and 1 are complete at 10 and 11; the read at 2 waits for the first of them.
    let reads = vec![read(0), read(64), read(4)];
    let (_, time) = run(FixedLatency::default(), false, &[reads], 10);
    assert_eq!((time.cycles, time.processors[0].busy), (11, 3));
    // A third miss finds no free register until the first completes at 10.
    let reads = vec![read(0), read(64), read(128)];
    let (_, time) = run(FixedLatency::default(), false, &[reads], 10);
    assert_eq!(time.cycles, 20);
    // The window holds instructions 1 to 8: the ninth begins when the first is complete.
    let reads = [vec![read(0)], vec![read(4); 9]].concat();
    let (_, time) = run(FixedLatency::default(), false, &[reads], 10);
    assert_eq!(time.cycles, 10 + 2);
}

#[test]
fn stores_wait_in_the_buffer_in_order() {
    let write = |addr| operation(OpKind::Write, addr);
    // Issued at 0 and 1; requested at 0 and, when that is complete, at 10. A third one finds no
    // room until 10.
    let writes = vec![write(0), write(64), write(128)];
    let (memory, time) = run(FixedLatency::default(), false, &[writes], 10);
    assert_eq!((time.cycles, memory.misses), (30, 3));
    assert_eq!(time.processors, [ProcessorTime { busy: 3, delay: 27, idle: 0 }]);
    // A read of the block that a store waits for makes no request of its own.
    let (memory, time) = run(FixedLatency::default(), false, &[vec![write(0), read(4)]], 10);
    assert_eq!((time.cycles, memory.misses), (10, 1));
}

#[test]
fn the_memory_system_prices_locks() {
    let lock = 0x9000;
    let critical =
        vec![operation(OpKind::Acquire, lock), read(0), operation(OpKind::Release, lock)];
    let processes = [critical.clone(), critical];
    // Process 0 reads from 0 to 11; process 1 begins a cycle later.
    let (_, time) = run(FixedLatency::default(), true, &processes, 10);
    assert_eq!(time.cycles, 11 + 1 + 11);
    // The lock is acquired at 5 and released at 16; process 1 receives it at 19.
    for portion in [1, 10] {
        let memory = FixedLatency { prices_locks: true, ..FixedLatency::default() };
        let (_, time) = run(memory, true, &processes, portion);
        assert_eq!(time.cycles, 5 + 11 + 3 + 1 + 11);
        let first = ProcessorTime { busy: 1, delay: 15, idle: 15 };
        let second = ProcessorTime { busy: 1, delay: 15, idle: 15 };
        assert_eq!(time.processors, [first, second]);
        assert_eq!(time.deadlocks_broken, 0);
    }
}

#[test]
fn a_live_front_end_learns_which_process_has_to_run() {
    let mut clock = Clock::new(FixedLatency::default(), 2, &setup(2, true));
    let known = |process, operations: &[Operation]| ThreadStreams {
        operations: vec![(process, Portion::new(operations.to_vec()))],
        ..ThreadStreams::default()
    };
    let push = |clock: &mut Clock<_>, added: &ThreadStreams| {
        let Ok(()) = clock.push(added);
        clock.awaited()
    };
    assert_eq!(push(&mut clock, &ThreadStreams::default()), Some(0));
    assert_eq!(push(&mut clock, &known(0, &[read(0)])), Some(1), "both begin at 0");
    // Process 1 hits at 11, 12 and so on, like process 0.
    assert_eq!(push(&mut clock, &known(1, &[read(0), read(4), read(8)])), Some(0));
    assert_eq!(push(&mut clock, &known(0, &[read(4)])), Some(0), "at 12, before process 1");
    let over = ThreadStreams { closed: vec![0], ..ThreadStreams::default() };
    assert_eq!(push(&mut clock, &over), Some(1));
    let over = ThreadStreams { closed: vec![1], ..ThreadStreams::default() };
    assert_eq!(push(&mut clock, &over), None);
    let Ok((memory, time)) = clock.finish();
    assert_eq!((memory.counted.references, time.cycles), (5, 13));
}

#[test]
fn a_thousand_processors_meet_at_a_barrier() {
    let processors = 1024;
    let depart = Operation { count: processors, ..Operation::new(OpKind::Depart, 0) };
    let process = |number: u64| {
        let own = read(number << 6);
        vec![own, operation(OpKind::Arrive, 0), depart, own]
    };
    let processes: Vec<Vec<Operation>> = (0..u64::from(processors)).map(process).collect();
    let (memory, time) = run(FixedLatency::default(), true, &processes, 2);
    // All arrive at 11, the last in the same cycle as the first; the waiting ones continue at 12.
    assert_eq!((time.cycles, memory.misses), (13, 1024));
    assert_eq!(memory.counted.references, 2 * 1024);
}
