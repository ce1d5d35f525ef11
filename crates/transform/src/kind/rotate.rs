//! Begins a recording of independent processes at another place.

use homenode_base::{Access, Rng};
use homenode_trace::{
    Batch, Event, EventKind, Metadata, TraceError, TraceProgress, TraceReader, Want,
};

use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::param::SEED;
use crate::values::TransformValues;

/// The recording from a random place to its end, and then from its start to that place.
///
/// The publication's processes run "in a continuous and cyclical way", so that where a recording
/// begins is an accident: several seeds show how much results depend on it. Threads that wait for
/// each other cannot begin anywhere.
pub const ENTRY: Entry = Entry {
    name: "rotate",
    summary: "begin a recording of independent processes at a random place, and end it there",
    source: "Foglia, Giorgi and Prete 2004, section 4: processes that run cyclically",
    params: &[SEED],
    pieces: false,
    several: false,
    build,
};

fn build<'a>(
    values: &TransformValues<'_>,
    traces: &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError> {
    let trace = &traces[0];
    let seed = values.count("seed", 0..=u64::MAX)?.unwrap_or(0);
    let mut left = if trace.rows() == 0 { 0 } else { Rng::new(seed).below(trace.rows()) };
    let mut first_chunk = 0;
    while let Some(chunk) = trace.chunks().get(first_chunk)
        && u64::from(chunk.rows) <= left
    {
        left -= u64::from(chunk.rows);
        first_chunk += 1;
    }
    let kept_back = TransformOutput::new();
    let starts = Vec::new();
    Ok(Box::new(Rotate { trace, first_chunk, left, begun: false, kept_back, starts }))
}

struct Rotate<'a> {
    trace: &'a TraceReader,
    first_chunk: usize,
    /// Rows of the first chunk that are still to be kept back for the end.
    left: u64,
    /// Whether the first row is written: events before it belong to the row before.
    begun: bool,
    kept_back: TransformOutput,
    /// Beginnings of threads, still to be written.
    starts: Vec<Event>,
}

/// Whether threads wait for each other here, or a part of the program begins.
fn orders_threads(what: &EventKind) -> bool {
    !matches!(
        what,
        EventKind::ThreadStart { .. }
            | EventKind::ThreadExit
            | EventKind::SyscallEnter { .. }
            | EventKind::SyscallExit { .. }
            | EventKind::Map { .. }
            | EventKind::Unmap { .. }
            | EventKind::Fork { .. }
            | EventKind::Marker { .. }
    )
}

impl Rotate<'_> {
    fn begin(&mut self, out: &mut TransformOutput) {
        self.begun = true;
        self.left = 0;
        self.starts.drain(..).for_each(|start| out.event(start));
    }
}

impl Transform for Rotate<'_> {
    /// Reads the events alone.
    fn prepare(&mut self, progress: &mut TraceProgress<'_>) -> Result<u64, TransformError> {
        let mut batch = Batch::default();
        for chunk in 0..self.trace.chunks().len() {
            self.trace.read_chunk(chunk, Want { events: true, ..Want::default() }, &mut batch)?;
            for (_, event) in batch.events.drain(..) {
                if orders_threads(&event.what) {
                    let problem = "its threads synchronise or have phases, so they cannot begin \
                                   anywhere; it is for mixes of processes (homenode transform \
                                   processes)";
                    let problem = problem.to_owned();
                    return Err(TransformError::Parameter { transform: ENTRY.name, problem });
                }
                if matches!(event.what, EventKind::ThreadStart { .. }) {
                    self.starts.push(event);
                }
            }
            if progress(0, None).is_break() {
                return Err(TraceError::Cancelled { path: self.trace.path().to_owned() }.into());
            }
        }
        Ok(0)
    }

    fn first_chunk(&self) -> usize {
        self.first_chunk
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        if self.left > 0 {
            self.left -= 1;
            self.kept_back.access(access);
        } else {
            self.begin(out);
            out.access(access);
        }
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        let out = if self.begun { out } else { &mut self.kept_back };
        if !matches!(event.what, EventKind::ThreadStart { .. }) {
            out.event(event.clone());
        }
    }

    fn finish(&mut self, out: &mut TransformOutput) {
        self.begin(out);
        for batch in std::mem::take(&mut self.kept_back).batches {
            self.walk(&batch, out);
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        metadata.order = format!("{}, rotated", metadata.order);
    }
}
