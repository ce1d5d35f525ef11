//! The TLB of the IBM ACE's memory management unit.
//!
//! A miss walks an inverted page table: two references reach the first entry of a hash chain, and
//! chains of two entries on average make it 2.5 local references (Bolosky §6.3.2).

use super::{Entry, TlbGeometry};

/// The TLB of the IBM ACE's memory management unit.
pub const ENTRY: Entry = Entry {
    name: "ace",
    summary: "IBM ACE: 16 sets of 2",
    source: "Bolosky 1993, section 6.3.2",
    geometry: TlbGeometry { entries: 32, ways: 2, paired: false },
    miss_cost: Some(2.5),
};
