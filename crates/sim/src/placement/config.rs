//! Options of placement simulations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::{Inclusion, PrivateReferences};

/// Options of a placement simulation: a matrix of machines, policies and block sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimConfig {
    /// Machines: names (`homenode list machines`), TOML files, or inline prices, as in
    /// `prices:r=15,R=59`.
    #[schemars(extend("x-flag" = "--machine", "x-value" = "machines", "x-argument" = true))]
    pub machines: Vec<String>,
    /// Policies (`homenode list policies`), with parameters as in `delay:n=50,limit=2`.
    #[schemars(extend("x-flag" = "--policy", "x-value" = "policies", "x-argument" = true,
        "x-default" = "all that the machines can run"))]
    pub policies: Vec<String>,
    /// Block sizes in bytes: 64, 4K, 8KB, or a doubling range such as 64-8192.
    #[schemars(extend("x-flag" = "--block-size", "x-value" = "block-sizes", "x-argument" = true))]
    pub block_sizes: Vec<u64>,
    /// Processors; thread i runs on processor i modulo this number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the machine's, if it has a \
        fixed number, as spr-2s has; else the trace's threads"))]
    pub processors: Option<u16>,
    /// How to treat references to private memory: `local` keeps them out of every history.
    #[serde(default)]
    #[schemars(extend(
        "x-default" = "`exclude` on page-coherence machines such as markatos, else `local`"))]
    pub private: Option<PrivateReferences>,
    /// How to treat references to synchronisation variables; excluded in Bolosky's thesis (§2.3.1).
    #[serde(default = "Inclusion::exclude")]
    pub sync: Inclusion,
    /// Count references in words of this many bytes, a power of two from 1 to 64: a reference that
    /// touches several words counts as one reference to each. Bolosky's word has 4 bytes
    /// (§4.1.2).
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-metavar" = "W", "x-default" = "as recorded"))]
    pub word_bytes: Option<u64>,
    /// Simulate only the references that miss a cache at each processor, given as size, ways and
    /// block size, as in `2M:16:64`; `none` simulates every reference.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "SIZE:WAYS:BLOCK", "x-default" = "the machine's last-level \
        cache, if it describes one, as spr-2s does; else `none`, as for a trace of misses and in \
        `sharing`"))]
    pub filter: Option<String>,
    /// First move words that one thread uses away from pages that several threads share, for each
    /// block size, as `homenode transform realign` does, in windows of this many references;
    /// 1000000 if the number is omitted.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-value" = "window", "x-default" = "no"))]
    pub realign: Option<u64>,
    /// Cores to use; the result does not depend on it.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
    /// Accept prices that violate the cost model.
    #[serde(default)]
    pub force: bool,
    /// Memory budget of histories, in bytes; the result does not depend on it.
    #[serde(default)]
    #[schemars(extend("x-internal" = true, "x-default" = "1.5 GB"))]
    pub memory_budget_bytes: Option<u64>,
}

impl SimConfig {
    /// A matrix with defaults for all other options.
    #[must_use]
    pub fn new(machines: &[&str], policies: &[&str], block_sizes: &[u64]) -> Self {
        let own = |list: &[&str]| list.iter().map(|&s| s.to_owned()).collect();
        Self {
            machines: own(machines),
            policies: own(policies),
            block_sizes: block_sizes.to_vec(),
            processors: None,
            private: None,
            sync: Inclusion::Exclude,
            word_bytes: None,
            filter: None,
            realign: None,
            threads: None,
            force: false,
            memory_budget_bytes: None,
        }
    }
}
