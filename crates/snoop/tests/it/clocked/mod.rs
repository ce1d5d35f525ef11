//! Shared by tests of the clock: machines, steps of processes, one simulation.
#![allow(dead_code, reason = "each test program uses its own part")]

use homenode_base::{BlockSize, Flags};
use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, ThreadStreams};
use homenode_machine::{CacheShape, CachedMachine, Dispatch};
use homenode_snoop::{BusClockSetup, BusResult, BusSetup, ProtocolSpec, bus_clock};

pub fn item(kind: OpKind, addr: u64) -> Operation {
    Operation { addr, count: 0, kind, size: 4, flags: 0, continues: false }
}

pub fn read(addr: u64) -> Operation {
    item(OpKind::Read, addr)
}

/// Flags of a reference.
pub fn flags(private: bool, kernel: bool) -> u8 {
    let private = if private { Flags::PRIVATE } else { Flags(0) };
    private.union(if kernel { Flags::KERNEL } else { Flags(0) }).0
}

/// The same with a flag for the kernel's references to the user's pages.
pub fn flags_of_page(private: bool, kernel: bool, user_page: bool) -> u8 {
    flags(private, kernel) | if user_page { Flags::USER_AREA.0 } else { 0 }
}

#[derive(Clone)]
pub struct Given {
    pub protocol: &'static str,
    pub setup: BusSetup,
    pub timed: BusClockSetup,
}

/// Processors of `bus-smp` with caches of 1 KiB, 2-way, 32-byte blocks.
pub fn given(protocol: &'static str, processors: u16, processes: usize) -> Given {
    let machine = CachedMachine::parse("bus-smp").unwrap();
    let cache = CacheShape { size_bytes: 1024, block_size_bytes: 32, associativity: 2 };
    let mut clock = ClockSetup::of(&machine, processes);
    clock.scheduler.policy = Dispatch::Affinity;
    Given {
        protocol,
        setup: BusSetup::new(processors, cache),
        timed: BusClockSetup {
            clock,
            bus: machine.bus().unwrap().model,
            cycles: machine.cycles(BlockSize::new(32).unwrap()).unwrap().unwrap(),
        },
    }
}

impl Given {
    pub fn cache(mut self, cache: CacheShape) -> Self {
        self.setup.cache = cache;
        let machine = CachedMachine::parse("bus-smp").unwrap();
        let block = BlockSize::new(cache.block_size_bytes).unwrap();
        self.timed.cycles = machine.cycles(block).unwrap().unwrap();
        self
    }

    pub fn blocking(mut self) -> Self {
        self.timed.clock.processor.blocking = true;
        self
    }

    /// Simulates processes, whose steps come in portions of this number.
    pub fn run(&self, processes: &[Vec<Operation>], portion: usize) -> BusResult {
        let table = ProtocolSpec::parse(self.protocol).unwrap().table();
        let mut clock = bus_clock(&self.setup, table, &self.timed).unwrap();
        for portion in ThreadStreams::portions(processes, portion) {
            clock.push(&portion).unwrap();
        }
        clock.finish().unwrap()
    }
}

/// Simulates, in portions of several lengths, which must not affect the result.
pub fn run(given: &Given, processes: &[Vec<Operation>]) -> BusResult {
    let result = given.run(processes, 1);
    for portion in [2, 3, 5, 1000] {
        assert_eq!(given.run(processes, portion), result, "portions of {portion}");
    }
    check_conservation(given, &result);
    result
}

/// Checks that the cycles of each processor add up, and that the bus was held for the cycles of its
/// transactions.
pub fn check_conservation(given: &Given, result: &BusResult) {
    let BusResult { counts, time, .. } = result;
    for processor in &time.processors {
        assert_eq!(processor.busy + processor.delay + processor.idle, time.cycles, "{result:?}");
    }
    let busy: u64 = time.processors.iter().map(|p| p.busy).sum();
    assert_eq!(busy, given.timed.clock.processor.operation_cycles * counts.block_references);
    let made = &counts.transactions;
    let waits =
        (made.read_block_memory + made.read_invalidate_memory) * given.timed.bus.wait_cycles;
    let split = if given.timed.bus.split_transactions { waits } else { 0 };
    let bus_busy = result.bus_busy.unwrap();
    assert_eq!(bus_busy, made.cycles(&given.timed.cycles) - split);
    assert!(bus_busy <= time.cycles, "{result:?}");
    assert_eq!(counts.hits + counts.misses.total(), counts.block_references);
}
