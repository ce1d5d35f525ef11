//! Theorems, tested for the table of machines and the tables of policies.

use crate::support::{TABLES, cost, random_trace, s_scaled, tally};
use homenode_base::{BlockSize, Rng};
use homenode_machine::{Machine, PriceModel, PricedMachine, Prices, TABLE as MACHINES};
use homenode_optimal::brute::BlockReference;
use homenode_placement::{Cost, Tally};

/// A random trace for every machine of the table at one of several block sizes.
fn cases(seed: u64, rounds: u64, mut check: impl FnMut(&mut Rng, Prices, u16, &[BlockReference])) {
    let mut rng = Rng::new(seed);
    for round in 0..rounds {
        for preset in MACHINES {
            let bytes = 64 << (round % 4 * 2);
            let machine = Machine::parse(preset.name).unwrap();
            let Machine::Priced(machine) = machine else { continue };
            if machine.model() != PriceModel::Placement {
                continue;
            }
            let prices = machine.prices(BlockSize::new(bytes).unwrap(), false).unwrap();
            let n = [2, 3, 8, 17, 70][usize::try_from(rng.below(5)).unwrap()];
            let length = 1 + rng.below(600);
            let trace = long_runs(&mut rng, n, length);
            check(&mut rng, prices, n, &trace);
        }
    }
}

/// Real prices of moves are high: only long runs by one processor cause a move.
fn long_runs(rng: &mut Rng, processors: u16, length: u64) -> Vec<BlockReference> {
    let short = random_trace(rng, processors, length);
    let each = short.into_iter().flat_map(|r| {
        let times = if rng.below(4) == 0 { 1 + rng.below(60) } else { 1 };
        (0..times).map(move |_| r)
    });
    each.collect()
}

/// The policies that fit a machine, some with parameters under which they act on short traces.
fn policies(prices: Prices) -> Vec<&'static str> {
    let entries = TABLES.iter().flat_map(|t| t.iter());
    let fitting = entries.filter(|e| !e.needs_global || prices.has_global()).map(|e| e.name);
    let mut list: Vec<&str> = fitting.collect();
    list.extend(["ace:limit=1", "delay:n=3", "platinum:t1=9,t2=50"]);
    list.extend(["inv", "inv.del:counter=2"]);
    if prices.has_global() {
        list.push("platinum:t1=9,t2=50,frozen=global");
    }
    list
}

fn priced(tally: &Tally, prices: &Prices) -> Option<u128> {
    Cost::of(tally, prices).total().steps
}

fn on_line(name: &str) -> bool {
    let base = name.split(':').next().unwrap();
    let mut entries = TABLES.iter().copied().flatten().chain(homenode_placement::coherence::TABLE);
    entries.any(|e| e.name == base && !e.needs_prices)
}

type Setter = fn(&mut Prices) -> &mut Option<u64>;
const EACH: [(&str, Setter); 4] = [
    ("r", |p| &mut p.remote_reference),
    ("R", |p| &mut p.remote_move),
    ("g", |p| &mut p.global_reference),
    ("G", |p| &mut p.global_move),
];

/// A price of the list raised by this many steps, twice; `None` if it is infinite.
fn raised(prices: Prices, set: Setter, by: u64) -> Option<[Prices; 3]> {
    let price = (*set(&mut prices.clone()))?;
    Some([0, 1, 2].map(|times| {
        let mut other = prices;
        *set(&mut other) = Some(price + times * by);
        other
    }))
}

#[test]
fn no_policy_beats_the_optimum_on_any_machine() {
    cases(50, 24, |_, prices, n, trace| {
        let best = cost("optimal", prices, n, trace).0.unwrap();
        let single = cost("optimal-no-replication", prices, n, trace).0.unwrap();
        for name in policies(prices) {
            let other = cost(name, prices, n, trace).0.unwrap_or(u128::MAX);
            assert!(best <= other, "{name}: {best} > {other} {prices} {trace:?}");
            let replicates = tally(name, prices, n, trace).replications > 0;
            assert!(
                replicates || single <= other || name == "optimal",
                "{name} {prices} {trace:?}"
            );
        }
    });
}

