//! The Motorola 88200, cache and memory management unit of the 88000 family.

use super::{Entry, TlbGeometry};

/// The Motorola 88200, cache and memory management unit of the 88000 family.
pub const ENTRY: Entry = Entry {
    name: "88200",
    summary: "Motorola 88200: 56 entries, fully associative",
    source: "Bolosky 1993, section 6.3.2",
    geometry: TlbGeometry { entries: 56, ways: 56, paired: false },
    miss_cost: None,
};
