//! Options of `optimal`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