/// Theorem 1: with prices 1 + s(r - 1), sR, 1 + s(g - 1), sG the same placement is optimal;
/// corollary 1, which also holds for every policy that ignores prices: c'/n = 1 + s(c/n - 1).
#[test]
fn s_theorem_and_corollary_1_on_every_machine_for_every_policy() {
    cases(51, 12, |rng, prices, n, trace| {
        let s = 2 + rng.below(9);
        let scaled = s_scaled(prices, s);
        for name in policies(prices) {
            let counts = tally(name, prices, n, trace);
            assert_eq!(counts, tally(name, scaled, n, trace), "{name} {prices} {trace:?}");
            let all_local = trace.len() as u128 * u128::from(prices.scale);
            let more = priced(&counts, &prices).map(|c| u128::from(s) * (c - all_local));
            let found = priced(&counts, &scaled).map(|c| c - all_local);
            assert_eq!(more, found, "{name} {prices}");
        }
    });
}

/// Section 5.3: the cost of a policy that ignores prices is linear in each of them.
#[test]
fn on_line_cost_is_linear_in_every_price() {
    cases(52, 12, |rng, prices, n, trace| {
        for name in policies(prices).into_iter().filter(|name| on_line(name)) {
            for (letter, set) in EACH {
                let Some(three) = raised(prices, set, 1 + rng.below(50)) else { continue };
                let at = three.map(|p| cost(name, p, n, trace).0);
                let [Some(low), Some(middle), Some(high)] = at else { continue };
                assert_eq!(low + high, 2 * middle, "{name} in {letter} {prices}");
                assert!(low <= middle, "{name} in {letter} {prices}");
            }
        }
    });
}

/// The optimum in each price: never falls, and never rises faster than before.
#[test]
fn optimal_cost_is_monotone_and_concave_in_every_price() {
    cases(53, 40, |rng, prices, n, trace| {
        for policy in homenode_optimal::TABLE {
            for (letter, set) in EACH {
                let most = if rng.below(2) == 0 { 5 } else { 2_000 };
                let by = prices.scale * (1 + rng.below(most));
                let Some(three) = raised(prices, set, by) else { continue };
                // Dearer g may pass r, which no recurrence covers.
                let covered = |p: &Prices| {
                    p.remote_reference.is_none_or(|r| p.global_reference.is_none_or(|g| g <= r))
                };
                if !three.iter().all(covered) {
                    continue;
                }
                let at = three.map(|p| cost(policy.name, p, n, trace).0.unwrap());
                let what = format!("{} in {letter} by {by} {prices} {trace:?}", policy.name);
                assert!(at[0] <= at[1] && at[1] <= at[2], "{what}");
                assert!(at[0] + at[2] <= 2 * at[1], "{what}");
                let mut never = prices;
                *set(&mut never) = None;
                if never.remote_reference.or(never.remote_move).is_some() {
                    let never = cost(policy.name, never, n, trace).0;
                    assert!(never.is_none_or(|never| at[2] <= never), "{what}");
                }
            }
        }
    });
}

#[test]
fn the_partial_order_of_figure_6_1() {
    let below: [(&str, &[&str]); 4] = [
        ("cc+", &["cc", "numa", "dsm+", "dsm"]),
        ("numa", &["dsm+", "dsm"]),
        ("cc", &["dsm"]),
        ("dsm+", &["dsm"]),
    ];
    let mut rng = Rng::new(54);
    for round in 0..150 {
        let block = BlockSize::new(16 << (round % 10)).unwrap();
        let trace = long_runs(&mut rng, 8, 200);
        let at = |name: &str| {
            let prices = PricedMachine::parse(name).unwrap().prices(block, false).unwrap();
            homenode_optimal::TABLE.iter().map(move |e| (e.name, prices)).collect::<Vec<_>>()
        };
        for (better, worse) in below.iter().flat_map(|(b, list)| list.iter().map(move |w| (b, w))) {
            for ((policy, high), (_, low)) in at(better).into_iter().zip(at(worse)) {
                let [c, d] = [high, low].map(|p| cost(policy, p, 8, &trace).0.unwrap());
                let (c, d) = (c * u128::from(low.scale), d * u128::from(high.scale));
                assert!(c <= d, "{policy}: {better} {high} {worse} {low} {trace:?}");
            }
        }
    }
}
