//! What to find out about the optimum.

use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;

/// What to find out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimalConfig {
    /// Machines, block sizes and so on; the policies must be off-line ones.
    pub simulation: SimConfig,
    /// The price that varies and from where to where, as in `R=59..400`; no curve if absent.
    #[serde(default)]
    pub curve: Option<String>,
    /// Whether to replay every placement through equations 4.1 and 4.2.
    #[serde(default)]
    pub certify: bool,
}
