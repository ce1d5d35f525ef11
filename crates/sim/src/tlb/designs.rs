//! The list of TLBs.

use homenode_tlb::{Entry, TABLE};
use serde::Serialize;

/// One line of the list of TLBs.
#[derive(Clone, Debug, Serialize)]
pub struct TlbRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Entries in all.
    pub entries: u32,
    /// Sets.
    pub sets: u32,
    /// Entries a set.
    pub ways: u32,
    /// Whether an entry holds two neighbouring translations.
    pub paired: bool,
    /// What a miss costs in local references; `null` where the thesis does not say.
    pub miss_cost: Option<f64>,
}

/// All TLBs.
#[must_use]
pub fn tlb_rows() -> Vec<TlbRow> {
    let row = |entry: &Entry| TlbRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        entries: entry.geometry.entries,
        sets: entry.geometry.sets(),
        ways: entry.geometry.ways,
        paired: entry.geometry.paired,
        miss_cost: entry.miss_cost,
    };
    TABLE.iter().map(row).collect()
}
