//! What to give advice for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;

/// Choices of advice: those of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviceConfig {
    /// The machines, policies and block sizes. Advice is given for each combination by itself.
    #[schemars(extend("x-options-of" = "simulate"))]
    pub simulation: SimConfig,
}
