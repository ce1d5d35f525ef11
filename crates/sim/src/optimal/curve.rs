//! Parses the price and interval of a curve.

use homenode_optimal::{Axis, CurveSolver, Interval};
use homenode_placement::PlacementSetup;

use crate::error::SimError;
use crate::placement::MatrixPlan;

/// Whether an off-line policy replicates; `None` for other policies.
pub(super) fn replicates(name: &str) -> Option<bool> {
    match name {
        "optimal" => Some(true),
        "optimal-no-replication" => Some(false),
        _ => None,
    }
}

/// The solver of the curve of one job.
pub(super) fn curve_solver(
    plan: &MatrixPlan,
    policy: usize,
    setup: &PlacementSetup,
    interval: Interval,
) -> Result<CurveSolver, SimError> {
    let replicate = replicates(plan.policies[policy].entry.name).unwrap_or(true);
    Ok(CurveSolver::new(setup, replicate, interval)?)
}

/// Reads `R=59..400`.
pub(super) fn interval(text: &str) -> Result<Interval, SimError> {
    let fail = |what: String| SimError::Config {
        problem: format!(
            "--curve {text:?}: {what}; write it as in R=59..400, r=2..100/3 or g=1.5..4"
        ),
    };
    let (letter, ends) =
        text.split_once('=').ok_or_else(|| fail("there is no = in it".to_owned()))?;
    let axis = Axis::ALL.iter().find(|(_, known)| *known == letter.trim());
    let (axis, _) = axis.ok_or_else(|| fail(format!("{letter:?} is none of r, R, g, G")))?;
    let (from, to) =
        ends.split_once("..").ok_or_else(|| fail("there is no .. in it".to_owned()))?;
    let number = |end: &str| end.trim().parse().map_err(|e| fail(format!("{e}")));
    Ok(Interval { axis: *axis, from: number(from)?, to: number(to)? })
}
