//! Comma-separated values, lossless: `import --format csv` reads them back.

use std::io::{self, Write};

use homenode_base::Access;
use homenode_trace::{Batch, Columns, Event};

use super::format::{Entry, event_words, flag_names, walk};

pub(super) const ENTRY: Entry = Entry {
    name: "csv",
    summary: "comma-separated values; the first line names the columns",
    source: "docs/trace-format.md",
    extensions: &["csv"],
    begin,
    rows,
};

/// The first line; the import takes the thread numbers below it as homenode's.
pub(crate) const HEADER: &str = "thread,kind,addr,size,flags,pc,gap,pid,event,text";

fn begin(out: &mut dyn Write, _columns: Columns) -> io::Result<()> {
    writeln!(out, "{HEADER}")
}

fn rows(out: &mut dyn Write, _columns: Columns, batch: &Batch) -> io::Result<()> {
    walk(out, batch, row, line)
}

fn row(out: &mut dyn Write, access: Access) -> io::Result<()> {
    let letter = access.kind.letter();
    write!(out, "{},{letter},{:#x},{},", access.thread, access.addr, access.size)?;
    let flags = flag_names(access.flags, "+");
    writeln!(out, "{flags},{:#x},{},{},,", access.pc, access.gap, access.pid)
}

fn line(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    let (words, text) = event_words(&event.what);
    write!(out, "{},,,,,,,,{words},", event.thread)?;
    match text {
        Some(text) => writeln!(out, "\"{}\"", text.replace('"', "\"\"")),
        None => writeln!(out),
    }
}
