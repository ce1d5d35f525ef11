//! Deterministic streams of any number of nodes, and the work that is measured.
#![allow(dead_code, reason = "each program that includes this uses its own part")]

pub mod clocked;

use homenode_base::Rng;
use homenode_directory::{
    DirectoryCounts, DirectoryProtocol, DirectorySetup, DirectorySimulation, HomeSetup, HomeSpec,
};
use homenode_machine::CacheShape;
use homenode_trace::Batch;

const ROWS: usize = 1 << 18;

/// One reference: write, address.
type Reference = (bool, u64);

/// The streams by name.
pub fn streams(nodes: u16, references: usize) -> [(&'static str, Vec<Batch>); 2] {
    let threads = u64::from(nodes);
    let mut products: Vec<Product> = (0..threads).map(|i| Product::new(i, threads)).collect();
    let mut rng = Rng::new(1);
    [
        (
            "matrix-product",
            collect(nodes, references, |thread| products[usize::from(thread)].next()),
        ),
        ("shared-mix", collect(nodes, references, |thread| mixed(&mut rng, thread))),
    ]
}

/// The nodes take turns, reference by reference.
fn collect(nodes: u16, references: usize, mut next: impl FnMut(u16) -> Reference) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut batch = Batch::default();
    for (_, thread) in (0..references).zip((0..nodes).cycle()) {
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

/// The inner loop of a product of matrices of doubles, rows dealt out to the nodes and columns
/// transposed: `N` reads of two rows, then a write of the sum. Almost everything hits.
struct Product {
    i: u64,
    j: u64,
    k: u64,
    first: bool,
    threads: u64,
}

const N: u64 = 256;

impl Product {
    fn new(thread: u64, threads: u64) -> Self {
        Self { i: thread % N, j: 0, k: 0, first: false, threads }
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
        self.first = !self.first;
        if self.first {
            return (false, a + 8 * (self.i * N + self.k));
        }
        self.k += 1;
        (false, b + 8 * (self.j * N + self.k - 1))
    }
}

/// 70 % private in 24 KiB a node, 25 % read-mostly in 2 MiB, 4 % migratory (half are writes), 1 %
/// counters of the nodes that lie side by side.
fn mixed(rng: &mut Rng, thread: u16) -> Reference {
    let own = u64::from(thread);
    match rng.below(100) {
        0..70 => (rng.below(100) < 30, 0x100_0000 * (0x100 + own) + 8 * rng.below(24 << 7)),
        70..95 => (rng.below(100) < 1, 0x1000_0000 + 8 * rng.below(2 << 17)),
        95..99 => (rng.below(2) == 0, 0x2000_0000 + 64 * rng.below(64)),
        _ => (true, 0x3000_0000 + 0x1_0000 * rng.below(16) + 8 * own),
    }
}

/// `dash` with caches of this size and associativity, 64-byte blocks and 4 KiB pages, homes by
/// first touch.
pub fn simulate(nodes: u16, bytes: u64, ways: u64, batches: &[Batch]) -> DirectoryCounts {
    let setup = DirectorySetup::new(
        nodes,
        CacheShape { size_bytes: bytes, block_size_bytes: 64, associativity: ways },
        4096,
    );
    let machine = HomeSetup::new(nodes);
    let homes = HomeSpec::parse("first-touch").expect("a policy of the table");
    let homes = homes.build(&machine).expect("a policy without hindsight");
    let table = DirectoryProtocol::parse("dash").expect("a protocol of the table").table();
    let table = table.blocks().expect("a protocol of blocks");
    let mut simulation = DirectorySimulation::new(&setup, table, homes).expect("a valid machine");
    for batch in batches {
        simulation.push(batch).expect("a correct protocol");
    }
    simulation.finish().counts
}
