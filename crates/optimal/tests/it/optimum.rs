//! The optimum against exhaustive search over all location sets.

use crate::support::{
    agrees, cost, every_trace, histories, random_global_prices, random_prices, random_trace,
    reference, setup,
};
use homenode_base::Rng;
use homenode_machine::Prices;
use homenode_optimal::brute::{BlockReference, SearchableMachine};
use homenode_optimal::placement;

/// The counter-example to figure 4.3 as printed: reads 3x1, 2x6; writes 1x4; reads 1x5; writes 0x6.
fn counter_example() -> Vec<BlockReference> {
    let groups = [(3, 1, false), (2, 6, false), (1, 4, true), (1, 5, false), (0, 6, true)];
    let each = groups.iter().flat_map(|&(p, n, write)| vec![reference(p, write); n]);
    each.collect()
}

/// Figure 4.3 exactly as the thesis prints it, without global memory.
fn printed_algorithm(trace: &[BlockReference], p: usize, r: u64, big_r: u64) -> u64 {
    let run_cost = |so_far: &[u64], reads: &[u64], start: usize, set: &[bool]| {
        let each = (0..p).map(|j| if set[j] { reads[j] } else { r * reads[j] });
        let copies = set.iter().filter(|&&s| s).count() as u64;
        so_far[start] + each.sum::<u64>() + big_r * (copies - u64::from(set[start]))
    };
    let update = |so_far: &[u64], reads: &[u64]| -> Vec<u64> {
        let replicated: Vec<bool> = reads.iter().map(|&n| n * (r - 1) > big_r).collect();
        let cheapest = (0..p).min_by_key(|&j| so_far[j]).unwrap();
        let value = |j: usize| {
            i64::try_from(so_far[j]).unwrap() - i64::try_from((r - 1) * reads[j]).unwrap()
        };
        let outside = (0..p).filter(|&j| !replicated[j]).min_by_key(|&j| value(j)).unwrap_or(0);
        let best = |j: usize| {
            let starts = [j, cheapest, outside].into_iter();
            let costs = starts.map(|start| {
                let mut set = replicated.clone();
                set[start] = true;
                set[j] = true;
                run_cost(so_far, reads, start, &set)
            });
            costs.min().unwrap()
        };
        (0..p).map(best).collect()
    };
    let mut so_far = vec![0u64; p];
    let mut reads = vec![0u64; p];
    for t in trace {
        let processor = usize::from(t.processor);
        if !t.write {
            reads[processor] += 1;
            continue;
        }
        so_far = update(&so_far, &reads);
        for (j, cost) in so_far.iter_mut().enumerate() {
            *cost += if j == processor { 1 } else { r };
        }
        reads.fill(0);
    }
    if !trace.last().unwrap().write {
        so_far = update(&so_far, &reads);
    }
    so_far.into_iter().min().unwrap()
}

#[test]
fn the_counter_example_to_figure_4_3_costs_154_and_not_168() {
    let trace = counter_example();
    let prices = Prices::whole(Some(15), Some(59), None, None);
    assert_eq!(cost("optimal", prices, 4, &trace).0, Some(154));
    assert_eq!(printed_algorithm(&trace, 4, 15, 59), 168);
    let model = SearchableMachine { processors: 4, prices };
    assert_eq!(model.optimum(&trace, true).unwrap().0, 154);
}

#[test]
fn equals_exhaustive_search_on_all_tiny_traces() {
    let lists = [
        Prices::whole(Some(2), Some(5), None, None),
        Prices::whole(Some(4), Some(9), None, None),
        Prices::whole(Some(3), Some(20), None, None),
        Prices::whole(None, Some(7), None, None),
        Prices::whole(Some(3), None, None, None),
    ];
    for prices in lists {
        for (processors, longest) in [(2u16, 6u32), (3, 4)] {
            every_trace(processors, longest, |trace| agrees(trace, processors, prices));
        }
    }
}

#[test]
fn equals_exhaustive_search_on_random_traces() {
    let mut rng = Rng::new(20);
    for round in 0..20_000u64 {
        let processors = 2 + u16::try_from(rng.below(4)).unwrap();
        let length = 1 + rng.below(if round % 10 == 0 { 40 } else { 14 });
        let trace = random_trace(&mut rng, processors, length);
        agrees(&trace, processors, random_prices(&mut rng));
    }
}

#[test]
fn equals_exhaustive_search_on_all_tiny_traces_with_global_memory() {
    let lists = [
        Prices::whole(Some(3), Some(7), Some(2), Some(5)),
        Prices::whole(Some(4), Some(10), Some(2), Some(5)),
        Prices::whole(Some(5), Some(12), Some(4), Some(9)),
        Prices::whole(None, None, Some(2), Some(5)),
        Prices::whole(Some(6), None, Some(2), Some(5)),
    ];
    for prices in lists {
        for (processors, longest) in [(2u16, 6u32), (3, 4)] {
            every_trace(processors, longest, |trace| agrees(trace, processors, prices));
        }
    }
}

#[test]
fn equals_exhaustive_search_on_random_traces_with_global_memory() {
    let mut rng = Rng::new(21);
    for round in 0..10_000u64 {
        let processors = 2 + u16::try_from(rng.below(3)).unwrap();
        let length = 1 + rng.below(if round % 10 == 0 { 40 } else { 14 });
        let trace = random_trace(&mut rng, processors, length);
        agrees(&trace, processors, random_global_prices(&mut rng));
    }
}

/// The printed algorithm is right where its fault has no effect, so the counter-example tests the
/// printed text and not an error in transcribing it.
#[test]
fn the_printed_algorithm_is_never_below_the_optimum_and_mostly_equal() {
    let mut rng = Rng::new(22);
    let (mut equal, rounds) = (0, 2_000);
    for _ in 0..rounds {
        let trace = random_trace(&mut rng, 4, 20);
        let least = cost("optimal", Prices::whole(Some(15), Some(59), None, None), 4, &trace).0;
        let printed = u128::from(printed_algorithm(&trace, 4, 15, 59));
        assert!(least.unwrap() <= printed);
        equal += u32::from(least == Some(printed));
    }
    assert!(equal > rounds * 9 / 10 && equal < rounds, "{equal} of {rounds}");
}

/// Moving just before or just after the lone write by 1 costs the same and is one move either way.
#[test]
fn ties_go_to_the_lowest_numbered_place() {
    let prices = Prices::whole(Some(15), Some(59), None, None);
    let move_at = |from: u16, to: u16, replicate: bool| {
        let mut trace = vec![reference(from, true); 20];
        trace.push(reference(1, true));
        trace.extend(vec![reference(to, true); 20]);
        let histories = histories(&trace, 3, Vec::new());
        let changes = placement(histories.block(0), &setup(prices, 3), replicate).unwrap();
        assert_eq!(changes.len(), 2, "{changes:?}");
        assert_eq!((&changes[0].places, &changes[1].places), (&vec![from], &vec![to]));
        changes[1].reference
    };
    assert_eq!((move_at(2, 0, true), move_at(0, 2, true)), (20, 21));
    // Dietz's form moves a block only to the processor that refers to it.
    assert_eq!((move_at(2, 0, false), move_at(0, 2, false)), (21, 21));
    // The only choice is the place itself.
    let both = [reference(1, true), reference(0, true)];
    for replicate in [true, false] {
        let histories = histories(&both, 3, Vec::new());
        let changes = placement(histories.block(0), &setup(prices, 3), replicate).unwrap();
        assert_eq!((changes.len(), &changes[0].places), (1, &vec![0]));
    }
}
