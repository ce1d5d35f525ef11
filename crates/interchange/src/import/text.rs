//! The plain text format of homenode; `docs/trace-format.md` describes it for users.
//!
//! ```text
//! # a comment
//! <thread> <R|W|A|I> <hex address> [size] [hex pc] [gap=N] [pid=N] [flags=private,sync,kernel]
//! @ <thread> <event> <fields>
//! ```
//!
//! Sizes are 4 bytes (a word) where left out. Threads with numbers of an operating system get new
//! ones, unless the first line is that of homenode's export.

use homenode_base::{Access, BlockSize};
use homenode_trace::{Event, Metadata};

use super::parser::{BadLine, Entry, Parsed, Parser, ParserBuilder, RecordSink};
use super::threads::ThreadNumbers;
use super::token::{Token, Tokens};
use crate::export::TEXT_HEADER;
use homenode_trace::events::{self, FIELDS};

pub(super) const ENTRY: Entry = Entry {
    name: "text",
    summary: "plain text: <thread> <R|W|A|I> <hex address> [size] [pc] a line, events as @ lines",
    source: "docs/trace-format.md",
    extensions: &["txt", "text", "trace"],
    build: ParserBuilder::Lines(|| Box::<Text>::default()),
};

#[derive(Default)]
struct Text {
    threads: ThreadNumbers,
}

impl Parser for Text {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        let mut words = Tokens::new(line);
        let Some(first) = words.next() else { return Ok(()) };
        if first.text.starts_with('#') {
            if line == TEXT_HEADER {
                self.threads.keep();
            }
            return Ok(());
        }
        if first.text == "@" {
            let event = event(&mut words, &mut self.threads)?;
            return Ok(sink.event(event)?);
        }
        let thread = first.thread(&mut self.threads)?;
        let access = access(thread, &mut words)?;
        Ok(sink.access(&access)?)
    }

    fn finish(&mut self, _sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        metadata.provenance.extend(self.threads.note());
        Ok(())
    }
}

fn access(thread: u16, words: &mut Tokens<'_>) -> Result<Access, BadLine> {
    let kind = words.need("R, W, A or I")?.kind()?;
    let addr = words.need("a hexadecimal address")?.hex("a hexadecimal address")?;
    let word_bytes = BlockSize::WORD_BYTES.to_le_bytes()[0];
    let mut access = Access::new(thread, kind, addr, word_bytes);
    for (place, word) in words.by_ref().enumerate() {
        match word.split('=') {
            Some(("gap", value)) => access.gap = value.decimal("a number below 2^32")?,
            Some(("pid", value)) => access.pid = value.decimal("a number below 2^32")?,
            Some(("flags", value)) => access.flags = value.flags()?,
            None if place == 0 => access.size = word.size()?,
            None if place == 1 => access.pc = word.hex("a hexadecimal program counter")?,
            _ if word.text.starts_with('#') => break,
            _ => return Err(word.bad("gap=N, pid=N, flags=... or the end of the line")),
        }
    }
    Ok(access)
}

fn event(words: &mut Tokens<'_>, threads: &mut ThreadNumbers) -> Result<Event, BadLine> {
    let thread = words.need("the number of a thread")?.thread(threads)?;
    event_of(thread, words, None, threads)
}

/// An event from its name, its fields and its text: the rest of the words unless given.
pub(super) fn event_of(
    thread: u16,
    words: &mut Tokens<'_>,
    text: Option<Token<'_>>,
    threads: &mut ThreadNumbers,
) -> Result<Event, BadLine> {
    let name = words.need("the name of an event")?;
    let Some((tag, shape)) = events::by_name(name.text) else {
        return Err(name.bad("the name of an event, as docs/trace-format.md lists them"));
    };
    let mut fields = [0; FIELDS];
    let mut last = name;
    for (i, field) in fields.iter_mut().take(shape.numbers.len()).enumerate() {
        last = words.need(shape.numbers[i])?;
        *field = if shape.is_address(i) {
            last.hex("a hexadecimal address")?
        } else if shape.is_thread(i) {
            u64::from(last.thread(threads)?)
        } else {
            last.decimal("a decimal number")?
        };
    }
    let text = match text {
        None if shape.text => unescape(words.rest())?,
        Some(given) if shape.text => unescape(given)?,
        Some(given) if !given.text.is_empty() => return Err(given.bad("no text for this event")),
        _ => String::new(),
    };
    if !shape.text {
        words.end()?;
    }
    let what = events::build(tag, fields, text).ok_or_else(|| last.bad("a field in range"))?;
    Ok(Event { thread, what })
}

/// Undoes `crate::export`'s escapes: `\n`, `\r`, `\\`.
fn unescape(word: Token<'_>) -> Result<String, BadLine> {
    let mut out = String::with_capacity(word.text.len());
    let mut chars = word.text.char_indices();
    while let Some((at, c)) = chars.next() {
        out.push(match c {
            '\\' => match chars.next() {
                Some((_, 'n')) => '\n',
                Some((_, 'r')) => '\r',
                Some((_, '\\')) => '\\',
                _ => return Err(word.skip(at).bad("\\n, \\r or \\\\ after a backslash")),
            },
            other => other,
        });
    }
    Ok(out)
}
