//! What to run the page manager with.

use homenode_pmap::OwnerCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{Inclusion, PrivateReferences};

/// Choices of the page manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PmapConfig {
    /// Bytes in a page.
    #[serde(default = "page_size")]
    #[schemars(extend("x-value" = "block-size", "x-metavar" = "B", "x-argument" = true))]
    pub page_size: u64,
    /// Page policy (`homenode list page-policies`).
    #[serde(default = "policy")]
    #[schemars(extend("x-metavar" = "P", "x-argument" = true))]
    pub policy: String,
    /// Invalidations allowed before a page is pinned in global memory.
    #[serde(default = "limit")]
    #[schemars(extend("x-argument" = true))]
    pub limit: u64,
    /// What becomes of the writer's copy of a page when another processor reads it.
    #[serde(default)]
    pub owner_copy: OwnerCopy,
    /// Kernel costs in microseconds that differ from the ACE's, as in `fault=500`.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--cost", "x-value" = "costs", "x-default" = "the ACE's"))]
    pub costs: Vec<String>,
    /// How many of the busiest pages to report.
    #[serde(default = "count")]
    #[schemars(range(min = 0), extend("x-flag" = "--pages"))]
    pub count: usize,
    /// Processors; thread i runs on i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// What to do with references to private memory.
    #[serde(default = "managed")]
    pub private: PrivateReferences,
    /// What to do with references to synchronisation variables; the thesis leaves them out
    /// (§2.3.1).
    #[serde(default = "Inclusion::exclude")]
    pub sync: Inclusion,
    /// Count references in words of so many bytes, a power of two from 1 to 64: one that touches
    /// several words is one reference to each. The thesis's reference is a word of 4 (§4.1.2).
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-metavar" = "W", "x-default" = "as recorded"))]
    pub word_bytes: Option<u64>,
    /// Cores to use; the result does not depend on it.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
    /// Bytes that histories may take at a time; the result does not depend on it.
    #[serde(default)]
    #[schemars(extend("x-internal" = true, "x-default" = "1.5 GB"))]
    pub memory_budget_bytes: Option<u64>,
}

fn page_size() -> u64 {
    4096
}

fn policy() -> String {
    "limit".to_owned()
}

fn limit() -> u64 {
    4
}

fn count() -> usize {
    10
}

/// Private memory is managed like all other.
fn managed() -> PrivateReferences {
    PrivateReferences::Shared
}
