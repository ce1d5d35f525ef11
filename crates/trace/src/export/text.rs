//! The plain text format of homenode, without loss: what `import --format text` reads back.

use std::cell::RefCell;
use std::io::{self, Write};

use homenode_base::Flags;

use super::{Entry, walk};
use crate::events::{self, SHAPES};
use crate::model::{Batch, Columns, Event};

/// The entry of the format.
pub(super) const ENTRY: Entry = Entry {
    name: "text",
    summary: "plain text: <thread> <R|W|A|I> <hex address> [size] [pc] a line, events as @ lines",
    source: "docs/trace-format.md",
    extensions: &["txt", "text", "trace"],
    begin,
    rows,
};

fn begin(out: &mut dyn Write, _columns: Columns) -> io::Result<()> {
    writeln!(out, "# thread kind address size [pc] [gap=] [pid=] [flags=]")
}

fn rows(out: &mut dyn Write, _columns: Columns, batch: &Batch) -> io::Result<()> {
    let out = RefCell::new(out);
    walk(
        batch,
        |i| row(&mut **out.borrow_mut(), batch, i),
        |event| line(&mut **out.borrow_mut(), event),
    )
}

fn row(out: &mut dyn Write, batch: &Batch, i: usize) -> io::Result<()> {
    let access = batch.get(i);
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
        write!(out, " flags={}", flag_names(access.flags))?;
    }
    writeln!(out)
}

/// Names of the flags, joined by commas.
fn flag_names(flags: Flags) -> String {
    let names = [(Flags::PRIVATE, "private"), (Flags::SYNC, "sync"), (Flags::KERNEL, "kernel")];
    let set = names.iter().filter(|(flag, _)| flags.contains(*flag));
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(",")
}

fn line(out: &mut dyn Write, event: &Event) -> io::Result<()> {
    let (tag, fields, text) = events::flatten(&event.what);
    let shape = &SHAPES[usize::from(tag)];
    write!(out, "@ {} {}", event.thread, shape.name)?;
    for (i, field) in fields.iter().take(shape.numbers.len()).enumerate() {
        if shape.is_address(i) {
            write!(out, " {field:#x}")?;
        } else {
            write!(out, " {field}")?;
        }
    }
    if shape.text {
        let escaped = text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r");
        write!(out, " {escaped}")?;
    }
    writeln!(out)
}
