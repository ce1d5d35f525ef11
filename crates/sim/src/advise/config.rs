//! What to give advice for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::Contention;
use crate::placement::SimConfig;

/// Choices of advice, beside those of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviceConfig {
    /// The machines, policies and block sizes. Advice is given for each combination by itself.
    #[schemars(extend("x-options-of" = "simulate"))]
    pub simulation: SimConfig,
    /// Whether messages wait for each other at memories and between sockets, on machines with a
    /// clock.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub contention: Option<Contention>,
}

impl AdviceConfig {
    /// Advice for the machines as they are.
    #[must_use]
    pub const fn new(simulation: SimConfig) -> Self {
        Self { simulation, contention: None }
    }
}
