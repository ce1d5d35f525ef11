//! The optimum with global memory against exhaustive search, over every price the model allows and
//! many that only `--force` does: r, R, g and G each possibly infinite, R below G, ties.

use crate::support::{agrees, any_global_prices, every_trace, finer, random_trace};
use homenode_base::Rng;
use homenode_machine::Prices;
use homenode_optimal::brute::BlockReference;

/// A grid of price lists: all relations of g to r and of R to G, at their edges too.
fn grid() -> Vec<Prices> {
    let mut lists = Vec::new();
    for (r, g) in [(3, Some(3)), (4, Some(2)), (3, None)] {
        for big_r in [Some(2), Some(7), Some(9), Some(10), Some(21), None] {
            for big_g in [Some(7), Some(9), Some(14), None] {
                if g.is_some() || big_g.is_some() {
                    lists.push(Prices::whole(Some(r), big_r, g, big_g));
                    lists.push(Prices::whole(None, big_r, g, big_g));
                }
            }
        }
    }
    lists
}

fn all_tiny(shapes: &[(u16, u32)]) -> u64 {
    let mut count = 0;
    for prices in grid() {
        for &(processors, length) in shapes {
            every_trace(processors, length, |trace| {
                agrees(trace, processors, prices);
                count += 1;
            });
        }
    }
    count
}

fn random(seed: u64, rounds: u64) {
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        let processors = 2 + u16::try_from(rng.below(3)).unwrap();
        if round % 2 == 0 {
            let length = 1 + rng.below(if round % 20 == 0 { 40 } else { 14 });
            let trace = random_trace(&mut rng, processors, length);
            let prices = any_global_prices(&mut rng);
            // In steps of 1/2^44 keys do not fit 64 bits.
            let prices = if round % 8 == 0 { finer(prices, 1 << 44) } else { prices };
            agrees(&trace, processors, prices);
        } else {
            let prices = copies_cheaper_than_global(&mut rng);
            let trace = read_runs(&mut rng, processors, prices);
            agrees(&trace, processors, prices);
        }
    }
}

/// R < G and g < r: where the order of copying matters.
fn copies_cheaper_than_global(rng: &mut Rng) -> Prices {
    let g = 1 + rng.below(3);
    let r = g + 1 + rng.below(3);
    let big_r = 3 + rng.below(12);
    let most = if rng.below(2) == 0 { 4 } else { big_r };
    let big_g = big_r + 1 + rng.below(most);
    Prices::whole((rng.below(10) > 0).then_some(r), Some(big_r), Some(g), Some(big_g))
}

/// A few groups of writes by one processor, and between them read-runs in which every processor
/// reads about as often as is needed to make a copy at R or at G, or a global copy, worthwhile.
fn read_runs(rng: &mut Rng, processors: u16, prices: Prices) -> Vec<BlockReference> {
    let mut trace = Vec::new();
    let enough = 2 * prices.global_move.unwrap() / prices.global_reference.unwrap();
    for _ in 0..1 + rng.below(3) {
        let writer = u16::try_from(rng.below(u64::from(processors))).unwrap();
        let writes = rng.below(8) * rng.below(2);
        trace.extend((0..writes).map(|_| BlockReference { processor: writer, write: true }));
        for _ in 0..1 + rng.below(7) {
            let processor = u16::try_from(rng.below(u64::from(processors))).unwrap();
            let reads = match rng.below(3) {
                0 => 1,
                1 => 1 + rng.below(4),
                _ => 1 + rng.below(enough),
            };
            trace.extend((0..reads).map(|_| BlockReference { processor, write: false }));
        }
    }
    let writer = u16::try_from(rng.below(u64::from(processors))).unwrap();
    trace.extend((0..rng.below(20)).map(|_| BlockReference { processor: writer, write: true }));
    trace
}

#[test]
fn equals_exhaustive_search_on_tiny_traces_at_every_price() {
    all_tiny(&[(2, 4), (3, 2)]);
}

#[test]
fn equals_exhaustive_search_on_random_traces_at_every_price() {
    random(30, 4_000);
}

/// The full run: minutes. `cargo test --release -p homenode-optimal -- --ignored`.
#[test]
#[ignore = "takes minutes; run it when a recurrence changes"]
fn equals_exhaustive_search_on_150_000_random_traces_and_all_tiny_ones() {
    random(31, 150_000);
    println!("{} tiny traces", all_tiny(&[(2, 6), (3, 4)]));
}

/// Only local references are possible: the cost is finite only with a single processor.
#[test]
fn without_remote_reference_and_move_the_cost_is_infinite() {
    let prices = Prices::whole(None, None, None, None);
    every_trace(3, 4, |trace| {
        agrees(trace, 3, prices);
        let alone = trace.iter().all(|r| r.processor == trace[0].processor);
        assert_eq!(crate::support::cost("optimal", prices, 3, trace).0.is_some(), alone);
    });
}

/// The given numbers of reads or writes by each processor in turn.
fn groups(list: &[(u16, u64, bool)]) -> Vec<BlockReference> {
    let each = list.iter();
    each.flat_map(|&(processor, n, write)| (0..n).map(move |_| BlockReference { processor, write }))
        .collect()
}

/// Whether the placement drops the global copy, and whether it then brings it back, at reads.
fn drops(trace: &[BlockReference], processors: u16, prices: Prices) -> (bool, bool) {
    let histories = crate::support::histories(trace, processors, Vec::new());
    let setup = crate::support::setup(prices, processors);
    let changes = homenode_optimal::placement(histories.block(0), &setup, true).unwrap();
    let read = |at: u64| !trace[usize::try_from(at).unwrap()].write;
    let turns = |from: bool| {
        changes
            .windows(2)
            .any(|w| w[0].global == from && w[1].global != from && read(w[1].reference))
    };
    (turns(true), turns(false))
}

/// Both others read often enough for a global copy, not for their own; in the end the block moves,
/// at the lower price because the global copy is gone by then: 41 and not 42 beyond local ones.
#[test]
fn a_global_copy_is_dropped_before_a_move_that_is_cheaper_without() {
    let trace =
        groups(&[(0, 30, true), (1, 3, false), (2, 3, false), (0, 1, false), (3, 20, true)]);
    let prices = Prices::whole(Some(8), Some(17), Some(2), Some(18));
    agrees(&trace, 4, prices);
    assert_eq!(
        crate::support::cost("optimal", prices, 4, &trace).0,
        Some(trace.len() as u128 + 41)
    );
    assert_eq!(drops(&trace, 4, prices), (true, true));
}

/// From global memory: one copy at G, the global copy is dropped, three more at R, and the global
/// copy returns for processors that read little. This takes at least seven processors.
#[test]
fn a_global_copy_returns_after_copies_that_are_cheaper_without() {
    let prices = Prices::whole(Some(8), Some(8), Some(2), Some(16));
    let mut list: Vec<(u16, u64, bool)> = (0..14).map(|i| (i % 7, 1, true)).collect();
    list.extend([(0, 17, false), (1, 17, false), (2, 17, false), (3, 17, false)]);
    list.extend([(4, 1, false), (5, 1, false), (6, 1, false)]);
    let mut rng = Rng::new(32);
    for round in 0..4 {
        let trace = groups(&list);
        agrees(&trace, 7, prices);
        assert!(round > 0 || drops(&trace, 7, prices) == (true, true));
        let (i, j) = (14 + rng.below(7), 14 + rng.below(7));
        list.swap(usize::try_from(i).unwrap(), usize::try_from(j).unwrap());
    }
}
