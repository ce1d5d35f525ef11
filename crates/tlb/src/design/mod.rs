//! The designs that come with the program: each a file that ends in its `ENTRY`, all listed in
//! [`TABLE`].

mod ace;
mod m68030;
mod m68040;
mod m68851;
mod m88200;
mod r4000;

/// Every design, in the order in which thesis section 6.3.2 names them.
pub const TABLE: &[Entry] =
    &[ace::ENTRY, m68040::ENTRY, m68851::ENTRY, m88200::ENTRY, m68030::ENTRY, r4000::ENTRY];

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
