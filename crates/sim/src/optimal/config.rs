//! What to find out about the optimum.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;

/// Choices of a study of the optimum, beside those of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OptimalConfig {
    /// Machines, block sizes and so on; the policies must be off-line ones.
    #[schemars(extend("x-options-of" = "simulate"))]
    pub simulation: SimConfig,
    /// A price r, R, g or G and an interval, as in `R=59..400`: the whole curve of optimal cost
    /// against it, exact from break to break.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "P=FROM..TO", "x-default" = "none"))]
    pub curve: Option<String>,
    /// Replay every placement through equations 4.1 and 4.2, reference by reference, and compare.
    #[serde(default)]
    pub certify: bool,
}
