//! Short sequences of references that show what the protocols are about.
//!
//! Caches have room for one block of 16 bytes, so that a reference to the other block replaces.

use homenode_base::{Access, AccessKind, Flags};
use homenode_machine::CacheShape;
use serde::Serialize;

/// The first byte of blocks `a` and `b`.
const BLOCKS: [(u8, u64); 2] = [(b'a', 0x1000), (b'b', 0x1010)];

/// A sequence of references.
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
    text: &'static str,
}

/// Every example; the last one is shown when protocols are compared.
pub const EXAMPLES: &[Example] = &[
    Example {
        name: "false-sharing",
        summary: "Two counters in one block",
        about: "Processors 0 and 1 each count in a word of their own, but the words share a block: \
                every write takes the block away from the other. Then processor 2 adds the counts \
                up, processor 0 reads the other's count, and processor 1 needs its frame.",
        protocol: Some("mesi"),
        text: "0 R a0; 0 W a0; 1 R a1; 1 W a1; 0 R a0; 0 W a0; 1 R a1; 1 W a1; 2 R a0; 2 R a1; \
               0 R a1; 1 W a1; 1 W b0; 0 R a1",
    },
    Example {
        name: "migratory",
        summary: "A counter that goes from processor to processor",
        about: "Each processor in turn reads the counter and writes it. Once the block is known \
                to migrate, a reader takes it along and may write without asking. Two readers in \
                a row end that.",
        protocol: Some("amsd"),
        text: "0 R a0; 0 W a0; 1 R a0; 1 W a0; 2 R a0; 2 W a0; 0 R a0; 0 W a0; 1 R a0; 2 R a0; \
               2 W a0; 0 R a0; 0 W a0; 1 R a0",
    },
    Example {
        name: "moving-process",
        summary: "A process moves, and its private block follows",
        about: "A process works on its stack (block a, private) and moves from processor 0 to 1, \
                to 2 and back. Then processors 0 and 1 share a word of block b, and each write \
                updates the other's copy.",
        protocol: Some("pscr"),
        text: "0 W a0 p; 0 R a1 p; 1 R a0 p; 1 W a0 p; 2 R a1 p; 2 W a1 p; 0 R a0 p; 0 W a0 p; \
               0 W b0; 1 R b0; 0 W b0; 1 R b0; 1 W b0; 0 R b0; 1 R a1 p",
    },
    Example {
        name: "dirty-sharing",
        summary: "Many readers of what memory does not have",
        about: "Processor 0 writes, the others read: it keeps the block as its owner and answers \
                for it, and memory learns of it only when the owner needs its frame.",
        protocol: Some("moesi"),
        text: "0 W a0; 1 R a0; 2 R a0; 0 W a0; 1 R a0; 2 R a0; 0 R b0; 1 R a0; 1 W a0; 2 R a0; \
               0 R a0",
    },
    Example {
        name: "producer-consumer",
        summary: "One processor writes what others wait for",
        about: "Processor 0 fills two words, 1 and 2 read them. Each later write goes over the bus \
                and into their copies: they never miss. Then processor 1 writes and becomes the \
                owner, and has to write back when it needs its frame.",
        protocol: Some("dragon"),
        text: "0 W a0; 0 W a1; 1 R a0; 1 R a1; 2 R a0; 0 W a0; 1 R a0; 2 R a0; 0 W a1; 1 R a1; \
               1 W a0; 2 R a0; 1 R b0; 2 R a0",
    },
    Example {
        name: "tour",
        summary: "Four ways to share",
        about: "First two processors write their own words of a block, then a word migrates, then \
                one processor writes what another one reads, and at last a process moves with its \
                private block b, and back.",
        protocol: None,
        text: "0 W a0; 1 W a1; 0 W a0; 1 W a1; 2 R a0; 2 W a0; 0 R a0; 0 W a0; 1 R a0; 0 W a0; \
               1 R a0; 0 W a0; 1 R a0; 0 W b0 p; 1 R b0 p; 1 W b0 p; 2 R b0 p; 2 W b0 p; 0 R b0 p",
    },
];

/// The example for some protocols: the one's own, or that for comparing several.
#[must_use]
pub fn example(protocols: &[&str]) -> &'static Example {
    let own = |example: &&Example| {
        example.protocol.is_some_and(|own| protocols.iter().all(|name| *name == own))
    };
    EXAMPLES.iter().find(own).unwrap_or(&EXAMPLES[EXAMPLES.len() - 1])
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::TABLE;

    #[test]
    fn every_reference_of_every_example_is_read() {
        for example in EXAMPLES {
            assert_eq!(
                example.references().len(),
                example.text.split(';').count(),
                "{}",
                example.name
            );
            assert_eq!(example.processors(), 3);
        }
    }

    #[test]
    fn every_protocol_has_an_example_of_its_own() {
        for entry in TABLE {
            assert_eq!(example(&[entry.name]).protocol, Some(entry.name));
            assert_eq!(example(&[entry.name, entry.name]).protocol, Some(entry.name));
        }
        assert_eq!(example(&["mesi", "amsd"]).name, "tour");
    }
}
