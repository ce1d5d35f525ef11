//! The Motorola 68040's TLB.

use super::{Entry, TlbGeometry};

/// The Motorola 68040's TLB.
pub const ENTRY: Entry = Entry {
    name: "68040",
    summary: "Motorola 68040: 16 sets of 4",
    source: "Bolosky 1993, section 6.3.2",
    geometry: TlbGeometry { entries: 64, ways: 4, paired: false },
    miss_cost: None,
};
