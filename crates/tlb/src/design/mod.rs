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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/design");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "mod.rs")
            .map(|name| name.trim_end_matches(".rs").trim_start_matches('m').to_owned())
            .collect();
        files.sort();
        let mut listed: Vec<String> = TABLE.iter().map(|e| e.name.to_owned()).collect();
        listed.sort();
        assert_eq!(files, listed);
    }

    /// Bolosky §6.3.2, the second paragraph after figure 6.10.
    #[test]
    fn the_designs_are_those_of_the_thesis() {
        let found = TABLE
            .iter()
            .map(|e| (e.name, e.geometry.sets(), e.geometry.ways, e.geometry.paired, e.miss_cost));
        let expected = [
            ("ace", 16, 2, false, Some(2.5)),
            ("68040", 16, 4, false, None),
            ("68851", 1, 64, false, None),
            ("88200", 1, 56, false, None),
            ("68030", 1, 22, false, None),
            ("r4000", 1, 48, true, Some(10.0)),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }
}
