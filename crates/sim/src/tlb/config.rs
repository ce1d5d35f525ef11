//! What TLBs to count misses for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;
use crate::references::Inclusion;

/// Choices of a TLB study: TLBs and page sizes to count misses for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// TLBs: names (`homenode list tlbs`), a name with parameters as in `r4000:cost=12`, or
    /// parameters alone as in `entries=64,ways=4,paired=no`.
    #[schemars(extend("x-flag" = "--tlb", "x-value" = "texts", "x-metavar" = "T[,T...]",
        "x-argument" = true, "x-default" = "all six designs"))]
    pub tlbs: Vec<String>,
    /// Page sizes in bytes: 512, 4K, or a doubling range.
    #[schemars(extend("x-flag" = "--page-size", "x-value" = "block-sizes", "x-argument" = true,
        "x-default" = "128-8192"))]
    pub page_sizes: Vec<u64>,
    /// Processors, each with a TLB; thread i runs on i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// What to do with references to private memory; the thesis counts them (§6.3.2).
    #[serde(default = "Inclusion::include")]
    pub private: Inclusion,
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
    /// The mean cost per reference to correct for misses, if any.
    #[serde(default)]
    #[schemars(extend("x-options-of" = "tlb-correction"))]
    pub correct: Option<McprCorrection>,
}

/// A machine and a policy whose mean cost per reference is corrected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct McprCorrection {
    /// The machine on which the mean cost per reference is corrected for misses, with pages as
    /// blocks: a name, a TOML file, or prices as in `prices:r=15,R=59`.
    #[schemars(extend("x-metavar" = "M", "x-default" = "no correction"))]
    pub machine: String,
    /// The policy whose mean cost per reference is corrected.
    #[serde(default = "optimal")]
    #[schemars(extend("x-metavar" = "P"))]
    pub policy: String,
    /// Accept prices that the cost model calls invalid.
    #[serde(default)]
    pub force: bool,
}

fn optimal() -> String {
    "optimal".to_owned()
}

impl TlbConfig {
    /// The simulation that a mean cost per reference comes from.
    pub(super) fn simulation(&self, correction: &McprCorrection) -> SimConfig {
        SimConfig {
            processors: self.processors,
            private: Some(self.private.into()),
            sync: self.sync,
            threads: self.threads,
            force: correction.force,
            // Misses of TLBs are counted of all references, so these must be the same.
            filter: Some("none".to_owned()),
            ..SimConfig::new(&[&correction.machine], &[&correction.policy], &self.page_sizes)
        }
    }
}
