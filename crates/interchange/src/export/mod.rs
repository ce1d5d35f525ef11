//! Exports `.hnt` traces to the formats of other tools, chunk by chunk in bounded memory.
//!
//! One format is one file here that ends in an [`Entry`]; [`TABLE`] lists them.

mod csv;
mod din;
mod format;
mod text;

use std::io::{self, Write};

use homenode_trace::{Batch, TraceError, TraceProgress, TraceReader, Want};

pub(crate) use csv::HEADER as CSV_HEADER;
pub use format::Entry;
pub(crate) use text::HEADER as TEXT_HEADER;

/// Every export format, in the order of the documentation.
pub const TABLE: &[Entry] = &[text::ENTRY, csv::ENTRY, din::ENTRY];

/// The entry of a format.
///
/// # Errors
/// When no format has this name.
pub fn find(name: &str) -> Result<&'static Entry, TraceError> {
    TABLE.iter().find(|entry| entry.name == name).ok_or_else(|| TraceError::UnknownFormat {
        name: name.to_owned(),
        known: TABLE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", "),
    })
}

/// Writes a whole trace to `out`; `out_name` names it in errors.
///
/// # Errors
/// When the trace cannot be read, `out` cannot be written, or `progress` cancels.
pub fn export(
    format: &Entry,
    trace: &TraceReader,
    out: &mut dyn Write,
    out_name: &std::path::Path,
    progress: &mut TraceProgress<'_>,
) -> Result<(), TraceError> {
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let failed = |e| TraceError::write(out_name, 0, false, e);
    (format.begin)(&mut out, trace.columns()).map_err(failed)?;
    let mut batch = Batch::default();
    let mut rows = 0;
    for index in 0..trace.chunks().len() {
        trace.read_chunk(index, Want::ALL, &mut batch)?;
        (format.rows)(&mut out, trace.columns(), &batch).map_err(failed)?;
        rows += batch.len() as u64;
        if progress(rows, Some(trace.rows())).is_break() {
            return Err(TraceError::Cancelled { path: out_name.to_owned() });
        }
    }
    out.flush().map_err(failed)
}
