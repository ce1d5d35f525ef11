//! The trace that the transform would write, in a file without a name.

use super::super::Transform;
use super::super::output::TransformOutput;
use super::{CacheFilterShape, Filter, FilterReport};
use crate::error::TraceError;
use crate::import::ImportProgress;
use crate::model::{Batch, Want};
use crate::reader::TraceReader;
use crate::writer::{TraceWriter, WriterOptions};

/// Level of zstd: the file is read a few times and then gone.
const LEVEL: i32 = 1;

/// The references of the trace that pass a cache of this shape in front of each of so many
/// processors, as a trace with the same name and metadata.
///
/// It is in a file in the system's folder for temporary files that has no name, so that nothing is
/// left of it however the program ends.
///
/// # Errors
/// When the trace cannot be read or the file not be written, or `progress` (in rows) broke off.
pub fn filter_temporarily(
    trace: &TraceReader,
    (shape, processors): (CacheFilterShape, u16),
    progress: &mut ImportProgress<'_>,
) -> Result<(TraceReader, FilterReport), TraceError> {
    let folder = std::env::temp_dir();
    let action = "make a temporary file in this folder (TMPDIR can name another one)";
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
    Ok((TraceReader::from_file(file, trace.path())?, filter.said()))
}
