//! Results of the page manager as they are reported.

use std::collections::BTreeMap;

use homenode_pmap::table::{Row, rows};
use homenode_pmap::{KernelTime, OwnerCopy, PageState, PmapCounts};
use serde::Serialize;

/// The result of the page manager.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PmapReport {
    /// Name of the trace.
    pub trace: String,
    /// The page policy.
    pub policy: String,
    /// Invalidations allowed before a page is pinned.
    pub limit: u64,
    /// State of the owner's copy after another processor reads.
    pub owner_copy: OwnerCopy,
    /// Whether a page whose mapping is removed is freed.
    pub free_unmapped: bool,
    /// Bytes in a page.
    pub page_size: u64,
    /// Processors; thread i runs on processor i modulo this.
    pub processors: u16,
    /// Bytes of a word, if references are counted in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_bytes: Option<u64>,
    /// Data references taken into account.
    pub references: u64,
    /// References to pages: a reference that straddles two pages is one to each.
    pub accesses: u64,
    /// Pages referenced, without private memory that is counted as local.
    pub pages: u64,
    /// The counts.
    pub counts: PmapCounts,
    /// Faults by cell of the table.
    pub faults: Vec<PmapActionRow>,
    /// Pages by final state.
    pub final_states: BTreeMap<&'static str, u64>,
    /// α as simulated.
    pub locality: Locality,
    /// Kernel time, seconds.
    pub kernel_time: KernelTime,
    /// Time of the references themselves, in seconds.
    pub reference_time_s: f64,
    /// The same trace with all pages in global memory.
    pub all_global: AllGlobalTimes,
    /// Every kernel cost used, in microseconds.
    pub costs_us: BTreeMap<&'static str, f64>,
    /// The pages with the most kernel time, most first, then by address.
    pub busiest: Vec<PmapPage>,
}

/// Locality of references to writable data: pages that the program writes at least once (Bolosky
/// §3.2.1 considers only these).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Locality {
    /// Reads and writes of such pages in the processor's own local memory.
    pub local: u64,
    /// Reads of such pages, local or not.
    pub reads: u64,
    /// Writes and atomics to such pages, local or not.
    pub writes: u64,
    /// α: the local fraction; `null` without such references.
    pub alpha: Option<f64>,
    /// G/L for this mix of reads and writes at the costs used; `null` without such references.
    pub global_to_local: Option<f64>,
}

/// The trace with all pages in global memory, which defines `T_global` and `S_global`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AllGlobalTimes {
    /// Kernel time, seconds.
    pub kernel_time_s: f64,
    /// Time of the references themselves, seconds.
    pub reference_time_s: f64,
}

/// One of the busiest pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PmapPage {
    /// First address, in hexadecimal.
    pub address: String,
    /// Labels of the objects in it, in order of address.
    pub objects: Vec<String>,
    /// Its final state.
    pub final_state: PageState,
    /// Its counts.
    pub counts: PmapCounts,
    /// Kernel time, seconds.
    pub kernel_time_s: f64,
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

pub(super) fn with_counts(owner_copy: OwnerCopy, counts: &PmapCounts) -> Vec<PmapActionRow> {
    let cells = rows(owner_copy).into_iter().zip(counts.cells);
    cells.map(|(row, count)| PmapActionRow { row, actions: row.action.words(), count }).collect()
}
