//! The designs that come with the program.

/// Every design, in the order in which thesis section 6.3.2 names them.
pub const TABLE: &[Entry] = &[
    // A miss walks an inverted page table: two references reach the first entry of a hash chain,
    // and chains of two entries on average make it 2.5 local references (Bolosky §6.3.2).
    Entry {
        name: "ace",
        summary: "IBM ACE: 16 sets of 2",
        source: THESIS,
        geometry: TlbGeometry { entries: 32, ways: 2, paired: false },
        miss_cost: Some(2.5),
    },
    Entry {
        name: "68040",
        summary: "Motorola 68040: 16 sets of 4",
        source: THESIS,
        geometry: TlbGeometry { entries: 64, ways: 4, paired: false },
        miss_cost: None,
    },
    Entry {
        name: "68851",
        summary: "Motorola 68851 MMU: 64 entries, fully associative",
        source: THESIS,
        geometry: TlbGeometry { entries: 64, ways: 64, paired: false },
        miss_cost: None,
    },
    Entry {
        name: "88200",
        summary: "Motorola 88200: 56 entries, fully associative",
        source: THESIS,
        geometry: TlbGeometry { entries: 56, ways: 56, paired: false },
        miss_cost: None,
    },
    Entry {
        name: "68030",
        summary: "Motorola 68030: 22 entries, fully associative",
        source: THESIS,
        geometry: TlbGeometry { entries: 22, ways: 22, paired: false },
        miss_cost: None,
    },
    // It is counted as a TLB of pages twice as large, which is exact for its misses. Software fills
    // it: 20 cycles under Mach (Uhlig, Nagle, Mudge and Sechrest 1993) at two cycles a cache hit
    // make 10 units (Bolosky §6.3.2). A fill that needs two translations costs no more here.
    Entry {
        name: "r4000",
        summary: "MIPS R4000: 48 entries of two neighbouring pages each, fully associative",
        source: THESIS,
        geometry: TlbGeometry { entries: 48, ways: 48, paired: true },
        miss_cost: Some(10.0),
    },
];

const THESIS: &str = "Bolosky 1993, section 6.3.2";

/// How the entries of a TLB are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TlbGeometry {
    /// Entries in all.
    pub entries: u32,
    /// Entries of a set: `entries` in a fully associative TLB, 1 in a direct-mapped one.
    pub ways: u32,
    /// Whether an entry holds two neighbouring translations, as on the R4000.
    pub paired: bool,
}

impl TlbGeometry {
    /// Number of sets; the lowest bits of the page number choose one.
    #[must_use]
    pub const fn sets(self) -> u32 {
        self.entries / self.ways
    }
}

/// A design as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// How its entries are arranged.
    pub geometry: TlbGeometry,
    /// The cost of a miss in local references, if the thesis gives it.
    pub miss_cost: Option<f64>,
}
