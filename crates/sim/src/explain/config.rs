//! Options of `explain`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Options of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainConfig {
    /// Coherence protocols (`homenode list protocols`, `homenode list directory-protocols`), with
    /// parameters as in `pscr:private_kernel=yes`; all of them on a bus, or all with a directory.
    #[schemars(extend("x-value" = "protocols", "x-argument" = true, "x-flag" = null))]
    pub protocols: Vec<String>,
    /// The machine whose prices, and with a trace whose caches, are used.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "M",
        "x-default" =
        "`bus-smp`; with a directory `dash-mesh`, or `alite` where that is a list of copies"))]
    pub machine: Option<String>,
    /// Home policy of pages, with a directory (`homenode list homes`).
    #[serde(default)]
    #[schemars(extend("x-metavar" = "HOME", "x-default" = "`first-touch`"))]
    pub home: Option<String>,
    /// Proxy policy, with lists of copies (`homenode list proxies`).
    #[serde(default)]
    #[schemars(extend("x-metavar" = "WAY", "x-default" = "`none`"))]
    pub proxies: Option<String>,
    /// With lists of copies: messages that a controller can queue before it sends reads back, if
    /// references overlap (`&` in an example); or `infinite`.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "N", "x-default" = "`infinite`"))]
    pub buffers: Option<String>,
    /// The walk's references, without a trace: the name of an example (`homenode list examples`),
    /// or references as in `"0 W a0; 1 R a0"`, each a processor, R or W, and a word from a0 to d3,
    /// with p for a private area; with lists of copies also & if the next reference begins before
    /// this one ends.
    #[serde(default)]
    #[schemars(extend("x-metavar" = "NAME",
        "x-default" = "the protocol's own, `tour` where there are several protocols"))]
    pub example: Option<String>,
    /// Most references of a trace in a walk.
    #[serde(default = "references")]
    #[schemars(range(min = 1))]
    pub references: usize,
    /// Blocks of a trace to follow, each given by any address in it.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--block", "x-value" = "addresses", "x-default" =
        "the first one that several processors reference and one of them writes"))]
    pub blocks: Vec<u64>,
    /// Processors, or nodes; thread i runs on processor i modulo this number.
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
    /// Private areas in addition to those of the references, each as its first byte and the byte
    /// after its last one, as in 0x1000-0x2000.
    #[serde(default)]
    #[schemars(extend("x-flag" = "--private-range", "x-value" = "address-ranges",
        "x-default" = "none"))]
    pub private_ranges: Vec<(u64, u64)>,
}

fn references() -> usize {
    30
}
