//! The list of TLBs.

use homenode_tlb::{Entry, TABLE};
use serde::Serialize;

/// One row of the list of TLBs.
#[derive(Clone, Debug, Serialize)]
pub struct TlbRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Total number of entries.
    pub entries: u32,
    /// Number of sets.
    pub sets: u32,
    /// Entries per set.
    pub ways: u32,
    /// Whether an entry holds two adjacent translations.
    pub paired: bool,
    /// Cost of a miss in local references; `null` if the thesis does not give it.
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
