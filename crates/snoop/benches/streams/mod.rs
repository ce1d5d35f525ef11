//! Deterministic streams of four processors, and the work that is measured.
#![allow(dead_code, reason = "each program that includes this uses its own part")]

use homenode_base::{BlockSize, Rng};
use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, Portion, ThreadStreams};
use homenode_machine::{CacheShape, CachedMachine};
use homenode_snoop::{
    BusClockSetup, BusCounts, BusResult, BusSetup, ProtocolSpec, TraceOrderSimulation, bus_clock,
};
use homenode_trace::Batch;

const PROCESSORS: u16 = 4;
const ROWS: usize = 1 << 18;

/// One reference: write, address.
type Reference = (bool, u64);

/// The streams by name.
pub fn streams(references: usize) -> [(&'static str, Vec<Batch>); 2] {
    let mut product = [0u64, 1, 2, 3].map(|thread| Product::new(thread, u64::from(PROCESSORS)));
    let mut rng = Rng::new(1);
    [
        ("matrix-product", collect(references, |thread| product[usize::from(thread)].next())),
        ("shared-mix", collect(references, |thread| mixed(&mut rng, thread))),
    ]
}

/// The processors take turns, reference by reference.
fn collect(references: usize, mut next: impl FnMut(u16) -> Reference) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut batch = Batch::default();
    for (_, thread) in (0..references).zip((0..PROCESSORS).cycle()) {
        let (write, addr) = next(thread);
        batch.turns.push(thread);
        batch.kind.push(u8::from(write));
        batch.size.push(8);
        batch.addr.push(addr);
        if batch.len() == ROWS {
            batches.push(std::mem::take(&mut batch));
        }
    }
    batches.push(batch);
    batches
}

/// The inner loop of a product of matrices of doubles, rows dealt out to the processors: `N` reads
/// of a row and a column, then a write of the sum.
struct Product {
    i: u64,
    j: u64,
    k: u64,
    column: bool,
    threads: u64,
}

const N: u64 = 300;

impl Product {
    fn new(thread: u64, threads: u64) -> Self {
        Self { i: thread, j: 0, k: 0, column: false, threads }
    }

    fn next(&mut self) -> Reference {
        let [a, b, c] = [0x100_0000, 0x200_0000, 0x300_0000];
        if self.k == N {
            let reference = (true, c + 8 * (self.i * N + self.j));
            (self.k, self.j) = (0, self.j + 1);
            if self.j == N {
                (self.j, self.i) = (0, (self.i + self.threads) % N);
            }
            return reference;
        }
        self.column = !self.column;
        if self.column {
            return (false, a + 8 * (self.i * N + self.k));
        }
        self.k += 1;
        (false, b + 8 * ((self.k - 1) * N + self.j))
    }
}

/// 70 % private in 24 KiB a processor, 25 % read-mostly in 2 MiB, 4 % migratory (half are writes),
/// 1 % counters of the processors that lie side by side.
fn mixed(rng: &mut Rng, thread: u16) -> Reference {
    let own = u64::from(thread);
    match rng.below(100) {
        0..70 => (rng.below(100) < 30, 0x100_0000 * (1 + own) + 8 * rng.below(24 << 7)),
        70..95 => (rng.below(100) < 1, 0x1000_0000 + 8 * rng.below(2 << 17)),
        95..99 => (rng.below(2) == 0, 0x2000_0000 + 64 * rng.below(64)),
        _ => (true, 0x3000_0000 + 64 * rng.below(16) + 8 * own),
    }
}

/// What a protocol does in four caches of 32 KiB, 8-way, 64-byte blocks.
pub fn simulate(protocol: &str, batches: &[Batch]) -> BusCounts {
    let setup = BusSetup::new(
        PROCESSORS,
        CacheShape { size_bytes: 32 << 10, block_size_bytes: 64, associativity: 8 },
    );
    let table = ProtocolSpec::parse(protocol).expect("a protocol of the table").table();
    let mut counter = TraceOrderSimulation::new(&setup, table).expect("a machine that can be");
    for batch in batches {
        counter.push(batch).expect("a protocol that keeps its promises");
    }
    counter.finish()
}

/// Processors of the machine with a clock.
pub const CLOCKED: u16 = 8;
const CHUNK: usize = 1 << 16;

/// The same streams for processors with a clock, each in portions.
pub fn clocked(references: usize) -> [(&'static str, Vec<ThreadStreams>); 2] {
    let mut products: Vec<Product> =
        (0..u64::from(CLOCKED)).map(|thread| Product::new(thread, u64::from(CLOCKED))).collect();
    let mut rng = Rng::new(1);
    [
        ("matrix-product", portions(references, |thread| products[usize::from(thread)].next())),
        ("shared-mix", portions(references, |thread| mixed(&mut rng, thread))),
    ]
}

fn portions(references: usize, mut next: impl FnMut(u16) -> Reference) -> Vec<ThreadStreams> {
    let each = references / usize::from(CLOCKED);
    let portion = |at: usize, next: &mut dyn FnMut(u16) -> Reference| {
        let mut one = |thread| {
            let (write, addr) = next(thread);
            let kind = if write { OpKind::Write } else { OpKind::Read };
            Operation { addr, count: 0, kind, size: 8, flags: 0, continues: false }
        };
        let mut steps = |thread| (0..CHUNK.min(each - at)).map(|_| one(thread)).collect::<Vec<_>>();
        let chunks = (0..CLOCKED).map(|t| (usize::from(t), Portion::new(steps(t))));
        ThreadStreams { operations: chunks.collect(), ..ThreadStreams::default() }
    };
    (0..each).step_by(CHUNK).map(|at| portion(at, &mut next)).collect()
}

/// What a protocol does in eight processors of `bus-smp` with these caches: 256 KiB, 8-way, 64-byte
/// blocks.
pub fn simulate_clock(protocol: &str, portions: &[ThreadStreams]) -> BusResult {
    let machine = CachedMachine::parse("bus-smp").expect("a machine of the table");
    let setup = BusSetup::new(
        CLOCKED,
        CacheShape { size_bytes: 256 << 10, block_size_bytes: 64, associativity: 8 },
    );
    let block = BlockSize::new(64).expect("a size");
    let timed = BusClockSetup {
        clock: ClockSetup::of(&machine, usize::from(CLOCKED)),
        bus: machine.bus().expect("a bus").model,
        cycles: machine.cycles(block).expect("whole cycles").expect("a bus"),
    };
    let table = ProtocolSpec::parse(protocol).expect("a protocol of the table").table();
    let mut clock = bus_clock(&setup, table, &timed).expect("a machine that can be");
    for portion in portions {
        clock.push(portion).expect("a protocol that keeps its promises");
    }
    clock.finish().expect("a protocol that keeps its promises")
}
