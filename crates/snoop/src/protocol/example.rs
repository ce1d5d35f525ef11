//! The example of a protocol: a few references that show what it is about.

use homenode_base::{Access, AccessKind, Flags};
use homenode_machine::CacheShape;
use serde::Serialize;

/// The first byte of blocks `a` and `b`.
const BLOCKS: [(u8, u64); 2] = [(b'a', 0x1000), (b'b', 0x1010)];

/// A short sequence of references that shows what a protocol is about. Each cache has room for one
/// block of 16 bytes, so that a reference to the other block replaces.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Example {
    /// Name on the command line.
    pub name: &'static str,
    /// What it shows, as a title.
    pub summary: &'static str,
    /// What happens in it.
    pub about: &'static str,
    /// The protocol that it is made for, if it is made for one.
    pub protocol: Option<&'static str>,
    /// Processor, kind and word of each reference; `p` marks a private area.
    #[serde(skip)]
    pub(crate) text: &'static str,
}

impl Example {
    /// Each processor's cache.
    pub const CACHE: CacheShape =
        CacheShape { size_bytes: 16, block_size_bytes: 16, associativity: 1 };

    /// The references. Thread i is meant to run on processor i.
    #[must_use]
    pub fn references(&self) -> Vec<Access> {
        self.text.split(';').filter_map(reference).collect()
    }

    /// Processors that it needs.
    #[must_use]
    pub fn processors(&self) -> u16 {
        self.references().iter().map(|access| access.thread + 1).max().unwrap_or(1)
    }
}

/// Reads `0 W a1 p`.
fn reference(text: &str) -> Option<Access> {
    let mut parts = text.split_whitespace();
    let thread = parts.next()?.parse().ok()?;
    let kind = match parts.next()? {
        "R" => AccessKind::Read,
        "W" => AccessKind::Write,
        _ => return None,
    };
    let (&letter, word) = parts.next()?.as_bytes().split_first()?;
    let (_, block) = BLOCKS.iter().find(|(name, _)| *name == letter)?;
    let word: u64 = std::str::from_utf8(word).ok()?.parse().ok()?;
    let mut access = Access::new(thread, kind, block + 4 * word, 4);
    if parts.next() == Some("p") {
        access.flags = Flags::PRIVATE;
    }
    Some(access)
}
