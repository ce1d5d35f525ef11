//! What to give advice for.

use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;

/// What to give advice for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdviceConfig {
    /// The machines, policies and block sizes. Advice is given for each combination by itself.
    pub simulation: SimConfig,
}
