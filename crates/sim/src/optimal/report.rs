//! What was found, as the command line prints it.

use homenode_base::BlockSize;
use homenode_machine::{PriceList, Prices};
use homenode_optimal::{Axis, Certificate, CertificateError, Counts, Curve, Interval, Ratio};
use serde::Serialize;

use super::{FAULTS_MAX, Found, Moves, Wanted};
use crate::pass::source::TraceSource;
use crate::placement::outcome::{Outcome, Provenance, assemble as outcomes};
use crate::placement::plan::Plan;
use crate::placement::run::SizeCounts;

/// The optimum of every machine, policy and block size.
#[derive(Clone, Debug, Serialize)]
pub struct OptimalReport {
    /// In the order of the configuration.
    pub outcomes: Vec<OptimalRow>,
    /// What they follow from.
    pub provenance: Provenance,
}

/// The optimum at one point.
#[derive(Clone, Debug, Serialize)]
pub struct OptimalRow {
    /// As in a simulation.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// How blocks move.
    pub moves_per_block: Moves,
    /// The replay of the placement, if it was asked for.
    pub certificate: Option<Certified>,
    /// Cost against one price, if it was asked for.
    pub curve: Option<CurveReport>,
}

/// Placements replayed through equations 4.1 and 4.2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Certified {
    /// Blocks whose placement costs and moves as was said.
    pub blocks: u64,
    /// Their references, each priced.
    pub references: u64,
    /// Blocks whose placement does not.
    pub failed: u64,
    /// What is wrong with the first of them.
    pub faults: Vec<String>,
}

impl Certified {
    pub(super) fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.references += other.references;
        self.failed += other.failed;
        self.faults.extend(other.faults);
        self.faults.truncate(FAULTS_MAX);
    }

    /// Takes the replay of one block down.
    pub(super) fn block(
        &mut self,
        (number, size): (u64, BlockSize),
        (found, cost, moves): (Result<Certificate, CertificateError>, Option<u128>, u64),
    ) {
        let fault = match found {
            Ok(c) if c.cost == cost && (cost.is_none() || c.moves == moves) => {
                self.blocks += 1;
                self.references += c.references;
                return;
            }
            Ok(c) => {
                let shown = |cost: Option<u128>| cost.map_or("inf".to_owned(), |c| c.to_string());
                let (replayed, said) = (shown(c.cost), shown(cost));
                format!("replayed cost {replayed}, moves {}; said {said}, {moves}", c.moves)
            }
            Err(error) => error.to_string(),
        };
        self.failed += 1;
        if self.faults.len() < FAULTS_MAX {
            let address = number.saturating_mul(size.bytes());
            self.faults.push(format!("block 0x{address:x}: {fault}"));
        }
    }
}

/// Optimal cost against one price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurveReport {
    /// r, R, g or G.
    pub price: &'static str,
    /// The pieces, in order; none if no placement is finite.
    pub pieces: Vec<CurvePiece>,
}

/// A straight piece: from one end to the other the same placement is optimal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CurvePiece {
    /// Where it begins, in units of a local reference.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Where it begins, exactly: `16` or `31/2`.
    pub exact_from: String,
    /// Where it ends, exactly.
    pub exact_to: String,
    /// How often the price is paid: how steep the piece is.
    pub slope: i64,
    /// Total cost at its beginning.
    pub cost_from: Option<f64>,
    /// Total cost at its end.
    pub cost_to: Option<f64>,
    /// Mean cost per reference at its beginning.
    pub mcpr_from: Option<f64>,
    /// Mean cost per reference at its end.
    pub mcpr_to: Option<f64>,
    /// References by the price they pay, and moves.
    pub counts: PieceCounts,
}

/// What a placement pays.
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

/// Puts everything together.
pub(super) fn assemble<T: TraceSource + ?Sized>(
    plan: &Plan,
    counts: &[SizeCounts],
    found: &[Vec<Found>],
    (wanted, trace): (Wanted, &T),
) -> OptimalReport {
    let simulation = outcomes(plan, counts, trace);
    let mut points = Vec::new();
    for m in 0..plan.machines.len() {
        for p in 0..plan.policies.len() {
            points.extend((0..plan.sizes.len()).map(|s| (m, p, s)));
        }
    }
    let row = |((m, p, s), outcome): ((usize, usize, usize), Outcome)| {
        let found = &found[s][plan.sizes[s].job[m][p]];
        let outside = counts[s].outside.accesses();
        let curve = match (&plan.sizes[s].prices[m], wanted.curve) {
            (PriceList::Placement(prices), Some(interval)) => {
                Some(curve((&found.curve, interval), prices, (outside, outcome.accesses)))
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
    (curve, interval): (&Curve, Interval),
    prices: &Prices,
    (outside, accesses): (u64, u64),
) -> CurveReport {
    let axis = interval.axis;
    let price = Axis::ALL.iter().find(|a| a.0 == axis).map_or("", |a| a.1);
    let outside = i64::try_from(outside).unwrap_or(i64::MAX);
    #[expect(clippy::cast_precision_loss, reason = "a mean is a rounded figure")]
    let mean = |cost: Ratio| cost.as_f64() / accesses as f64;
    let piece = |p: homenode_optimal::Piece| {
        let mut counts = p.counts;
        counts += Counts([outside, 0, 0, 0, 0]);
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
