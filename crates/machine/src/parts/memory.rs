//! Memory.

use serde::Deserialize;

use super::sourced;

/// Memory as files describe it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryModel {
    /// Bytes in a page.
    #[serde(deserialize_with = "sourced")]
    pub(crate) page_bytes: u64,
}
