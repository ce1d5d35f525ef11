//! Options of the page manager.

use homenode_pmap::OwnerCopy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{Inclusion, PrivateReferences};

/// Options of the page manager.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PmapConfig {
    /// Bytes in a page.
    #[schemars(extend("x-value" = "block-size", "x-metavar" = "B", "x-argument" = true))]
    pub page_size: u64,
    /// Page policy (`homenode list page-policies`).
    #[schemars(extend("x-metavar" = "P", "x-argument" = true))]
    pub policy: String,
    /// Invalidations allowed before a page is pinned in global memory.
    #[schemars(extend("x-argument" = true))]
    pub limit: u64,
    /// State of the writer's copy of a page after another processor reads the page.
    pub owner_copy: OwnerCopy,
    /// Free the frames of a page when its mapping is removed, as `pmap_free_page` does; else a page
    /// keeps them to the end.
    pub free_unmapped: bool,
    /// Kernel costs in microseconds that replace the ACE's, as in `fault=500`.
    #[schemars(extend("x-flag" = "--cost", "x-value" = "costs", "x-default" = "the ACE's"))]
    pub costs: Vec<String>,
    /// How many of the busiest pages to report.
    #[schemars(range(min = 0), extend("x-flag" = "--pages"))]
    pub count: usize,
    /// Processors; thread i runs on processor i modulo this number.
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// How to treat references to private memory.
    pub private: PrivateReferences,
    /// How to treat references to synchronisation variables; excluded in Bolosky's thesis (§2.3.1).
    pub sync: Inclusion,
    /// Count references in words of this many bytes, a power of two from 1 to 64: a reference that
    /// touches several words counts as one reference to each. Bolosky's word has 4 bytes
    /// (§4.1.2).
    #[schemars(range(min = 1), extend("x-metavar" = "W", "x-default" = "as recorded"))]
    pub word_bytes: Option<u64>,
    /// Cores to use; the result does not depend on it.
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
    /// Memory budget of histories, in bytes; the result does not depend on it.
    #[schemars(extend("x-internal" = true, "x-default" = "1.5 GB"))]
    pub memory_budget_bytes: Option<u64>,
}

impl Default for PmapConfig {
    fn default() -> Self {
        Self {
            page_size: 4096,
            policy: "limit".to_owned(),
            limit: 4,
            owner_copy: OwnerCopy::default(),
            free_unmapped: false,
            costs: Vec::new(),
            count: 10,
            processors: None,
            // Private memory is managed like all other memory.
            private: PrivateReferences::Shared,
            sync: Inclusion::Exclude,
            word_bytes: None,
            threads: None,
            memory_budget_bytes: None,
        }
    }
}
