//! What a format is: its entry in the table, and helpers of its writer.

use std::io::{self, Write};

use homenode_base::{Access, Flags};
use homenode_trace::events::{self, SHAPES};
use homenode_trace::{Batch, BatchPart, Columns, Event, EventKind, ThreadTurn};

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
    pub(super) begin: fn(&mut dyn Write, Columns) -> io::Result<()>,
    pub(super) rows: fn(&mut dyn Write, Columns, &Batch) -> io::Result<()>,
}

/// Writes each reference with `row` and each event with `event`, in order.
pub(super) fn walk(
    out: &mut dyn Write,
    batch: &Batch,
    row: fn(&mut dyn Write, Access) -> io::Result<()>,
    event: fn(&mut dyn Write, &Event) -> io::Result<()>,
) -> io::Result<()> {
    for part in batch.parts() {
        match part {
            BatchPart::Event(what) => event(out, what)?,
            BatchPart::Turn(ThreadTurn { thread, mut rows }) => {
                rows.try_for_each(|i| row(out, batch.access(thread, i)))?;
            }
        }
    }
    Ok(())
}

pub(super) fn flag_names(flags: Flags, between: &str) -> String {
    let names = [
        (Flags::PRIVATE, "private"),
        (Flags::SYNC, "sync"),
        (Flags::KERNEL, "kernel"),
        (Flags::TRANSFER, "transfer"),
    ];
    let set = names.iter().filter(|(flag, _)| flags.contains(*flag));
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(between)
}

/// Name and numbers of an event, and its text with line ends escaped, if the kind has one.
pub(super) fn event_words(what: &EventKind) -> (String, Option<String>) {
    let (tag, fields, text) = events::flatten(what);
    let shape = &SHAPES[usize::from(tag)];
    let mut words = shape.name.to_owned();
    for (i, field) in fields.iter().take(shape.numbers.len()).enumerate() {
        words += &if shape.is_address(i) { format!(" {field:#x}") } else { format!(" {field}") };
    }
    let escaped = || text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
    (words, shape.text.then(escaped))
}
