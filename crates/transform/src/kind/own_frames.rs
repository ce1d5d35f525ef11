//! Gives processes frames of their own for memory that another process reuses.

mod history;
mod survey;

use homenode_base::Access;
use homenode_trace::{Metadata, TraceProgress, TraceReader};

use self::survey::FrameSurvey;
use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::report::TransformReport;
use crate::values::TransformValues;

/// In a recording of a whole system, addresses are physical. A frame that one process frees and
/// another one gets, or a kernel buffer that serves one process after another, would count as
/// shared. The publication's workloads combine traces of processes, whose pages a simulator maps to
/// frames.
///
/// A *use* of a frame is a set of references that read what the others wrote. One by a single
/// process, whose memory another process reuses without reading it, gets a frame that the process
/// has for the recorded one.
pub const ENTRY: Entry = Entry {
    name: "own-frames",
    summary: "give processes frames of their own for memory that they use one after the other",
    source: "Foglia, Giorgi and Prete 2004, section 4: simulated translation of addresses",
    params: &[],
    pieces: false,
    several: false,
    build,
};

fn build<'a>(
    values: &TransformValues<'_>,
    traces: &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError> {
    let trace = &traces[0];
    if !trace.columns().pid {
        return Err(values.error(
            "the trace does not say which process makes a reference (column pid); a recording of a \
             whole system and a mix of its processes do"
                .to_owned(),
        ));
    }
    let areas = trace.metadata().find_processor_areas();
    Ok(Box::new(OwnFrames { trace, survey: FrameSurvey::new(areas) }))
}

struct OwnFrames<'a> {
    trace: &'a TraceReader,
    survey: FrameSurvey,
}

impl Transform for OwnFrames<'_> {
    fn prepare(&mut self, progress: &mut TraceProgress<'_>) -> Result<u64, TransformError> {
        self.survey.read(self.trace, progress)?;
        self.survey
            .close()
            .map_err(|problem| TransformError::Parameter { transform: ENTRY.name, problem })?;
        Ok(self.trace.rows())
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        let addr = self.survey.moved(access);
        out.access(&Access { addr, ..*access });
    }

    fn report(&self, _metadata: &Metadata) -> Option<TransformReport> {
        Some(TransformReport::Framed(self.survey.report()))
    }
}
