//! Coherence protocols: each a file that ends in its `ENTRY`, all listed in [`TABLE`].

mod amsd;
mod amsd_memory;
mod clean_from_memory;
mod dragon;
mod mesi;
mod mesi_memory;
mod moesi;
mod pscr;
mod pscr_memory;
mod spec;

use homenode_protocol::ProtocolParameter;

pub use homenode_cache::walk::Example;
pub use spec::ProtocolSpec;

use crate::table::ProtocolTable;

/// Every protocol, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    mesi::ENTRY,
    amsd::ENTRY,
    pscr::ENTRY,
    moesi::ENTRY,
    dragon::ENTRY,
    mesi_memory::ENTRY,
    amsd_memory::ENTRY,
    pscr_memory::ENTRY,
];

/// A protocol as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Switches that can be set after the colon; all are off by default.
    pub params: &'static [ProtocolParameter],
    /// The example of `homenode explain` for the protocol.
    pub example: Example,
    /// Builds its table.
    pub build: fn() -> ProtocolTable,
}
