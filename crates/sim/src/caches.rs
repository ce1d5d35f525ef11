//! The caches selected by options that all machines with caches have.

use std::ops::Range;

use homenode_machine::CacheShape;

use crate::error::{SimResult, config_error};

/// Limit, in bytes, of the caches of all configurations together.
const MEMORY_MAX_BYTES: u64 = 8 << 30;
/// Bytes of the simulator's state for one block frame of a cache.
const FRAME_BYTES: u64 = 64;

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

/// The machine's cache in every given size, associativity and block size, in this order; an empty
/// list stands for the machine's own value, no associativity for a fully associative cache.
pub(crate) fn cache_shapes(
    own: CacheShape,
    sizes: &[u64],
    associativities: &[Option<u64>],
    block_sizes: &[u64],
) -> Vec<CacheShape> {
    let or_own = |given: &[u64], own| if given.is_empty() { vec![own] } else { given.to_vec() };
    let ways = match associativities {
        [] => vec![Some(own.associativity)],
        given => given.to_vec(),
    };
    let mut shapes = Vec::new();
    for size_bytes in or_own(sizes, own.size_bytes) {
        for &ways in &ways {
            for block_size_bytes in or_own(block_sizes, own.block_size_bytes) {
                let full = size_bytes / block_size_bytes.max(1);
                let associativity = ways.unwrap_or(full);
                shapes.push(CacheShape { size_bytes, block_size_bytes, associativity });
            }
        }
    }
    shapes
}

pub(crate) fn frames(cache: CacheShape) -> u64 {
    cache.size_bytes / cache.block_size_bytes
}

pub(crate) fn check_frames(frames: u64) -> SimResult<()> {
    if frames.saturating_mul(FRAME_BYTES) <= MEMORY_MAX_BYTES {
        return Ok(());
    }
    Err(config_error(
        "the caches of all configurations together would take more than 8 GiB: simulate fewer at \
         a time, or smaller ones (--cache-size)",
    ))
}

pub(crate) fn private_areas(ends: &[(u64, u64)]) -> SimResult<Vec<Range<u64>>> {
    if let Some(&(low, high)) = ends.iter().find(|(low, high)| low >= high) {
        return Err(config_error(format!(
            "private range {low:#x}-{high:#x}: expected the first byte and, after it, one past \
             the last"
        )));
    }
    Ok(ends.iter().map(|&(low, high)| low..high).collect())
}
