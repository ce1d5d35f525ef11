//! Options of `advise`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::Contention;
use crate::placement::SimConfig;

/// Options of advice, in addition to those of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviceConfig {
    /// The machines, policies and block sizes. Each combination gets advice of its own.
    #[schemars(extend("x-options-of" = "simulate"))]
    pub simulation: SimConfig,
    /// Contention at memories and between sockets, on machines with a clock.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub contention: Option<Contention>,
}

impl AdviceConfig {
    /// Advice for the machines as described, with their own contention.
    #[must_use]
    pub const fn new(simulation: SimConfig) -> Self {
        Self { simulation, contention: None }
    }
}
