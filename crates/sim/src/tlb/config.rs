//! Options of `tlb`.

use homenode_tlb::{Entry, TABLE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;
use crate::references::Inclusion;

/// Options of a TLB study: TLBs and page sizes whose misses are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// TLBs: names (`homenode list tlbs`), a name with parameters as in `r4000:cost=12`, or only
    /// parameters as in `entries=64,ways=4,paired=no`.
    #[schemars(extend("x-flag" = "--tlb", "x-value" = "texts", "x-metavar" = "T[,T...]",
        "x-argument" = true, "x-default" = "all six designs"))]
    pub tlbs: Vec<String>,
    /// Page sizes in bytes: 512, 4K, or a doubling range.
    #[schemars(extend("x-flag" = "--page-size", "x-value" = "block-sizes", "x-argument" = true,
        "x-default" = "128-8192"))]
    pub page_sizes: Vec<u64>,
    /// Processors, each with a TLB; thread i runs on processor i modulo this number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// How to treat references to private memory; counted in Bolosky's thesis (§6.3.2).
    #[serde(default = "Inclusion::include")]
    pub private: Inclusion,
    /// How to treat references to synchronisation variables; excluded in Bolosky's thesis (§2.3.1).
    #[serde(default = "Inclusion::exclude")]
    pub sync: Inclusion,
    /// Count references in words of this many bytes, a power of two from 1 to 64: a reference that
    /// touches several words counts as one reference to each. Bolosky's word has 4 bytes
    /// (§4.1.2).
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
    /// blocks: a name, a TOML file, or inline prices as in `prices:r=15,R=59`.
    #[schemars(extend("x-metavar" = "M", "x-default" = "no correction"))]
    pub machine: String,
    /// The policy whose mean cost per reference is corrected.
    #[serde(default = "optimal")]
    #[schemars(extend("x-metavar" = "P"))]
    pub policy: String,
    /// Accept prices that violate the cost model.
    #[serde(default)]
    pub force: bool,
}

fn optimal() -> String {
    "optimal".to_owned()
}

impl TlbConfig {
    pub(super) fn simulation(&self, correction: &McprCorrection) -> SimConfig {
        SimConfig {
            processors: self.processors,
            private: Some(self.private.into()),
            sync: self.sync,
            threads: self.threads,
            force: correction.force,
            // TLB misses are counted for all references, so the simulation must include all of
            // them.
            filter: Some("none".to_owned()),
            ..SimConfig::new(&[&correction.machine], &[&correction.policy], &self.page_sizes)
        }
    }
}

/// One row of the list of TLBs.
#[derive(Clone, Debug, Serialize)]
pub struct TlbRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Total number of entries.
    pub entries: u32,
    /// Number of sets.
    pub sets: u32,
    /// Entries per set.
    pub ways: u32,
    /// Whether an entry holds two adjacent translations.
    pub paired: bool,
    /// Cost of a miss in local references; `null` if Bolosky's thesis does not give it.
    pub miss_cost: Option<f64>,
}

/// All TLBs.
#[must_use]
pub fn tlb_rows() -> Vec<TlbRow> {
    let row = |entry: &Entry| TlbRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        entries: entry.geometry.entries,
        sets: entry.geometry.sets(),
        ways: entry.geometry.ways,
        paired: entry.geometry.paired,
        miss_cost: entry.miss_cost,
    };
    TABLE.iter().map(row).collect()
}
