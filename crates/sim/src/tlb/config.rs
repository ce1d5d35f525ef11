//! What TLBs to count misses for.

use homenode_placement::{Private, Synchronisation};
use serde::{Deserialize, Serialize};

use crate::placement::SimConfig;

/// Whether private references are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Count them, as the thesis does (§6.3.2).
    #[default]
    Include,
    /// Leave them out.
    Exclude,
}

/// TLBs and page sizes to count misses for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// TLBs: names, or parameters as in `entries=64,ways=4`.
    pub tlbs: Vec<String>,
    /// Page sizes in bytes.
    pub page_sizes: Vec<u64>,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// What to do with private references.
    #[serde(default)]
    pub private: Counted,
    /// What to do with synchronisation references.
    #[serde(default)]
    pub sync: Synchronisation,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
    /// The mean cost per reference to correct for misses, if any.
    #[serde(default)]
    pub correct: Option<McprCorrection>,
}

/// A machine and a policy whose mean cost per reference is corrected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McprCorrection {
    /// The machine: a name, a TOML file, or `prices:r=15,R=59`.
    pub machine: String,
    /// The policy: `name` or `name:parameter=value,...`.
    pub policy: String,
    /// Whether to accept prices that break the rules of the model.
    #[serde(default)]
    pub force: bool,
}

impl TlbConfig {
    /// The simulation that a mean cost per reference comes from.
    pub(super) fn simulation(&self, correction: &McprCorrection) -> SimConfig {
        SimConfig {
            processors: self.processors,
            private: match self.private {
                Counted::Include => Some(Private::Local),
                Counted::Exclude => Some(Private::Exclude),
            },
            sync: self.sync,
            threads: self.threads,
            force: correction.force,
            ..SimConfig::new(&[&correction.machine], &[&correction.policy], &self.page_sizes)
        }
    }
}
