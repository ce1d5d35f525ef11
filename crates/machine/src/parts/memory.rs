//! Memory.

use serde::Deserialize;

/// Memory as files describe it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemoryModel {
    /// Bytes in a page.
    pub(crate) page_bytes: u64,
}

/// Largest page, as large as the largest block.
const PAGE_BYTES_MAX: u64 = 1 << 30;

impl MemoryModel {
    pub(crate) fn checked(self) -> Result<Self, String> {
        if self.page_bytes.is_power_of_two() && self.page_bytes <= PAGE_BYTES_MAX {
            return Ok(self);
        }
        Err(format!(
            "memory.page_bytes is {}: expected a power of two, at most {PAGE_BYTES_MAX}",
            self.page_bytes
        ))
    }
}
