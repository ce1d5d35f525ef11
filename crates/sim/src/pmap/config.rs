//! What to run the page manager with.

use homenode_placement::{Private, Synchronisation};
use homenode_pmap::OwnerCopy;
use serde::{Deserialize, Serialize};

/// What to run the page manager with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PmapConfig {
    /// Bytes in a page.
    pub page_size: u64,
    /// Page policy by name.
    pub policy: String,
    /// Invalidations allowed before a page is pinned.
    pub limit: u64,
    /// What becomes of the owner's copy when another processor reads.
    #[serde(default)]
    pub owner_copy: OwnerCopy,
    /// Kernel costs that differ from their defaults: `name=microseconds`.
    #[serde(default)]
    pub costs: Vec<String>,
    /// How many of the busiest pages to report.
    pub count: usize,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// What to do with private references.
    #[serde(default)]
    pub private: Private,
    /// What to do with synchronisation references.
    #[serde(default)]
    pub sync: Synchronisation,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Bytes that histories may take at a time; 1.5 GB if absent. Does not change results.
    #[serde(default)]
    pub memory_budget_bytes: Option<u64>,
}
