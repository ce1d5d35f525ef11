//! Comma-separated values with a header line that names the columns.
//!
//! ```text
//! thread,kind,addr,size,flags,pc,gap,pid,event,text
//! 0,W,0x1000,4,private,0x400123,3,0,,
//! 1,,,,,,,,lock-acquire 0x2000,
//! 1,,,,,,,,marker,"any text, with ""quotes"""
//! ```
//!
//! Columns may be in any order; `thread`, `kind` and `addr` (or `address`) are required, the others
//! read as 0 (`size`: 4) where absent or empty. Instead of `flags` there may be columns `private`,
//! `sync` and `kernel` with 0 or 1, as in Parquet. Addresses and program counters are hexadecimal
//! with `0x` and decimal without, as spreadsheets write them. A row with an `event` is not a
//! reference. A value with a comma or a quote is quoted; a line end in it is written `\n`. Threads
//! with numbers of an operating system get new ones, unless the header is that of an export.

use homenode_base::{Access, AccessKind, BlockSize, Flags};
use homenode_trace::Metadata;

use super::parser::{BadLine, Entry, Parsed, Parser, ParserBuilder, RecordSink};
use super::text;
use super::threads::ThreadNumbers;
use super::token::{Token, Tokens};
use crate::export::CSV_HEADER;

pub(super) const ENTRY: Entry = Entry {
    name: "csv",
    summary: "comma-separated values; the first line names the columns",
    source: "docs/trace-format.md",
    extensions: &["csv"],
    build: ParserBuilder::Lines(|| Box::<Csv>::default()),
};

/// Names a header may have, and the field each stands for.
const NAMES: &[(&str, Field)] = &[
    ("thread", Field::Thread),
    ("kind", Field::Kind),
    ("addr", Field::Addr),
    ("address", Field::Addr),
    ("size", Field::Size),
    ("flags", Field::Flags),
    ("pc", Field::Pc),
    ("gap", Field::Gap),
    ("pid", Field::Pid),
    ("private", Field::Flag(Flags::PRIVATE)),
    ("sync", Field::Flag(Flags::SYNC)),
    ("kernel", Field::Flag(Flags::KERNEL)),
    ("transfer", Field::Flag(Flags::TRANSFER)),
    ("event", Field::Event),
    ("text", Field::Text),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Thread,
    Kind,
    Addr,
    Size,
    Flags,
    Pc,
    Gap,
    Pid,
    Flag(Flags),
    Event,
    Text,
}

#[derive(Default)]
struct Csv {
    columns: Vec<Field>,
    threads: ThreadNumbers,
}

/// A value of a line without its quotes, and the column where it begins.
struct CsvValue {
    text: String,
    column: usize,
}

impl CsvValue {
    fn word(&self) -> Token<'_> {
        Token { text: self.text.trim(), column: self.column }
    }
}

impl Parser for Csv {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        if line.trim().is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let values = split(line)?;
        if self.columns.is_empty() {
            if line == CSV_HEADER {
                self.threads.keep();
            }
            self.columns = header(&values)?;
            return Ok(());
        }
        if values.len() != self.columns.len() {
            return Err(BadLine {
                column: 1,
                expected: format!("{} values, as in the header", self.columns.len()),
                found: values.len().to_string(),
            }
            .into());
        }
        let event = self.value(&values, Field::Event).filter(|value| !value.text.is_empty());
        if let Some(event) = event {
            let thread = self.need(&values, Field::Thread)?.word();
            let thread = thread.thread(&mut self.threads)?;
            let empty = Token { text: "", column: event.column };
            let text = self
                .value(&values, Field::Text)
                .map_or(empty, |v| Token { text: &v.text, column: v.column });
            let mut words = Tokens::new(&event.text);
            let made = text::event_of(thread, &mut words, Some(text), &mut self.threads);
            let event = made.map_err(|mut bad| {
                bad.column += event.column - 1;
                bad
            })?;
            return Ok(sink.event(event)?);
        }
        let access = self.access(&values)?;
        Ok(sink.access(&access)?)
    }

    fn finish(&mut self, _sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        metadata.provenance.extend(self.threads.note());
        Ok(())
    }
}

