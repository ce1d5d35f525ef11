//! The transforms, one file each, ending in an [`Entry`]; [`TABLE`] lists them.

mod common_areas;
mod drop_sync;
mod filter;
mod gap;
mod local;
mod merge;
mod own_frames;
mod processes;
mod processors;
mod realign;
mod reinterleave;
mod rotate;
mod select;
mod split;
mod words;

use crate::entry::Entry;
use crate::error::TransformError;

pub use filter::{CacheFilterShape, filter_temporarily};

/// Every transform, in the order of the documentation.
pub const TABLE: &[Entry] = &[
    local::ENTRY,
    gap::ENTRY,
    reinterleave::ENTRY,
    select::ENTRY,
    drop_sync::ENTRY,
    common_areas::ENTRY,
    own_frames::ENTRY,
    rotate::ENTRY,
    words::ENTRY,
    filter::ENTRY,
    processors::ENTRY,
    processes::ENTRY,
    merge::ENTRY,
    realign::ENTRY,
    split::ENTRY,
];

/// The entry of a transform.
///
/// # Errors
/// When none has this name.
pub fn find(name: &str) -> Result<&'static Entry, TransformError> {
    TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| TransformError::Unknown {
        name: name.to_owned(),
        known: TABLE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}
