//! Deterministic traces, mostly of 16 threads, for benchmarks, and the work that is measured.
#![allow(dead_code, reason = "each program that includes this uses its own part")]

use homenode_base::{BlockSize, Rng};
use homenode_machine::{PriceList, PricedMachine, Prices};
use homenode_placement::policy::{Entry, PlacementSetup};
use homenode_placement::{Histories, HistoryBuilder, HistoryOptions, PolicySpec, Tally, Times};
use homenode_trace::Batch;

const THREADS: u16 = 16;
const ROWS: usize = 1 << 20;

/// The traces by name.
pub fn traces(references: usize) -> Vec<(&'static str, Vec<Batch>)> {
    vec![
        ("stencil", collect(stencil(), references)),
        ("shared-counters", shared_by(THREADS, references)),
    ]
}

/// Counters that this number of threads share.
pub fn shared_by(threads: u16, references: usize) -> Vec<Batch> {
    collect(shared(threads), references)
}

/// One reference: thread, write, address.
type Item = (u16, bool, u64);

fn collect(items: impl Iterator<Item = Item>, references: usize) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut batch = Batch::default();
    for (thread, write, addr) in items.take(references) {
        batch.turns.push(thread);
        batch.kind.push(u8::from(write));
        batch.size.push(8);
        batch.addr.push(addr);
        if batch.len() == ROWS {
            let first_time = batch.first_time + ROWS as u64;
            batches.push(std::mem::take(&mut batch));
            batch.first_time = first_time;
        }
    }
    batches.push(batch);
    batches
}

/// Five-point relaxation of a 1024 x 1024 grid of doubles in bands of rows: five reads and a write
/// per point, threads taking turns every 100 references, neighbours sharing the border rows.
fn stencil() -> impl Iterator<Item = Item> {
    let mut point = [0u64; THREADS as usize];
    let mut queue: Vec<Vec<Item>> = vec![Vec::new(); THREADS as usize];
    let mut turn = 0u64;
    std::iter::from_fn(move || {
        let thread = u16::try_from(turn / 100 % u64::from(THREADS)).unwrap_or(0);
        turn += 1;
        let t = usize::from(thread);
        if queue[t].is_empty() {
            let band = 1024 / u64::from(THREADS);
            let (row, column) = (point[t] / 1022 % band, 1 + point[t] % 1022);
            let row = (u64::from(thread) * band + row).clamp(1, 1022);
            let at = |r: u64, c: u64| 0x10_0000 + (r * 1024 + c) * 8;
            let around =
                [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)];
            queue[t].push((thread, true, at(row, column)));
            queue[t].push((thread, false, at(row, column)));
            queue[t].extend(around.map(|(r, c)| (thread, false, at(r, c))));
            point[t] += 1;
        }
        queue[t].pop()
    })
}

/// Threads taking turns every few references to counters that all of them update: short runs.
fn shared(threads: u16) -> impl Iterator<Item = Item> {
    let mut rng = Rng::new(1);
    let (mut thread, mut left, mut addr) = (0, 0, 0);
    std::iter::from_fn(move || {
        if left == 0 {
            thread = u16::try_from(rng.below(u64::from(threads))).unwrap_or(0);
            addr = 0x10_0000 + rng.below(500) * 4096 + rng.below(64) * 8;
            left = 1 + rng.below(8);
        }
        left -= 1;
        Some((thread, rng.below(4) == 0, addr))
    })
}

/// Histories of 4 KB blocks, split at every millionth reference.
pub fn histories(batches: &[Batch], processors: u16) -> Histories {
    histories_with_times(batches, processors, Times::Visits)
}

/// The same with more Times.
pub fn histories_with_times(batches: &[Batch], processors: u16, times: Times) -> Histories {
    let block_size = BlockSize::new(4096).expect("a power of two");
    let options = HistoryOptions {
        split_periods: vec![1_000_000],
        ..HistoryOptions::new(block_size, processors)
    };
    let mut builder = HistoryBuilder::new(options).with_times(times);
    batches.iter().for_each(|batch| builder.push(batch));
    builder.finish().0
}

/// Thesis table 6.3, NUMA.
pub fn numa() -> PriceList {
    Prices::whole(Some(102), Some(2323), None, None).into()
}

/// Thesis section 5.1, ACE: with global memory.
pub fn ace() -> PriceList {
    Prices::whole(Some(5), Some(4496), Some(2), Some(2248)).into()
}

/// Markatos and Chronaki's machine.
pub fn markatos() -> PriceList {
    let machine = PricedMachine::parse("markatos").expect("it is in the table");
    let block = BlockSize::new(4096).expect("a power of two");
    machine.price_list(block, false).expect("its prices are valid")
}

/// What a policy counts over all blocks, several times.
pub fn walk(
    histories: &Histories,
    tables: &[&'static [Entry]],
    name: &str,
    prices: PriceList,
    times: usize,
) -> Tally {
    let spec = PolicySpec::parse(name, tables).expect("a policy of the tables");
    let setup = PlacementSetup::new(histories.processors(), histories.block_size(), &prices);
    let mut policy = spec.build(&setup).expect("it fits the machine");
    let mut tally = Tally::default();
    for _ in 0..times {
        histories.blocks().for_each(|block| policy.block(block, &mut tally));
    }
    tally
}
