//! The MIPS R4000's TLB, whose entries each translate two neighbouring pages.
//!
//! It is counted as a TLB of pages twice as large, which is exact for its misses. The processor's
//! software fills it: 20 cycles under Mach (Uhlig, Nagle, Mudge and Sechrest 1993) at two cycles a
//! cache hit make 10 units (Bolosky §6.3.2). A fill that needs two translations costs no more here.

use super::{Entry, TlbGeometry};

/// The MIPS R4000's TLB, whose entries each translate two neighbouring pages.
pub const ENTRY: Entry = Entry {
    name: "r4000",
    summary: "MIPS R4000: 48 entries of two neighbouring pages each, fully associative",
    source: "Bolosky 1993, section 6.3.2",
    geometry: TlbGeometry { entries: 48, ways: 48, paired: true },
    miss_cost: Some(10.0),
};
