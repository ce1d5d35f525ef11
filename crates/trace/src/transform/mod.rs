//! Transforms make new traces from traces, chunk by chunk in bounded memory.
//!
//! One transform is one file here that ends in an [`Entry`]; [`TABLE`] lists them. The provenance
//! of a written trace gets the transform, its parameters and the checksum of its input.

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

/// Makes an instance from parameters, for traces: exactly one unless [`Entry::several`].
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
    /// Form of a value.
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

    /// Emits more of the chunks taken, if their output is much larger than a chunk. Returns whether
    /// it emitted anything; if not, it gets the next chunk.
    fn more(&mut self, _out: &mut TransformOutput) -> bool {
        false
    }

    /// Emits the remaining references and events.
    fn finish(&mut self, _out: &mut TransformOutput) {}

    /// Called after the last chunk: fails if the parameters did not fit the trace.
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
    /// References that passed caches.
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
        /// The known names.
        known: String,
    },
    /// An unknown, missing or invalid parameter.
    #[error("transform {transform}: {problem}")]
    Parameter {
        /// The transform.
        transform: &'static str,
        /// The fault, and the expected form.
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
