//! The report of a merge.

use serde::Serialize;

use super::Merge;

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

/// The report on the traces of a merge.
pub(super) fn report(merge: &Merge<'_>) -> MergeReport {
    let traces = merge.traces.iter().zip(&merge.inputs).zip(&merge.relocations);
    let process = |(number, ((trace, own), relocation)): (u32, _)| {
        let (trace, own): (&crate::reader::TraceReader, &super::MergeInput) = (trace, own);
        let relocation: &super::Relocation = relocation;
        let mut pids = vec![number];
        pids.extend(&own.further_pids);
        MergedProcess {
            trace: trace.path().display().to_string(),
            checksum: trace.checksum(),
            program: trace.metadata().program.clone(),
            pids,
            first_thread: own.first,
            threads: own.threads,
            offset: relocation.offset,
            references: trace.references(),
            private_references: own.private_references,
        }
    };
    MergeReport {
        processes: (1..).zip(traces).map(process).collect(),
        shared: merge.shared.iter().map(|range| (range.start, range.end)).collect(),
    }
}
