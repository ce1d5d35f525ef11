//! Memory traces of Valgrind's lackey tool.
//!
//! ```text
//! I  04001a40,3       an instruction fetch: address and size
//!  L 1fff0002a8,8     a load
//!  S 1fff0002a8,8     a store
//!  M 0421c7cc,4       a modify: load and store of one instruction
//! ==123== ...         a line of Valgrind itself: skipped
//! ```
//!
//! A modify is imported as a read followed by a write, which is what the instruction does unless it
//! has a lock prefix, which lackey does not report. Every data reference gets the address of the
//! last instruction as its program counter; fetches get their own. A reference of more than 64
//! bytes (`fxsave` and the like) becomes several of at most 64. Lackey serialises threads and does
//! not identify them: all references belong to thread 0.

use homenode_base::{Access, AccessKind};

use super::parser::{Entry, Parsed, Parser, ParserBuilder, RecordSink, split_reference};
use super::token::Tokens;

pub(super) const ENTRY: Entry = Entry {
    name: "lackey",
    summary: "Valgrind: --tool=lackey --trace-mem=yes (lines I, L, S, M)",
    source: "Valgrind user manual, \"Lackey\"",
    extensions: &["lackey"],
    build: ParserBuilder::Lines(|| Box::new(Lackey { pc: 0 })),
};

struct Lackey {
    /// Address of the last instruction.
    pc: u64,
}

impl Parser for Lackey {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Parsed<()> {
        let mut words = Tokens::new(line);
        let Some(letter) = words.next() else { return Ok(()) };
        if letter.text.starts_with("==") || letter.text.starts_with("--") {
            return Ok(());
        }
        let kinds: &[AccessKind] = match letter.text {
            "I" => &[AccessKind::Fetch],
            "L" => &[AccessKind::Read],
            "S" => &[AccessKind::Write],
            "M" => &[AccessKind::Read, AccessKind::Write],
            _ => return Err(letter.bad("I, L, S, M or a line of Valgrind (==pid==)").into()),
        };
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
        for &kind in kinds {
            if kind == AccessKind::Fetch {
                self.pc = addr;
            }
            split_reference(Access { pc: self.pc, ..Access::new(0, kind, addr, 0) }, bytes, sink)?;
        }
        Ok(())
    }
}
