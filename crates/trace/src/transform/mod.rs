//! Transforms: new traces from traces, chunk by chunk and in bounded memory.
//!
//! One transform is one file here that ends in an [`Entry`]; [`TABLE`] lists them. Every transform
//! is added to the provenance of the trace that it writes, with its parameters and the checksum of
//! its input.

mod common_areas;
mod drop_sync;
mod filter;
mod gap;
mod local;
mod merge;
mod output;
mod processes;
mod processors;
mod queue;
mod realign;
mod reinterleave;
mod run;
mod select;
mod split;
mod values;
mod words;

use serde::Serialize;

use crate::error::TraceError;
use crate::import::ImportProgress;
use crate::model::{Batch, Columns, Metadata};
use crate::reader::TraceReader;
use crate::realign::Realignment;

pub use filter::{CacheFilterShape, FilterReport, filter_temporarily};
pub use merge::{MergeReport, MergedProcess};
pub use processes::{
    AreaReferences, Mix, MixPages, MixProcess, OmittedFromMix, ReferenceTotals, Switches,
};
pub use run::{WrittenTrace, transform_file, transform_files};

use output::TransformOutput;
use values::TransformValues;

/// Every transform, in the order of the documentation.
pub const TABLE: &[Entry] = &[
    local::ENTRY,
    gap::ENTRY,
    reinterleave::ENTRY,
    select::ENTRY,
    drop_sync::ENTRY,
    common_areas::ENTRY,
    words::ENTRY,
    filter::ENTRY,
    processors::ENTRY,
    processes::ENTRY,
    merge::ENTRY,
    realign::ENTRY,
    split::ENTRY,
];

/// One transform.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [TransformParam],
    /// Whether it writes several traces: `U.0.hnt`, `U.1.hnt` and so on for the output `U.hnt`.
    pub pieces: bool,
    /// Whether it takes several traces.
    pub several: bool,
    /// Makes an instance.
    build: BuildTransform,
}

/// Makes an instance from parameters, for traces: only one, if [`Entry::several`] does not say so.
type BuildTransform = for<'a> fn(
    &TransformValues<'_>,
    &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError>;

/// A parameter of a transform.
#[derive(Clone, Copy, Debug)]
pub struct TransformParam {
    /// Name, on the command line after two dashes.
    pub name: &'static str,
    /// Its default value; empty if it has none.
    pub default: &'static str,
    /// What a value looks like.
    pub form: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// An instance of a transform.
trait Transform {
    /// Makes a first pass over the trace, if one is needed; returns the rows that it read.
    fn prepare(&mut self, _progress: &mut ImportProgress<'_>) -> Result<u64, TransformError> {
        Ok(0)
    }

    /// Number of the trace whose next chunk it needs. All chunks of all traces are read.
    fn wants(&self) -> usize {
        0
    }

    /// Takes a chunk and emits what it can. Chunks come in Time order.
    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError>;

    /// Emits more of what it has taken, if that is much more than one chunk. Returns whether it
    /// did; if not, it gets the next chunk.
    fn more(&mut self, _out: &mut TransformOutput) -> bool {
        false
    }

    /// Emits what is left.
    fn finish(&mut self, _out: &mut TransformOutput) {}

    /// Called after the last chunk: whether what was asked for could be done.
    fn check(&self) -> Result<(), TransformError> {
        Ok(())
    }

    /// Optional columns of the new trace; `given` are those of the first input.
    fn columns(&self, given: Columns) -> Columns {
        given
    }

    /// Updates the metadata, which is that of the first input.
    fn metadata(&self, _metadata: &mut Metadata) {}

    /// The report, of transforms that have one; `metadata` is that of the first input.
    fn report(&self, _metadata: &Metadata) -> Option<TransformReport> {
        None
    }

    /// Data references in the interval of Time that was kept, if not all were: the new trace's
    /// share of the run time.
    fn covered(&self) -> Option<u64> {
        None
    }
}

/// The report of a transform.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TransformReport {
    /// Data that moved.
    Realigned(Box<Realignment>),
    /// Processes of a whole system.
    Mixed(Box<Mix>),
    /// Processes of several traces.
    Merged(Box<MergeReport>),
    /// What passed caches.
    Filtered(FilterReport),
}

impl TransformReport {
    /// The report of a re-alignment, if it is one.
    #[must_use]
    pub fn realigned(self) -> Option<Realignment> {
        match self {
            Self::Realigned(report) => Some(*report),
            Self::Mixed(_) | Self::Merged(_) | Self::Filtered(_) => None,
        }
    }
}

/// Why a transform failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransformError {
    /// No such transform.
    #[error("unknown transform {name:?}; known: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A parameter that is unknown, missing or cannot be read.
    #[error("transform {transform}: {problem}")]
    Parameter {
        /// The transform.
        transform: &'static str,
        /// What is wrong and what is expected.
        problem: String,
    },
    /// A trace that cannot be read or written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// The entry of a transform.
///
/// # Errors
/// When none has this name.
pub fn find(name: &str) -> Result<&'static Entry, TransformError> {
    TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| TransformError::Unknown {
        name: name.to_owned(),
        known: TABLE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// The parameter that seeds the random generator.
const SEED: TransformParam = TransformParam {
    name: "seed",
    default: "0",
    form: "N",
    doc: "seed of the random generator: the same seed gives the same trace",
};
