//! What to simulate.

use homenode_placement::{Private, Synchronisation};
use serde::{Deserialize, Serialize};

/// A matrix of machines, policies and block sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimConfig {
    /// Machines: names, TOML files, or `prices:r=15,R=59`.
    pub machines: Vec<String>,
    /// Policies: `name` or `name:parameter=value,...`.
    pub policies: Vec<String>,
    /// Block sizes in bytes.
    pub block_sizes: Vec<u64>,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// What to do with private references. If absent, machines with prices r and R count them as
    /// local, and page-coherence machines leave them out.
    #[serde(default)]
    pub private: Option<Private>,
    /// What to do with synchronisation references.
    #[serde(default)]
    pub sync: Synchronisation,
    /// If present, data are re-aligned to pages of each block size, by windows of so many
    /// references.
    #[serde(default)]
    pub realign: Option<u64>,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Whether to accept prices that break the rules of the model.
    #[serde(default)]
    pub force: bool,
    /// Bytes that histories may take at a time; 1.5 GB if absent. Does not change results.
    #[serde(default)]
    pub memory_budget_bytes: Option<u64>,
}

impl SimConfig {
    /// A matrix with everything else left at its default.
    #[must_use]
    pub fn new(machines: &[&str], policies: &[&str], block_sizes: &[u64]) -> Self {
        let own = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
        Self {
            machines: own(machines),
            policies: own(policies),
            block_sizes: block_sizes.to_vec(),
            processors: None,
            private: None,
            sync: Synchronisation::default(),
            realign: None,
            threads: None,
            force: false,
            memory_budget_bytes: None,
        }
    }
}
