//! Memory traces of Valgrind's lackey tool.
//!
//! ```text
//! I  04001a40,3       an instruction fetch: address and size
//!  L 1fff0002a8,8     a load
//!  S 1fff0002a8,8     a store
//!  M 0421c7cc,4       a modify: load and store of one instruction
//! SB 0401ab70         the start of a block of code, with --trace-superblocks=yes: skipped
//! ==123== ...         a line of Valgrind itself: skipped
//! ```
//!
//! After a line of Valgrind itself, lines of another form are the program's own output in the same
//! pipe: they are counted and left out. One that runs into a line of lackey is an error, as it
//! cannot be told which of its bytes are lackey's.
//!
//! A modify is imported as a read followed by a write. A locked instruction (`lock add`, `xchg`)
//! has a load and a modify of the same bytes, as Valgrind makes it of a load and a
//! compare-and-swap: these are one atomic reference. A compare-and-swap of the program itself is a
//! modify only, with or without the lock prefix, and stays a read and a write. Every data
//! reference gets the address of the last instruction as its program counter; fetches get their
//! own. A reference of more than 64 bytes (`fxsave` and the like) becomes several of at most 64.
//! Lackey serialises threads and does not identify them: all references belong to thread 0.

use homenode_base::{Access, AccessKind};
use homenode_trace::{Metadata, TraceError};

use super::parser::{BadLine, Entry, Parsed, Parser, ParserBuilder, RecordSink, split_reference};
use super::token::{Token, Tokens};

pub(super) const ENTRY: Entry = Entry {
    name: "lackey",
    summary: "Valgrind: --tool=lackey --trace-mem=yes (lines I, L, S, M)",
    source: "Valgrind user manual, \"Lackey\"",
    extensions: &["lackey"],
    build: ParserBuilder::Lines(|| Box::<Lackey>::default()),
};

#[derive(Default)]
struct Lackey {
    /// Address of the last instruction; 0 before the first, or in a log without instructions.
    pc: u64,
    /// A load of that instruction, which may turn out to be half of an atomic reference.
    load: Option<Reference>,
    /// Whether the file has lines of Valgrind itself.
    has_banner: bool,
    /// Lines of the program.
    others: u64,
}

const REMEDY: &str = "a line of its own: keep the program's output out of the pipe with \
                      --log-file=FILE or --log-fd=9";

/// Bytes that an instruction references: more of them than one reference of a trace may have.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reference {
    addr: u64,
    bytes: u64,
}

impl Lackey {
    fn emit(
        &self,
        kind: AccessKind,
        reference: Reference,
        sink: &mut dyn RecordSink,
    ) -> Result<(), TraceError> {
        let access = Access { pc: self.pc, ..Access::new(0, kind, reference.addr, 0) };
        split_reference(access, reference.bytes, sink)
    }

    /// A line that does not begin as lackey's do.
    fn other(&mut self, line: &str, first: Token<'_>) -> Result<(), BadLine> {
        if !self.has_banner {
            return Err(first.bad("I, L, S, M or a line of Valgrind (==pid==)"));
        }
        if ends_in_a_reference(line) {
            return Err(first.bad(REMEDY));
        }
        self.others += 1;
        Ok(())
    }

    fn emit_load(&mut self, sink: &mut dyn RecordSink) -> Result<(), TraceError> {
        self.load.take().map_or(Ok(()), |load| self.emit(AccessKind::Read, load, sink))
    }
}

impl Parser for Lackey {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        let mut words = Tokens::new(line);
        let Some(letter) = words.next() else { return Ok(()) };
        if letter.text.starts_with("==") || letter.text.starts_with("--") {
            self.has_banner = true;
            return Ok(());
        }
        if letter.text == "SB" {
            return Ok(());
        }
        if !matches!(letter.text, "I" | "L" | "S" | "M") {
            return Ok(self.other(line, letter)?);
        }
        let place = words.need("an address and a size: 1fff0002a8,8")?;
        let Some((_, size)) = place.split(',') else {
            return Err(place.bad("an address and a size: 1fff0002a8,8").into());
        };
        let addr = place.before(',').hex("a hexadecimal address")?;
        let bytes: u64 = size.decimal("a size in bytes")?;
        if bytes == 0 || bytes > 1 << 16 {
            return Err(size.bad("a size from 1 to 65536 bytes").into());
        }
        words.end()?;
        let reference = Reference { addr, bytes };
        if letter.text == "M" && self.pc != 0 && self.load == Some(reference) {
            self.load = None;
            return Ok(self.emit(AccessKind::Atomic, reference, sink)?);
        }
        self.emit_load(sink)?;
        match letter.text {
            "I" => {
                self.pc = addr;
                self.emit(AccessKind::Fetch, reference, sink)?;
            }
            "L" => self.load = Some(reference),
            "S" => self.emit(AccessKind::Write, reference, sink)?,
            _ => {
                self.emit(AccessKind::Read, reference, sink)?;
                self.emit(AccessKind::Write, reference, sink)?;
            }
        }
        Ok(())
    }

    fn takes_any_bytes(&self) -> bool {
        self.has_banner
    }

    fn finish(&mut self, sink: &mut dyn RecordSink, metadata: &mut Metadata) -> Parsed<()> {
        if self.others > 0 {
            let note = format!("{} lines are not lackey's and were left out", self.others);
            metadata.provenance.push(note);
        }
        Ok(self.emit_load(sink)?)
    }
}

/// Whether the last words are a line of lackey, right after something else.
fn ends_in_a_reference(line: &str) -> bool {
    let [mut last, mut before] = [None, None];
    for word in Tokens::new(line) {
        before = last.replace(word);
    }
    let is_place = last.is_some_and(|word| {
        let size = word.split(',').is_some_and(|(_, size)| size.decimal::<u64>("").is_ok());
        size && word.before(',').hex("").is_ok()
    });
    is_place && before.is_some_and(|word| word.text.ends_with(['I', 'L', 'S', 'M']))
}
