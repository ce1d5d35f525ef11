//! The Motorola 68851, a memory management unit of its own.

use super::{Entry, TlbGeometry};

/// The Motorola 68851, a memory management unit of its own.
pub const ENTRY: Entry = Entry {
    name: "68851",
    summary: "Motorola 68851 MMU: 64 entries, fully associative",
    source: "Bolosky 1993, section 6.3.2",
    geometry: TlbGeometry { entries: 64, ways: 64, paired: false },
    miss_cost: None,
};
