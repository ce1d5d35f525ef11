//! Merges the per-processor data of the kernel of a whole system into one copy.

use homenode_base::Access;
use homenode_trace::{Metadata, ProcessorAreas, TraceReader};

use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::values::TransformValues;

/// Moves references to the per-processor areas of the kernel to the first area. Per-processor data
/// of a current kernel, such as run queues, lists of free pages and statistics, is then shared by
/// all processors, as in an early multiprocessor kernel.
pub const ENTRY: Entry = Entry {
    name: "common-areas",
    summary: "give all processors one copy of the data that their kernel has for each of them",
    source: "Foglia, Giorgi and Prete 2004, section 4: system calls of a Linux of 2003",
    params: &[],
    pieces: false,
    several: false,
    build,
};

fn build<'a>(
    values: &TransformValues<'_>,
    traces: &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError> {
    let areas = traces[0].metadata().find_processor_areas().ok_or_else(|| {
        values.error(
            "the trace does not say where a kernel has data of each processor; a recording of a \
             whole system does"
                .to_owned(),
        )
    })?;
    Ok(Box::new(CommonAreas { areas }))
}

struct CommonAreas {
    areas: ProcessorAreas,
}

impl Transform for CommonAreas {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        let addr = self.areas.in_first(access.addr).unwrap_or(access.addr);
        out.access(&Access { addr, ..*access });
    }

    fn metadata(&self, metadata: &mut Metadata) {
        metadata.processor_areas = None;
        // Names of data in the other areas would restore those areas, and nothing references them
        // any more.
        metadata.ranges.retain(|range| self.areas.find(range.start).is_none_or(|(n, _)| n == 0));
    }
}
