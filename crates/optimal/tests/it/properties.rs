//! Theorems about the optimum, tested for every policy.

use crate::support::{
    TABLES, cost, finer, random_global_prices, random_prices, random_trace, s_scaled, tally,
};
use homenode_base::Rng;
use homenode_machine::Prices;
use homenode_optimal::brute::BlockReference;
use homenode_placement::{Block, PolicySpec, Run, Tally};

const NEVER: u128 = u128::MAX;

fn optimum(prices: Prices, n: u16, trace: &[BlockReference]) -> u128 {
    cost("optimal", prices, n, trace).0.unwrap()
}

/// Random traces, some with more processors than fit the narrow lanes.
fn cases(seed: u64, rounds: u64, mut check: impl FnMut(&mut Rng, u16, &[BlockReference])) {
    let mut rng = Rng::new(seed);
    for _ in 0..rounds {
        let choices = [2, 3, 5, 8, 9, 16, 20, 64, 65, 200];
        let n = choices[usize::try_from(rng.below(10)).unwrap()];
        let length = 1 + rng.below(300);
        let trace = random_trace(&mut rng, n, length);
        check(&mut rng, n, &trace);
    }
}

#[test]
fn no_policy_beats_the_optimum() {
    cases(1, 300, |rng, n, trace| {
        let prices = random_prices(rng);
        let best = optimum(prices, n, trace);
        for entry in TABLES.iter().flat_map(|t| t.iter()).filter(|e| !e.needs_global) {
            let other = cost(entry.name, prices, n, trace).0.unwrap_or(NEVER);
            assert!(best <= other, "{}: {best} > {other} {prices} {trace:?}", entry.name);
        }
        for name in ["inv", "inv.freez", "inv.del:counter=2", "inv.freez.del:counter=3"] {
            let other = cost(name, prices, n, trace).0.unwrap_or(NEVER);
            assert!(best <= other, "{name}: {best} > {other} {prices} {trace:?}");
        }
        let single = cost("optimal-no-replication", prices, n, trace).0.unwrap();
        for name in ["first-touch", "round-robin", "random", "best-static"] {
            assert!(single <= cost(name, prices, n, trace).0.unwrap_or(NEVER), "{name}");
        }
    });
}

/// Bolosky, figure 4.1, on the model's own terms: O(p) per reference, against Dietz's O(1) form.
#[test]
fn dietz_form_equals_figure_4_1() {
    cases(2, 300, |rng, n, trace| {
        let prices = random_prices(rng);
        let (Some(r), Some(big_r)) = (prices.remote_reference, prices.remote_move) else { return };
        let mut so_far = vec![0u64; usize::from(n)];
        for reference in trace {
            let cheapest = so_far.iter().min().unwrap() + big_r;
            for (m, cost) in so_far.iter_mut().enumerate() {
                let local = m == usize::from(reference.processor);
                *cost = cheapest.min(*cost) + if local { prices.scale } else { r };
            }
        }
        let least = u128::from(*so_far.iter().min().unwrap());
        assert_eq!(cost("optimal-no-replication", prices, n, trace).0, Some(least));
    });
}

/// Theorem 1: on the machine (s(r-1)+1, sR) the same placement is optimal, so it counts the same;
/// corollary 1: c'/n = 1 + s (c/n - 1).
#[test]
fn s_theorem_and_its_corollary() {
    cases(3, 300, |rng, n, trace| {
        let (r, big_r, s) = (2 + rng.below(20), 50 + rng.below(100), 1 + rng.below(9));
        let prices = Prices::whole(Some(r), Some(big_r), None, None);
        let scaled = s_scaled(prices, s);
        for policy in ["optimal", "optimal-no-replication"] {
            assert_eq!(tally(policy, prices, n, trace), tally(policy, scaled, n, trace));
            let length = trace.len() as u128;
            let c = cost(policy, prices, n, trace).0.unwrap();
            let scaled = cost(policy, scaled, n, trace).0.unwrap();
            assert_eq!(scaled - length, u128::from(s) * (c - length));
        }
    });
}

/// A scale other than 1 changes neither counts nor cost (prices with decimals).
#[test]
fn decimals_cost_the_same_as_whole_prices() {
    cases(4, 100, |rng, n, trace| {
        let (r, big_r) = (2 + rng.below(20), 50 + rng.below(100));
        let whole = Prices::whole(Some(r), Some(big_r), None, None);
        let fine = finer(whole, 1_000_000);
        assert_eq!(tally("optimal", whole, n, trace), tally("optimal", fine, n, trace));
    });
}

