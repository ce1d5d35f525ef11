//! What to explain.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choices of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainConfig {
    /// Coherence protocols (`homenode list protocols`, `homenode list directory-protocols`), with
    /// parameters as in `pscr:private_kernel=yes`; all of a bus, or all with a directory.
    #[schemars(extend("x-value" = "protocols", "x-argument" = true, "x-flag" = null))]
    pub protocols: Vec<String>,
    /// The machine whose prices, and with a trace whose caches, are used.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "M",
        "x-default" =
        "`bus-smp`; with a directory `dash-mesh`, or `alite` where that is a list of copies"))]
    pub machine: Option<String>,
    /// With a directory: which node is the home of a page (`homenode list homes`).
    #[serde(default)]
    #[schemars(extend("x-metavar" = "HOME", "x-default" = "`first-touch`"))]
    pub home: Option<String>,
    /// With lists of copies: which reads go by a proxy (`homenode list proxies`).
    #[serde(default)]
    #[schemars(extend("x-metavar" = "WAY", "x-default" = "`none`"))]
    pub proxies: Option<String>,
    /// With lists of copies: how many messages may wait at a controller before it sends reads back,
    /// where references are under way together (`&` in an example); or `infinite`.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "N", "x-default" = "`infinite`"))]
    pub buffers: Option<String>,
    /// What to walk through, not with a trace: a name (`homenode list examples`), or references as
    /// in `"0 W a0; 1 R a0"`, each a processor, R or W, and a word from a0 to d3, with p for a
    /// private area; with lists of copies also & if the next one begins meanwhile.
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
    /// Processors, or nodes; thread i runs on i mod their number.
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

fn references() -> usize {
    30
}
