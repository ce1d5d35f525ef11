//! The `din` format of the Dinero cache simulators, and its extension by threads.
//!
//! ```text
//! <label> <hex address>                     label 0 read, 1 write, 2 instruction fetch
//! <label> <hex address> <hex size>          Dinero IV, -informat D
//! <label> <hex address> <thread> <size>     homenode: both decimal
//! ```
//!
//! The labels may also be letters r, w and i, as in Dinero IV. Labels 3 (unknown) and 4 (flush) are
//! not references and are rejected. Without a size a reference has 4 bytes, a word. Any other rest
//! of a line is a comment, as Dinero has it; such lines are counted. Threads with numbers of an
//! operating system get new ones.

use homenode_base::{Access, AccessKind, BlockSize};
use homenode_trace::Metadata;

use super::parser::{
    BadLine, Entry, MAX_SIZE, Parsed, Parser, ParserBuilder, RecordSink, split_reference,
};
use super::threads::ThreadNumbers;
use super::token::{Token, Tokens};

pub(super) const ENTRY: Entry = Entry {
    name: "din",
    summary: "Dinero: <0|1|2> <hex address>, then nothing, a hex size, or a thread and a size",
    source: "Dinero IV, Hill and Edler, \"din\" and \"extended din\" input formats",
    extensions: &["din"],
    build: ParserBuilder::Lines(|| Box::<Din>::default()),
};

#[derive(Default)]
struct Din {
    threads: ThreadNumbers,
    /// Lines with a comment.
    comments: u64,
}

/// Largest size in hexadecimal; a larger number is part of a comment.
const LARGEST_SIZE: u64 = 1 << 16;

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
        let Some(third) = words.next() else { return Ok(sink.access(&access)?) };
        let fourth = words.next();
        if let Some(size) = fourth
            && is_decimal(third)
            && is_decimal(size)
        {
            access.thread = third.thread(&mut self.threads)?;
            access.size = size.size()?;
            words.end()?;
            return Ok(sink.access(&access)?);
        }
        let size = extended_size(third)?;
        self.comments += u64::from(fourth.is_some() || size.is_none());
        match size {
            Some(size) => Ok(split_reference(access, size, sink)?),
            None => Ok(sink.access(&access)?),
        }
    }

    fn finish(&mut self, _sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        metadata.provenance.extend(self.threads.note());
        if self.comments > 0 {
            let note = format!("{} lines have a comment, which was left out", self.comments);
            metadata.provenance.push(note);
        }
        Ok(())
    }
}

fn is_decimal(word: Token<'_>) -> bool {
    word.decimal::<u64>("").is_ok()
}

/// The size of a line of three fields; None for the first word of a comment, even if its letters
/// are all hexadecimal digits.
fn extended_size(word: Token<'_>) -> Result<Option<u64>, BadLine> {
    let like_a_number = word.text.len() == 1 || word.text.starts_with(|c: char| c.is_ascii_digit());
    let size = word.hex("").ok().filter(|&size| like_a_number && size <= LARGEST_SIZE);
    if size == Some(0) {
        let expected =
            format!("a size from 1 in hexadecimal, or a thread and a size to {MAX_SIZE}");
        return Err(word.bad(&expected));
    }
    Ok(size)
}

fn kind(label: Token<'_>) -> Result<AccessKind, BadLine> {
    match label.text {
        "0" | "r" | "R" => Ok(AccessKind::Read),
        "1" | "w" | "W" => Ok(AccessKind::Write),
        "2" | "i" | "I" => Ok(AccessKind::Fetch),
        _ => Err(label.bad("0 (read), 1 (write) or 2 (instruction fetch)")),
    }
}