impl Csv {
    fn value<'a>(&self, values: &'a [CsvValue], field: Field) -> Option<&'a CsvValue> {
        let place = self.columns.iter().position(|&column| column == field)?;
        values.get(place)
    }

    fn need<'a>(&self, values: &'a [CsvValue], field: Field) -> Result<&'a CsvValue, BadLine> {
        self.value(values, field).ok_or_else(|| BadLine {
            column: 1,
            expected: format!("a value for {field:?}"),
            found: "none".into(),
        })
    }

    fn access(&mut self, values: &[CsvValue]) -> Result<Access, BadLine> {
        let word_bytes = BlockSize::WORD_BYTES.to_le_bytes()[0];
        let mut access = Access::new(0, AccessKind::Read, 0, word_bytes);
        for (&field, value) in self.columns.iter().zip(values) {
            let word = value.word();
            let required = matches!(field, Field::Thread | Field::Kind | Field::Addr);
            if word.text.is_empty() && !required {
                continue;
            }
            match field {
                Field::Thread => access.thread = word.thread(&mut self.threads)?,
                Field::Kind => access.kind = word.kind()?,
                Field::Addr => {
                    access.addr = word.number("an address: 0x and hexadecimal, or decimal")?
                }
                Field::Size => access.size = word.size()?,
                Field::Flags => access.flags = access.flags.union(word.flags()?),
                Field::Pc => {
                    access.pc = word.number("a program counter: 0x and hexadecimal, or decimal")?
                }
                Field::Gap => access.gap = word.decimal("a number below 2^32")?,
                Field::Pid => access.pid = word.decimal("a number below 2^32")?,
                Field::Flag(flag) => match word.text {
                    "0" => {}
                    "1" => access.flags = access.flags.union(flag),
                    _ => return Err(word.bad("0 or 1")),
                },
                Field::Event => {}
                Field::Text => return Err(word.bad("nothing: only events have a text")),
            }
        }
        Ok(access)
    }
}

fn header(values: &[CsvValue]) -> Result<Vec<Field>, BadLine> {
    let mut columns = Vec::new();
    for value in values {
        let word = value.word();
        let known = NAMES.iter().find(|(name, _)| word.text.eq_ignore_ascii_case(name));
        let Some(&(_, field)) = known else {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            return Err(word.bad(&format!("a column name: {}", names.join(", "))));
        };
        if columns.contains(&field) {
            return Err(word.bad("each column once"));
        }
        columns.push(field);
    }
    for (field, name) in [(Field::Thread, "thread"), (Field::Kind, "kind"), (Field::Addr, "addr")] {
        if !columns.contains(&field) {
            let expected = format!("a header line with the column {name}");
            return Err(BadLine { column: 1, expected, found: "none".into() });
        }
    }
    Ok(columns)
}

fn split(line: &str) -> Result<Vec<CsvValue>, BadLine> {
    let mut values = Vec::new();
    let mut at = 0;
    loop {
        let rest = &line[at..];
        let (text, used) = if rest.starts_with('"') { quoted(rest, at)? } else { plain(rest) };
        values.push(CsvValue { text, column: at + 1 });
        at += used;
        match line.as_bytes().get(at) {
            None => return Ok(values),
            Some(b',') => at += 1,
            Some(_) => {
                return Err(Token { text: &line[at..], column: at + 1 }.bad("a comma"));
            }
        }
    }
}

fn plain(rest: &str) -> (String, usize) {
    let end = rest.find(',').unwrap_or(rest.len());
    (rest[..end].to_owned(), end)
}

/// A quoted value and its length in the line; two quotes represent one.
fn quoted(rest: &str, at: usize) -> Result<(String, usize), BadLine> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((place, c)) = chars.next() {
        if c != '"' {
            text.push(c);
        } else if chars.next_if(|&(_, next)| next == '"').is_some() {
            text.push('"');
        } else {
            return Ok((text, place + 1));
        }
    }
    let found = "the end of the line".into();
    Err(BadLine { column: at + rest.len() + 1, expected: "a closing quote".into(), found })
}