#[test]
fn the_optimum_never_falls_when_a_price_rises() {
    cases(5, 300, |rng, n, trace| {
        let (r, big_r) = (2 + rng.below(20), 50 + rng.below(100));
        let base = optimum(Prices::whole(Some(r), Some(big_r), None, None), n, trace);
        let more = 1 + rng.below(20);
        let dearer_r = Prices::whole(Some(r + more), Some(big_r), None, None);
        let dearer_move = Prices::whole(Some(r), Some(big_r + more), None, None);
        assert!(base <= optimum(dearer_r, n, trace));
        assert!(base <= optimum(dearer_move, n, trace));
        assert!(base <= optimum(Prices::whole(None, Some(big_r), None, None), n, trace));
        assert!(base <= optimum(Prices::whole(Some(r), None, None, None), n, trace));
    });
}

/// With r infinite there is no choice: the optimum always migrates and replicates.
#[test]
fn without_remote_reference_the_optimum_is_migrate() {
    cases(6, 200, |rng, n, trace| {
        let prices = Prices::whole(None, Some(50 + rng.below(100)), None, None);
        assert_eq!(optimum(prices, n, trace), cost("migrate", prices, n, trace).0.unwrap());
    });
}

/// Keys wider than 64 bits give the same: a run of 2^30 reads at the end allows as many moves, and
/// prices are multiplied by 2^32.
#[test]
fn wide_keys_agree_with_narrow_ones() {
    cases(8, 200, |rng, n, trace| {
        let (r, big_r) = (2 + rng.below(20), 50 + rng.below(100));
        let narrow = Prices::whole(Some(r), Some(big_r), None, None);
        let wide = Prices {
            scale: 1 << 32,
            remote_reference: Some(r << 32),
            remote_move: Some(big_r << 32),
            ..narrow
        };
        let histories = crate::support::histories(trace, n, Vec::new());
        let mut runs = histories.block(0).runs.to_vec();
        runs.push(Run::new(1_000, 1, 1 << 30, 0, 1));
        let block = Block { number: 0, runs: &runs };
        let [narrow, wide] = [narrow, wide].map(|prices| {
            let spec = PolicySpec::parse("optimal", TABLES).unwrap();
            let mut tally = Tally::default();
            spec.build(&crate::support::setup(prices, n)).unwrap().block(block, &mut tally);
            tally
        });
        assert_eq!(narrow, wide);
    });
}

/// The same with global memory, where many readers' savings add up: steps ever finer, until the
/// the narrow lanes fall back to the general solver.
#[test]
fn narrow_lanes_agree_with_the_general_solver() {
    cases(11, 60, |rng, n, trace| {
        let prices = random_global_prices(rng);
        let mut reads: Vec<BlockReference> = (0..n)
            .flat_map(|processor| vec![BlockReference { processor, write: false }; 40])
            .chain(trace.iter().copied())
            .collect();
        reads.push(BlockReference { processor: n - 1, write: true });
        let expected = tally("optimal", prices, n, &reads);
        for bits in [8, 16, 20, 24, 28, 32, 36, 40] {
            let fine = finer(prices, 1 << bits);
            assert_eq!(tally("optimal", fine, n, &reads), expected, "{bits} {prices} {trace:?}");
        }
    });
}

#[test]
fn no_policy_beats_the_optimum_with_global_memory() {
    cases(9, 300, |rng, n, trace| {
        let prices = random_global_prices(rng);
        let best = optimum(prices, n, trace);
        let entries = TABLES.iter().flat_map(|t| t.iter()).map(|e| e.name);
        for name in entries.chain(["platinum:t1=9,t2=50,frozen=global", "delay:n=2"]) {
            let other = cost(name, prices, n, trace).0.unwrap_or(NEVER);
            assert!(best <= other, "{name}: {best} > {other} {prices} {trace:?}");
        }
        let without = Prices { global_reference: None, global_move: None, ..prices };
        if without.remote_move.is_some() {
            assert!(best <= optimum(without, n, trace), "{prices}");
        }
    });
}

/// Theorem 1 with global memory: (s(g-1)+1, s(r-1)+1, sG, sR).
#[test]
fn s_theorem_with_global_memory() {
    cases(10, 300, |rng, n, trace| {
        let prices = random_global_prices(rng);
        let s = 1 + rng.below(9);
        let scaled = s_scaled(prices, s);
        for policy in ["optimal", "optimal-no-replication"] {
            assert_eq!(
                tally(policy, prices, n, trace),
                tally(policy, scaled, n, trace),
                "{prices}"
            );
        }
    });
}

#[test]
fn prices_that_no_recurrence_covers_are_refused() {
    let spec = PolicySpec::parse("optimal", TABLES).unwrap();
    let refused = [
        Prices::whole(Some(3), Some(59), Some(4), Some(60)),
        Prices::whole(Some(0), Some(59), Some(4), Some(60)),
        Prices::whole(Some(3), Some(59), Some(0), Some(60)),
    ];
    for prices in refused {
        let Err(error) = spec.build(&crate::support::setup(prices, 4)) else { panic!("{prices}") };
        assert!(error.to_string().contains("below a finite g"), "{error}");
    }
}
