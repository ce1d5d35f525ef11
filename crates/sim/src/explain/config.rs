//! What to explain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choices of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainConfig {
    /// Coherence protocols (`homenode list protocols`), with parameters as in
    /// `pscr:private_kernel=yes`.
    #[schemars(extend("x-value" = "protocols", "x-argument" = true, "x-flag" = null))]
    pub protocols: Vec<String>,
    /// The machine whose prices, and with a trace whose caches, are used.
    #[serde(default = "machine")]
    #[schemars(extend("x-metavar" = "M"))]
    pub machine: String,
    /// What to walk through (`homenode list examples`), not with a trace.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "NAME",
        "x-default" = "the protocol's own, `tour` where there are several protocols"))]
    pub example: Option<String>,
    /// Most references of a trace to walk through.
    #[serde(default = "references")]
    #[schemars(range(min = 1))]
    pub references: usize,
    /// Blocks of a trace to follow, each by any address in it.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--block", "x-value" = "addresses", "x-default" =
        "the first one that several processors reference and one of them writes"))]
    pub blocks: Vec<u64>,
    /// Processors; thread i runs on i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "those of the example or trace"))]
    pub processors: Option<u16>,
    /// Bytes in each cache.
    #[serde(default)]
    #[schemars(extend("x-value" = "cache-size", "x-metavar" = "SIZE",
        "x-default" = "one block with an example, else the machine's"))]
    pub cache_size: Option<u64>,
    /// Blocks in a set.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-metavar" = "A",
        "x-default" = "1 with an example, else the machine's"))]
    pub associativity: Option<u64>,
    /// Bytes in a block.
    #[serde(default)]
    #[schemars(extend("x-value" = "block-size", "x-metavar" = "B",
        "x-default" = "16 with an example, else the machine's"))]
    pub block_size: Option<u64>,
    /// Private areas beside those of the references, each with its first byte and one past the
    /// last, as in 0x1000-0x2000.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--private-range", "x-value" = "address-ranges",
        "x-default" = "none"))]
    pub private_ranges: Vec<(u64, u64)>,
}

fn machine() -> String {
    "bus-smp".to_owned()
}

fn references() -> usize {
    30
}
