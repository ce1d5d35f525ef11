//! Protocols with a directory: each a file that ends in its `ENTRY`, all listed in [`TABLE`].

mod dash;
mod lrc;
mod sdd;
mod spec;

use homenode_cache::walk::Example;
use homenode_protocol::ProtocolParameter;

pub use spec::DirectoryProtocol;

use crate::list_table::ListTable;
use crate::page_table::PagedTable;
use crate::table::DirectoryTable;

/// Every protocol, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[dash::ENTRY, lrc::ENTRY, sdd::ENTRY];

/// The table of a protocol, by what it keeps coherent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoherenceTable {
    /// Blocks, by controllers of caches.
    Blocks(DirectoryTable),
    /// Pages, by handlers of page faults and of synchronisation.
    Pages(PagedTable),
    /// Blocks, by controllers of nodes that link the copies of each in a list.
    Lists(ListTable),
}

impl CoherenceTable {
    /// The table of a protocol that keeps blocks coherent by a directory at their home alone.
    #[must_use]
    pub fn blocks(self) -> Option<DirectoryTable> {
        match self {
            Self::Blocks(table) => Some(table),
            Self::Pages(_) | Self::Lists(_) => None,
        }
    }
}

/// A protocol as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What can be set after the colon.
    pub params: &'static [ProtocolParameter],
    /// What `homenode explain` walks through to show what the protocol is about.
    pub example: Example,
    /// Writes down its table.
    pub build: fn() -> CoherenceTable,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_file_is_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/protocol");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !["mod.rs", "spec.rs"].contains(&name.as_str()))
            .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
            .collect();
        files.sort();
        let mut listed: Vec<String> = TABLE.iter().map(|e| e.name.to_owned()).collect();
        listed.sort();
        assert_eq!(files, listed);
    }
}
