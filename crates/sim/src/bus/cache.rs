//! Options that change a machine's caches.

use std::ops::Range;

use homenode_machine::CacheShape;

use crate::error::SimError;

/// The machine's cache, with the size, associativity and block size that the user gives instead.
pub(crate) fn resized(
    own: CacheShape,
    size_bytes: Option<u64>,
    associativity: Option<u64>,
    block_size_bytes: Option<u64>,
) -> CacheShape {
    CacheShape {
        size_bytes: size_bytes.unwrap_or(own.size_bytes),
        block_size_bytes: block_size_bytes.unwrap_or(own.block_size_bytes),
        associativity: associativity.unwrap_or(own.associativity),
    }
}

/// Private areas as ranges of addresses.
pub(crate) fn private_areas(ends: &[(u64, u64)]) -> Result<Vec<Range<u64>>, SimError> {
    if let Some(&(low, high)) = ends.iter().find(|(low, high)| low >= high) {
        let problem = format!(
            "private range {low:#x}-{high:#x}: expected the first byte and, after it, one past \
             the last"
        );
        return Err(SimError::Config { problem });
    }
    Ok(ends.iter().map(|&(low, high)| low..high).collect())
}
