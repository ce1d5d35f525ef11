//! What a transform is: its entry in the table, and an instance of it.

use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::param::TransformParam;
use crate::report::TransformReport;
use crate::values::TransformValues;
use homenode_base::Access;
use homenode_trace::{
    Batch, BatchPart, Columns, Event, Metadata, ThreadTurn, TraceError, TraceProgress, TraceReader,
};

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
    pub(crate) build: BuildTransform,
}

/// Makes an instance from parameters, for traces: exactly one unless [`Entry::several`].
pub(crate) type BuildTransform = for<'a> fn(
    &TransformValues<'_>,
    &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError>;

pub(crate) trait Transform {
    /// Makes a first pass over the trace, if one is needed; returns the rows that it read.
    fn prepare(&mut self, _progress: &mut TraceProgress<'_>) -> Result<u64, TransformError> {
        Ok(0)
    }

    /// Number of the trace whose next chunk it needs. All chunks of all traces are read.
    fn wants(&self) -> usize {
        0
    }

    /// Index of the chunk of its trace that it needs first. The others follow, in a circle.
    fn first_chunk(&self) -> usize {
        0
    }

    /// Takes a chunk and emits what it can. Chunks come in Time order.
    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError> {
        self.walk(input, out);
        Ok(())
    }

    fn walk(&mut self, input: &Batch, out: &mut TransformOutput) {
        for part in input.parts() {
            match part {
                BatchPart::Event(event) => self.event(event, out),
                BatchPart::Turn(ThreadTurn { thread, rows }) => {
                    rows.for_each(|row| self.access(&input.access(thread, row), out));
                }
            }
        }
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        out.access(access);
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        out.event(event.clone());
    }

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
