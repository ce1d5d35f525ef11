//! What to explain.

use serde::{Deserialize, Serialize};

/// What to explain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExplainConfig {
    /// Protocols: `name` or `name:parameter=yes`.
    pub protocols: Vec<String>,
    /// The machine whose prices, and with a trace whose caches, are used.
    pub machine: String,
    /// An example; that of the protocols if absent. Not with a trace.
    #[serde(default)]
    pub example: Option<String>,
    /// Processors; the example's or the trace's threads if absent.
    #[serde(default)]
    pub processors: Option<u16>,
    /// Bytes in each cache; the example's or the machine's if absent.
    #[serde(default)]
    pub cache_size: Option<u64>,
    /// Blocks in a set; the example's or the machine's if absent.
    #[serde(default)]
    pub associativity: Option<u64>,
    /// Bytes in a block; the example's or the machine's if absent.
    #[serde(default)]
    pub block_size: Option<u64>,
    /// Private areas beside those of the references: first byte, and one past the last.
    #[serde(default)]
    pub private_ranges: Vec<(u64, u64)>,
    /// Most references of a trace to walk through.
    pub references: usize,
    /// Addresses in the blocks of a trace that are followed; the first block that several
    /// processors reference and one of them writes if there is none.
    #[serde(default)]
    pub blocks: Vec<u64>,
}
