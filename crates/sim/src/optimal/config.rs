//! Options of `optimal`.

use homenode_optimal::{Axis, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{SimResult, config_error};
use crate::placement::SimConfig;

/// Options of a study of the optimum, in addition to those of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptimalConfig {
    /// Machines, block sizes and so on; the policies must be off-line policies.
    #[schemars(extend("x-options-of" = "simulate"))]
    pub simulation: SimConfig,
    /// A price r, R, g or G and an interval, as in `R=59..400`: compute the exact, piecewise linear
    /// curve of optimal cost against this price.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "P=FROM..TO", "x-default" = "none"))]
    pub curve: Option<String>,
    /// Replay every placement with equations 4.1 and 4.2, reference by reference, and compare the
    /// costs.
    #[serde(default)]
    pub certify: bool,
}

/// Reads `R=59..400`.
pub(super) fn interval(text: &str) -> SimResult<Interval> {
    let fail = |what: String| {
        config_error(format!(
            "--curve {text:?}: {what}; write it as in R=59..400, r=2..100/3 or g=1.5..4"
        ))
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
