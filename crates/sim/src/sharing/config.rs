//! Options of `sharing`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::Contention;
use crate::placement::SimConfig;

/// Options of a study of sharing, in addition to those of a simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharingConfig {
    /// Machines, block sizes and the treatment of references; the only policy is the optimum.
    #[schemars(extend("x-options-of" = "simulate"))]
    pub simulation: SimConfig,
    /// The block size at which to list objects, blocks and source lines; 0 lists none.
    #[serde(default)]
    #[schemars(extend("x-value" = "block-size", "x-metavar" = "B",
        "x-default" = "64 where it is among the block sizes, else the one in the middle"))]
    pub detail: Option<u64>,
    /// How many objects, blocks and source lines to list.
    #[serde(default = "count")]
    #[schemars(range(min = 0), extend("x-flag" = "--top", "x-command-line-default" = 10))]
    pub count: usize,
    /// Home policy of pages on machines with a directory (`homenode list homes`).
    #[serde(default)]
    #[schemars(extend("x-default" = "first-touch"))]
    pub home: Option<String>,
    /// Contention at memories and between sockets, on machines with a clock.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub contention: Option<Contention>,
    /// Cost of a merge at the end of a false sharing interval, in block moves.
    #[serde(default = "one")]
    #[schemars(range(min = 1), extend("x-flag" = "--merge", "x-metavar" = "K"))]
    pub merge_transfers: u64,
}

impl SharingConfig {
    /// A study of a simulation, without details.
    #[must_use]
    pub fn new(simulation: SimConfig) -> Self {
        Self {
            simulation,
            detail: None,
            count: count(),
            home: None,
            contention: None,
            merge_transfers: one(),
        }
    }
}

fn count() -> usize {
    20
}

fn one() -> u64 {
    1
}
