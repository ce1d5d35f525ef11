//! The Motorola 68030's TLB.

use super::{Entry, TlbGeometry};

/// The Motorola 68030's TLB.
pub const ENTRY: Entry = Entry {
    name: "68030",
    summary: "Motorola 68030: 22 entries, fully associative",
    source: "Bolosky 1993, section 6.3.2",
    geometry: TlbGeometry { entries: 22, ways: 22, paired: false },
    miss_cost: None,
};
