//! What to find out about cache lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::{BusConfig, Contention};
use crate::references::{Inclusion, PrivateReferences};

/// Choices of a simulation that says where processors wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineConfig {
    /// The machine: one with cores and caches (`homenode list machines`), or a TOML file.
    #[serde(default = "machine")]
    #[schemars(extend("x-flag" = "--machine"))]
    pub machine: String,
    /// The coherence protocol (`homenode list protocols`).
    #[serde(default = "protocol")]
    pub protocol: String,
    /// Processors; thread i runs on i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Bytes in a line.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the machine's"))]
    pub block_size: Option<u64>,
    /// What to do with references that the trace calls private.
    #[serde(default)]
    pub private: PrivateReferences,
    /// What to do with references to synchronisation variables: to a cache a lock is a word like
    /// any other.
    #[serde(default = "Inclusion::include")]
    pub sync: Inclusion,
    /// Whether messages wait for each other at memories and between sockets.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's"))]
    pub contention: Option<Contention>,
    /// How many objects to name.
    #[serde(default = "count")]
    #[schemars(range(min = 0), extend("x-flag" = "--top"))]
    pub count: usize,
    /// Cores to use; the result does not depend on it.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
}

fn machine() -> String {
    "spr-2s-lines".to_owned()
}

fn protocol() -> String {
    "mesi".to_owned()
}

fn count() -> usize {
    20
}

impl LineConfig {
    /// The choices for a machine.
    pub(crate) fn new(machine: &str) -> Self {
        Self {
            machine: machine.to_owned(),
            protocol: protocol(),
            processors: None,
            block_size: None,
            private: PrivateReferences::default(),
            sync: Inclusion::Include,
            contention: None,
            count: count(),
            threads: None,
        }
    }

    /// The same as a simulation of a machine with caches.
    pub(super) fn simulation(&self) -> BusConfig {
        BusConfig {
            machines: vec![self.machine.clone()],
            protocols: vec![self.protocol.clone()],
            block_sizes: self.block_size.into_iter().collect(),
            processors: self.processors,
            private: self.private,
            sync: self.sync,
            fetches: Inclusion::Exclude,
            contention: self.contention,
            threads: self.threads,
            ..BusConfig::default()
        }
    }
}
