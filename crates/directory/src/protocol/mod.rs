//! Protocols with a directory: each a file that ends in its `ENTRY`, all listed in [`TABLE`].

mod spec;

use homenode_cache::walk::Example;
use homenode_protocol::ProtocolParameter;

pub use spec::DirectoryProtocol;

use crate::dash::{DirectoryTable, protocol::dash};
use crate::entry::FamilyProtocol;
use crate::linked::{ListTable, protocol::sdd};
use crate::lrc::{
    PagedTable,
    protocol::{lrc, lrc_one_trip},
};

/// Every protocol, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    Entry::of(&dash::ENTRY, || CoherenceTable::Blocks((dash::ENTRY.build)())),
    Entry::of(&lrc::ENTRY, || CoherenceTable::Pages((lrc::ENTRY.build)())),
    Entry::of(&lrc_one_trip::ENTRY, || CoherenceTable::Pages((lrc_one_trip::ENTRY.build)())),
    Entry::of(&sdd::ENTRY, || CoherenceTable::Linked((sdd::ENTRY.build)())),
];

/// The table of a protocol, by what it keeps coherent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoherenceTable {
    /// Blocks, by controllers of caches.
    Blocks(DirectoryTable),
    /// Pages, by handlers of page faults and of synchronisation.
    Pages(PagedTable),
    /// Blocks, by controllers of nodes that link the copies of each in a list.
    Linked(ListTable),
}

impl CoherenceTable {
    /// The table of a protocol that keeps blocks coherent by a directory at their home alone.
    #[must_use]
    pub fn blocks(self) -> Option<DirectoryTable> {
        match self {
            Self::Blocks(table) => Some(table),
            Self::Pages(_) | Self::Linked(_) => None,
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

impl Entry {
    const fn of<T>(protocol: &FamilyProtocol<T>, build: fn() -> CoherenceTable) -> Self {
        let &FamilyProtocol { name, summary, source, params, example, .. } = protocol;
        Self { name, summary, source, params, example, build }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_file_is_in_the_table() {
        let folder = |family| format!("{}/src/{family}/protocol", env!("CARGO_MANIFEST_DIR"));
        let mut files: Vec<String> = ["dash", "lrc", "linked"]
            .into_iter()
            .flat_map(|family| std::fs::read_dir(folder(family)).unwrap())
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "mod.rs")
            .filter_map(|name| name.strip_suffix(".rs").map(|name| name.replace('_', "-")))
            .collect();
        files.sort();
        let mut listed: Vec<String> = TABLE.iter().map(|e| e.name.to_owned()).collect();
        listed.sort();
        assert_eq!(files, listed);
    }

    #[test]
    fn every_cell_is_shown_once_for_each_sender() {
        for entry in TABLE {
            let sheet = match (entry.build)() {
                CoherenceTable::Blocks(table) => table.sheet(),
                CoherenceTable::Pages(table) => table.sheet(),
                CoherenceTable::Linked(table) => table.sheet(),
            };
            for controller in &sheet.controllers {
                for state in &controller.states {
                    for event in &controller.events {
                        let here = |cell: &&crate::sheet::ControllerSheetCell| {
                            (cell.state, cell.event) == (state.name, event.name)
                        };
                        let cells: Vec<_> = controller.cells.iter().filter(here).collect();
                        let senders: usize = cells.iter().map(|cell| cell.senders.len()).sum();
                        let all = if cells.len() == 1 { 0 } else { controller.senders.len() };
                        assert_eq!(senders, all, "{} {}", state.name, event.name);
                        for cell in cells {
                            let does = cell.next.is_some();
                            let ways = [does, cell.waits, cell.never.is_some()];
                            assert_eq!(ways.iter().filter(|&&way| way).count(), 1, "{cell:?}");
                        }
                    }
                }
            }
        }
    }
}
