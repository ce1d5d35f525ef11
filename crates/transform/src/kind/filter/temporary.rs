//! Filters a trace into a temporary file.

use super::{CacheFilterShape, Filter};
use crate::entry::Transform;
use crate::output::TransformOutput;
use crate::report::FilterReport;
use homenode_trace::{
    Batch, TraceError, TraceProgress, TraceReader, TraceWriter, Want, WriterOptions,
};

/// Level of zstd: low, as the file is read a few times and then deleted.
const LEVEL: i32 = 1;

/// The references of the trace that pass a cache of this shape in front of each of `processors`
/// processors, as a trace with the same name and metadata.
///
/// It is an unnamed file in the system's folder for temporary files, so nothing is left of it
/// however the program ends.
///
/// # Errors
/// When the trace cannot be read, the file cannot be written, or `progress` (in rows) cancels.
pub fn filter_temporarily(
    trace: &TraceReader,
    shape: CacheFilterShape,
    processors: u16,
    progress: &mut TraceProgress<'_>,
) -> Result<(TraceReader, FilterReport), TraceError> {
    let folder = std::env::temp_dir();
    let action = "create a temporary file in this folder (set TMPDIR to another one)";
    let file = tempfile::tempfile().map_err(|error| TraceError::io(&folder, action, error))?;
    let options =
        WriterOptions { columns: trace.columns(), chunk_rows: trace.chunk_rows(), level: LEVEL };
    let mut writer = TraceWriter::new(&file, folder, options)?;
    let mut filter = Filter::new(shape, processors);
    let (mut input, mut output) = (Batch::default(), TransformOutput::new());
    let mut rows = 0;
    for index in 0..trace.chunks().len() {
        trace.read_chunk(index, Want::ALL, &mut input)?;
        filter.batch(&input, &mut output)?;
        for batch in &mut output.batches {
            writer.push_batch(batch)?;
            batch.clear();
        }
        rows += input.len() as u64;
        if progress(rows, Some(trace.rows())).is_break() {
            return Err(TraceError::Cancelled { path: trace.path().to_owned() });
        }
    }
    writer.finish(trace.metadata().clone())?;
    Ok((TraceReader::from_file(file, trace.path())?, filter.final_report()))
}
