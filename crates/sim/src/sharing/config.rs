//! What to find out about false sharing.

use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;

/// What to find out about a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharingConfig {
    /// Machines, block sizes and the treatment of references; the only policy is the optimum.
    pub simulation: SimConfig,
    /// The block size at which objects, blocks and source lines are named; absent: none.
    #[serde(default)]
    pub detail: Option<u64>,
    /// How many objects, blocks and lines to name.
    #[serde(default)]
    pub count: usize,
    /// What merging at the end of a false sharing interval costs, in block moves; at least 1.
    #[serde(default = "one")]
    pub merge_transfers: u64,
}

fn one() -> u64 {
    1
}
