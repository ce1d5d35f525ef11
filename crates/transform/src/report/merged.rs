//! The report of a merge.

use serde::Serialize;

/// A mix of several traces.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergeReport {
    /// The processes, in the order of the traces.
    pub processes: Vec<MergedProcess>,
    /// Shared memory, at the same addresses in all processes: first byte, and one past the last.
    pub shared: Vec<(u64, u64)>,
}

/// A trace in a mix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MergedProcess {
    /// Name of the trace.
    pub trace: String,
    /// Its checksum.
    pub checksum: String,
    /// Its program.
    pub program: String,
    /// Its process in the mix, and further ones if the trace was of several.
    pub pids: Vec<u32>,
    /// The thread of the mix that its thread 0 becomes.
    pub first_thread: u16,
    /// Its threads.
    pub threads: u16,
    /// The offset that is added to its addresses.
    pub offset: u64,
    /// Its data references.
    pub references: u64,
    /// References and fetches that are private in the mix.
    pub private_references: u64,
}
