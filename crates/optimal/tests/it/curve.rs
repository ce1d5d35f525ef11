//! The curve of optimal cost against one price, against exhaustive search.

use crate::support::{any_global_prices, finer, histories, random_prices, random_trace, setup};
use homenode_base::Rng;
use homenode_machine::Prices;
use homenode_optimal::brute::{BlockReference, SearchableMachine};
use homenode_optimal::{Axis, Curve, CurveError, CurveSolver, Interval, Ratio};

/// Steps of the grid in a unit of price.
const GRID: u64 = 6;

fn whole(n: u64) -> Ratio {
    Ratio::new(n.into(), 1).unwrap()
}

fn curve(
    trace: &[BlockReference],
    processors: u16,
    prices: Prices,
    replicate: bool,
    interval: Interval,
) -> Result<Curve, CurveError> {
    let histories = histories(trace, processors, Vec::new());
    let mut solver = CurveSolver::new(&setup(prices, processors), replicate, interval)?;
    solver.block(histories.block(0))
}

/// The oracle's prices at a point of the grid.
fn fine(prices: Prices, axis: Axis, at: u64) -> Prices {
    let mut fine = finer(prices, GRID);
    let price = Some(at * prices.scale);
    match axis {
        Axis::RemoteReference => fine.remote_reference = price,
        Axis::RemoteMove => fine.remote_move = price,
        Axis::GlobalReference => fine.global_reference = price,
        Axis::GlobalMove => fine.global_move = price,
    }
    fine
}

/// Checks the value at every point of the grid, that every break changes the slope, and that slopes
/// fall and are not negative. Returns the number of breaks, or `None` if the interval is refused.
fn check(
    trace: &[BlockReference],
    processors: u16,
    prices: Prices,
    replicate: bool,
    axis: Axis,
    from: u64,
    to: u64,
) -> Option<usize> {
    let interval = Interval { axis, from: whole(from), to: whole(to) };
    let what = format!("{prices} {interval:?} {replicate} {trace:?}");
    let curve = curve(trace, processors, prices, replicate, interval).ok()?;
    let pieces = curve.pieces(interval);
    let mut last: Option<(i64, Option<Ratio>)> = None;
    let slot = Axis::ALL.iter().position(|a| a.0 == axis).unwrap() + 1;
    for piece in &pieces {
        assert!(piece.from < piece.to && piece.counts.0.iter().all(|&c| c >= 0), "{what}");
        let cost = |at| piece.counts.cost(&prices, axis, at);
        let slope = piece.counts.0[slot];
        if let Some((before, end)) = last {
            assert!(slope < before && cost(piece.from) == end, "{what}");
        }
        last = Some((slope, cost(piece.to)));
    }
    for point in from * GRID..=to * GRID {
        let at = Ratio::new(point.into(), GRID.into()).unwrap();
        let piece = pieces.iter().find(|p| p.from <= at && at <= p.to).unwrap();
        let fine = fine(prices, axis, point);
        let model = SearchableMachine { processors: processors.into(), prices: fine };
        let least = model.optimum(trace, replicate).map(|v| v.0);
        let least = least.map(|cost| Ratio::new(cost, fine.scale.into()).unwrap());
        assert_eq!(curve.infinite, least.is_none(), "{what}");
        assert_eq!(piece.counts.cost(&prices, axis, at), least, "at {at}: {what}");
    }
    Some(curve.breaks.len())
}

#[test]
fn the_curve_equals_exhaustive_search_and_bends_only_down() {
    let mut rng = Rng::new(40);
    let (mut curves, mut breaks) = (0, 0);
    for round in 0..2_400u64 {
        let global = round % 2 == 0;
        let processors = 2 + u16::try_from(rng.below(2)).unwrap();
        let length = 1 + rng.below(24);
        let trace = random_trace(&mut rng, processors, length);
        let prices = if global { any_global_prices(&mut rng) } else { random_prices(&mut rng) };
        let axis = Axis::ALL[usize::try_from(rng.below(4)).unwrap()].0;
        let from = 1 + rng.below(6);
        let to = from + 1 + rng.below(if round % 8 == 0 { 30 } else { 8 });
        let found = check(&trace, processors, prices, round % 5 > 0, axis, from, to);
        curves += usize::from(found.is_some());
        breaks += found.unwrap_or(0);
    }
    assert!(curves > 1_800 && breaks > 450, "{curves} curves, {breaks} breaks");
}

#[test]
fn curves_of_blocks_add() {
    let mut rng = Rng::new(41);
    let prices = Prices::whole(Some(5), Some(12), Some(3), Some(9));
    let interval = Interval { axis: Axis::RemoteMove, from: whole(4), to: whole(60) };
    let each: Vec<Curve> = (0..6)
        .map(|_| curve(&random_trace(&mut rng, 3, 40), 3, prices, true, interval).unwrap())
        .collect();
    let mut sum = Curve::default();
    each.iter().for_each(|c| sum += c.clone());
    for at in 4..=60u64 {
        let cost = |c: &Curve| {
            let pieces = c.pieces(interval);
            let piece = pieces.iter().find(|p| p.from <= whole(at) && whole(at) <= p.to).unwrap();
            piece.counts.cost(&prices, Axis::RemoteMove, whole(at)).unwrap().numerator()
        };
        assert_eq!(cost(&sum), each.iter().map(cost).sum::<u64>());
    }
}

#[test]
fn what_has_no_curve_is_refused() {
    let prices = Prices::whole(Some(5), Some(12), Some(3), Some(9));
    let trace = [crate::support::reference(0, true), crate::support::reference(1, true)];
    let fail = |axis, from: &str, to: &str| {
        let interval = Interval { axis, from: from.parse().unwrap(), to: to.parse().unwrap() };
        curve(&trace, 2, prices, true, interval).unwrap_err().to_string()
    };
    assert!(fail(Axis::RemoteReference, "2", "9").starts_with("at r = 2: "));
    assert!(fail(Axis::GlobalReference, "1", "11/2").starts_with("at g = 11/2: "));
    assert!(fail(Axis::RemoteMove, "9", "9").contains("must not be empty"));
}
