//! The plain text format of homenode, lossless: `import --format text` reads it back.

use std::io::{self, Write};

use homenode_base::Access;
use homenode_trace::{Batch, Columns, Event};

use super::format::{Entry, event_words, flag_names, walk};

pub(super) const ENTRY: Entry = Entry {
    name: "text",
    summary: "plain text: <thread> <R|W|A|I> <hex address> [size] [pc] a line, events as @ lines",
    source: "docs/trace-format.md",
    extensions: &["txt", "text", "trace"],
    begin,
    rows,
};

/// The first line; the import takes the thread numbers below it as homenode's.
pub(crate) const HEADER: &str = "# thread kind address size [pc] [gap=] [pid=] [flags=]";

fn begin(out: &mut dyn Write, _columns: Columns) -> io::Result<()> {
    writeln!(out, "{HEADER}")
}

fn rows(out: &mut dyn Write, _columns: Columns, batch: &Batch) -> io::Result<()> {
    walk(out, batch, row, line)
}

fn row(out: &mut dyn Write, access: Access) -> io::Result<()> {
    let letter = access.kind.letter();
    write!(out, "{} {letter} {:#x} {}", access.thread, access.addr, access.size)?;
    if access.pc != 0 {
        write!(out, " {:#x}", access.pc)?;
    }
    if access.gap != 0 {
        write!(out, " gap={}", access.gap)?;
    }
    if access.pid != 0 {
        write!(out, " pid={}", access.pid)?;
    }
    if access.flags.0 != 0 {
        write!(out, " flags={}", flag_names(access.flags, ","))?;
    }
    writeln!(out)
}

fn line(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    let (words, text) = event_words(&event.what);
    write!(out, "@ {} {words}", event.thread)?;
    if let Some(text) = text {
        write!(out, " {text}")?;
    }
    writeln!(out)
}
