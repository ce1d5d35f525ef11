//! The list of page policies, and the table of the page manager.

use homenode_pmap::policy::{Entry, TABLE};
use homenode_pmap::table::{Row, rows};
use homenode_pmap::{OwnerCopy, PmapCounts};
use serde::Serialize;

/// One row of the list of page policies.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PmapPolicyRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
}

/// All page policies.
#[must_use]
pub fn pmap_policy_rows() -> Vec<PmapPolicyRow> {
    let row = |e: &Entry| PmapPolicyRow { name: e.name, summary: e.summary, source: e.source };
    TABLE.iter().map(row).collect()
}

/// One cell of the table with its number of uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PmapActionRow {
    /// The cell.
    #[serde(flatten)]
    pub row: Row,
    /// The actions in words.
    pub actions: String,
    /// Faults handled by it.
    pub count: u64,
}

/// The manager's table, every cell with a count of 0.
#[must_use]
pub fn pmap_actions(owner_copy: OwnerCopy) -> Vec<PmapActionRow> {
    with_counts(owner_copy, &PmapCounts::default())
}

/// The table with the number of faults handled by each cell.
pub(super) fn with_counts(owner_copy: OwnerCopy, counts: &PmapCounts) -> Vec<PmapActionRow> {
    let cells = rows(owner_copy).into_iter().zip(counts.cells);
    cells.map(|(row, count)| PmapActionRow { row, actions: row.action.words(), count }).collect()
}
