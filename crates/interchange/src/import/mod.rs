//! Imports traces of other tools as `.hnt` traces, line by line in bounded memory.
//!
//! One format is one file here that ends in an [`Entry`]; [`TABLE`] lists them.

mod champsim;
mod csv;
mod din;
mod drmemtrace;
mod gem5;
mod input;
mod lackey;
mod parser;
mod perf;
mod records;
mod text;
mod threads;
mod token;

use std::path::Path;

use homenode_trace::{
    Columns, Metadata, Summary, TraceError, TraceProgress, TraceWriter, WriterOptions,
};

use input::{Lines, PROGRESS_LINES};
use parser::ParserBuilder;

pub use input::ImportInput;
pub use parser::Entry;
pub use threads::ThreadNumbers;

/// Every import format, in the order of the documentation.
pub const TABLE: &[Entry] = &[
    text::ENTRY,
    csv::ENTRY,
    lackey::ENTRY,
    din::ENTRY,
    drmemtrace::ENTRY,
    perf::ENTRY,
    gem5::ENTRY,
    champsim::ENTRY,
];

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

/// Imports into a new trace at `out`, with the columns that the input has. After an error no file
/// is left, not even a partial one.
///
/// # Errors
/// When a line cannot be parsed or there is none, reading or writing fails, or `progress` cancels.
pub fn import_file(
    format: &str,
    input: ImportInput<'_>,
    out: &Path,
    options: WriterOptions,
    progress: &mut TraceProgress<'_>,
) -> Result<Summary, TraceError> {
    let entry = find(format)?;
    let options = WriterOptions { columns: Columns::ALL, ..options };
    let mut writer = TraceWriter::create(out, options)?;
    writer.trim_columns();
    match import(entry, input, &mut writer, progress) {
        Ok(metadata) => writer.finish(metadata),
        Err(error) => {
            writer.abort()?;
            Err(error)
        }
    }
}

/// Imports into a writer; the caller finishes it with the returned metadata.
///
/// # Errors
/// As [`import_file`].
pub fn import<W: std::io::Write>(
    format: &Entry,
    input: ImportInput<'_>,
    writer: &mut TraceWriter<W>,
    progress: &mut TraceProgress<'_>,
) -> Result<Metadata, TraceError> {
    let mut metadata = Metadata {
        program: input.name.display().to_string(),
        method: format!("import {}", format.name),
        order: "file order".into(),
        word_size: 4,
        ..Metadata::default()
    };
    let mut parser = match format.build {
        ParserBuilder::Lines(build) => build(),
        ParserBuilder::Records(build) => {
            records::read(build, input, writer, progress)?;
            return Ok(metadata);
        }
    };
    let path = input.name.to_owned();
    let bytes = input.bytes;
    let mut lines = Lines::new(input);
    while let Some(text) = lines.next(parser.takes_any_bytes())? {
        let result = parser.line(text, writer);
        result.map_err(|error| lines.error(error))?;
        let pause = lines.number.is_multiple_of(PROGRESS_LINES);
        if pause && progress(lines.done, bytes).is_break() {
            return Err(TraceError::Cancelled { path });
        }
    }
    if lines.done == 0 {
        // Most likely the program that writes the pipe failed.
        let expected = format!("at least one line of format {}", format.name);
        let found = "no bytes at all".to_owned();
        return Err(TraceError::Line { path, line: 1, column: 1, expected, found });
    }
    parser.finish(writer, &mut metadata).map_err(|error| lines.error(error))?;
    if progress(lines.done, bytes).is_break() {
        return Err(TraceError::Cancelled { path });
    }
    Ok(metadata)
}
