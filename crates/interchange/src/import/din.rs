//! The `din` format of the Dinero cache simulators, and its extension by threads.
//!
//! ```text
//! <label> <hex address>                    label 0 read, 1 write, 2 instruction fetch
//! <label> <hex address> <thread> [size]    extended
//! ```
//!
//! The labels may also be letters r, w and i, as in Dinero IV. Labels 3 (unknown) and 4 (flush) are
//! not references and are rejected. Without a size a reference has 4 bytes, a word.

use homenode_base::{Access, AccessKind, BlockSize};

use super::parser::{BadLine, Entry, Parsed, Parser, ParserBuilder, RecordSink};
use super::token::{Token, Tokens};

pub(super) const ENTRY: Entry = Entry {
    name: "din",
    summary: "Dinero: <0|1|2> <hex address>, optionally followed by a thread and a size",
    source: "Dinero IV, Hill and Edler, \"din\" input format",
    extensions: &["din"],
    build: ParserBuilder::Lines(|| Box::new(Din)),
};

struct Din;

impl Parser for Din {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        let mut words = Tokens::new(line);
        let Some(label) = words.next() else { return Ok(()) };
        if label.text.starts_with('#') {
            return Ok(());
        }
        let kind = kind(label)?;
        let addr = words.need("a hexadecimal address")?.hex("a hexadecimal address")?;
        let mut access = Access::new(0, kind, addr, BlockSize::WORD_BYTES.to_le_bytes()[0]);
        if let Some(thread) = words.next() {
            access.thread = thread.thread()?;
        }
        if let Some(size) = words.next() {
            access.size = size.size()?;
        }
        words.end()?;
        Ok(sink.access(&access)?)
    }
}

fn kind(label: Token<'_>) -> Result<AccessKind, BadLine> {
    match label.text {
        "0" | "r" | "R" => Ok(AccessKind::Read),
        "1" | "w" | "W" => Ok(AccessKind::Write),
        "2" | "i" | "I" => Ok(AccessKind::Fetch),
        _ => Err(label.bad("0 (read), 1 (write) or 2 (instruction fetch)")),
    }
}
