//! A hexadecimal address a line, read by thread 0.
//!
//! ```text
//! 7ffe0010
//! ```

use homenode_base::{Access, AccessKind};

use super::token::Tokens;
use super::parser::{Entry, LineError, Parser, ParserBuilder, RecordSink};

/// The entry of the format.
pub(super) const ENTRY: Entry = Entry {
    name: "addresses",
    summary: "a hexadecimal address a line, read by one thread",
    source: "an example",
    extensions: &["addresses"],
    build: ParserBuilder::Lines(|| Box::new(Addresses)),
};

struct Addresses;

impl Parser for Addresses {
    fn line(&mut self, line: &str, sink: &mut dyn RecordSink) -> Result<(), LineError> {
        let mut words = Tokens::new(line);
        let Some(word) = words.next() else { return Ok(()) };
        let addr = word.hex("a hexadecimal address")?;
        words.end()?;
        Ok(sink.access(&Access::new(0, AccessKind::Read, addr, 4))?)
    }
}
