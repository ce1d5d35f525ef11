//! Results of `optimal` as they are reported.

use homenode_machine::{PriceList, Prices};
use homenode_optimal::{Axis, Curve, Interval, MoveHistogram, PriceCounts, Ratio};
use serde::Serialize;

use super::findings::CertificateSummary;
use super::findings::{OptimumFindings, OptimumRequest};
use crate::pass::TraceSource;
use crate::placement::{
    MatrixPlan, PlacementOutcome, PlacementProvenance, SizeCounts, assemble as outcomes,
};

/// The optimum of every machine, policy and block size.
#[derive(Clone, Debug, Serialize)]
pub struct OptimalReport {
    /// In the order of the configuration.
    pub outcomes: Vec<OptimalRow>,
    /// Their provenance.
    pub provenance: PlacementProvenance,
}

/// The optimum at one point.
#[derive(Clone, Debug, Serialize)]
pub struct OptimalRow {
    /// The same as in a simulation.
    #[serde(flatten)]
    pub outcome: PlacementOutcome,
    /// Histogram of moves by block.
    pub moves_per_block: MoveHistogram,
    /// The replay of the placement, if requested.
    pub certificate: Option<CertificateSummary>,
    /// Cost against one price, if requested.
    pub curve: Option<CurveReport>,
}

/// Optimal cost against one price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveReport {
    /// r, R, g or G.
    pub price: &'static str,
    /// The pieces, in order; empty if no placement has finite cost.
    pub pieces: Vec<CurvePiece>,
}

/// A linear piece, on which one placement is optimal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePiece {
    /// Its start, in units of a local reference.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Its start, exactly: `16` or `31/2`.
    pub exact_from: String,
    /// Its end, exactly.
    pub exact_to: String,
    /// Its slope: how often the placement pays the price.
    pub slope: i64,
    /// Total cost at its start.
    pub cost_from: Option<f64>,
    /// Total cost at its end.
    pub cost_to: Option<f64>,
    /// Mean cost per reference at its start.
    pub mcpr_from: Option<f64>,
    /// Mean cost per reference at its end.
    pub mcpr_to: Option<f64>,
    /// References by price, and moves.
    pub counts: PieceCounts,
}

/// How often a placement pays each price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PieceCounts {
    /// Price 1.
    pub local: i64,
    /// Price r.
    pub remote: i64,
    /// Price g.
    pub global: i64,
    /// Price R.
    pub remote_moves: i64,
    /// Price G.
    pub global_moves: i64,
}

pub(super) fn assemble(
    plan: &MatrixPlan,
    counts: &[SizeCounts],
    found: &[Vec<OptimumFindings>],
    wanted: OptimumRequest,
    trace: &dyn TraceSource,
) -> OptimalReport {
    let simulation = outcomes(plan, counts, trace);
    let mut points = Vec::new();
    for m in 0..plan.machines.len() {
        for p in 0..plan.policies.len() {
            points.extend((0..plan.sizes.len()).map(|s| (m, p, s)));
        }
    }
    let row = |((m, p, s), outcome): ((usize, usize, usize), PlacementOutcome)| {
        let found = &found[s][plan.sizes[s].job[m][p]];
        let outside = counts[s].totals.outside.accesses();
        let curve = match (&plan.sizes[s].prices[m], wanted.curve) {
            (PriceList::Placement(prices), Some(interval)) => {
                Some(curve(&found.curve, interval, prices, outside, outcome.accesses))
            }
            (PriceList::Placement(_) | PriceList::PageCoherence(_), _) => None,
        };
        OptimalRow {
            moves_per_block: found.moves.clone(),
            certificate: wanted.certify.then(|| found.certified.clone()),
            curve,
            outcome,
        }
    };
    OptimalReport {
        outcomes: points.into_iter().zip(simulation.outcomes).map(row).collect(),
        provenance: simulation.provenance,
    }
}

fn curve(
    curve: &Curve,
    interval: Interval,
    prices: &Prices,
    outside: u64,
    accesses: u64,
) -> CurveReport {
    let axis = interval.axis;
    let price = Axis::ALL.iter().find(|a| a.0 == axis).map_or("", |a| a.1);
    let outside = i64::try_from(outside).unwrap_or(i64::MAX);
    #[expect(clippy::cast_precision_loss, reason = "a mean is a rounded figure")]
    let mean = |cost: Ratio| cost.as_f64() / accesses as f64;
    let piece = |p: homenode_optimal::LinePiece| {
        let mut counts = p.counts;
        counts += PriceCounts([outside, 0, 0, 0, 0]);
        let [local, remote, remote_moves, global, global_moves] = counts.0;
        let cost = |at| counts.cost(prices, axis, at);
        CurvePiece {
            from: p.from.as_f64(),
            to: p.to.as_f64(),
            exact_from: p.from.to_string(),
            exact_to: p.to.to_string(),
            slope: counts.slope(axis),
            cost_from: cost(p.from).map(Ratio::as_f64),
            cost_to: cost(p.to).map(Ratio::as_f64),
            mcpr_from: cost(p.from).filter(|_| accesses > 0).map(mean),
            mcpr_to: cost(p.to).filter(|_| accesses > 0).map(mean),
            counts: PieceCounts { local, remote, global, remote_moves, global_moves },
        }
    };
    let pieces = if curve.infinite { Vec::new() } else { curve.pieces(interval) };
    CurveReport { price, pieces: pieces.into_iter().map(piece).collect() }
}
