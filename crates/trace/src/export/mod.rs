//! Exports `.hnt` traces to the formats of other tools, chunk by chunk in bounded memory.
//!
//! One format is one file here that ends in an [`Entry`]; [`TABLE`] lists them.

mod csv;
mod din;
mod text;

use std::io::{self, Write};

use homenode_base::Flags;

use crate::error::TraceError;
use crate::events::{self, SHAPES};
use crate::import::ImportProgress;
use crate::model::{Batch, Columns, Event, EventKind, Want};
use crate::reader::TraceReader;

/// Every export format, in the order of the documentation.
pub const TABLE: &[Entry] = &[text::ENTRY, csv::ENTRY, din::ENTRY];

/// One export format.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// Description in one sentence.
    pub summary: &'static str,
    /// Where the format is defined.
    pub source: &'static str,
    /// Its file name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Writes the header, before the first reference.
    begin: fn(&mut dyn Write, Columns) -> io::Result<()>,
    /// Writes the references and events of a chunk.
    rows: fn(&mut dyn Write, Columns, &Batch) -> io::Result<()>,
}

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
    progress: &mut ImportProgress<'_>,
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

/// Writes each reference with `row` and each event with `event`, in order.
fn walk(
    out: &mut dyn Write,
    batch: &Batch,
    row: fn(&mut dyn Write, &Batch, usize) -> io::Result<()>,
    event: fn(&mut dyn Write, &Event) -> io::Result<()>,
) -> io::Result<()> {
    let mut events = batch.events.iter().peekable();
    for i in 0..batch.len() {
        while let Some((_, what)) = events.next_if(|(at, _)| *at as usize <= i) {
            event(out, what)?;
        }
        row(out, batch, i)?;
    }
    events.try_for_each(|(_, what)| event(out, what))
}

/// Names of the flags.
fn flag_names(flags: Flags, between: &str) -> String {
    let names = [(Flags::PRIVATE, "private"), (Flags::SYNC, "sync"), (Flags::KERNEL, "kernel")];
    let set = names.iter().filter(|(flag, _)| flags.contains(*flag));
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(between)
}

/// Name and numbers of an event, and its text with line ends escaped, if the kind has one.
fn event_words(what: &EventKind) -> (String, Option<String>) {
    let (tag, fields, text) = events::flatten(what);
    let shape = &SHAPES[usize::from(tag)];
    let mut words = shape.name.to_owned();
    for (i, field) in fields.iter().take(shape.numbers.len()).enumerate() {
        words += &if shape.is_address(i) { format!(" {field:#x}") } else { format!(" {field}") };
    }
    let escaped = || text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    (words, shape.text.then(escaped))
}
