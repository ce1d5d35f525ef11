//! References and their blocks.

use std::ops::RangeInclusive;

use homenode_base::{Access, AccessKind};
use homenode_trace::Batch;
use serde::Serialize;

/// A block of a walk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkBlock {
    /// Its first byte.
    pub address: u64,
    /// The words of four bytes that any step touches, by their position in the block. Scenes show
    /// these.
    pub words: Vec<u32>,
}

impl WalkBlock {
    /// The blocks of some pieces ([`pieces`]), in the order of their first reference.
    pub fn all<'a>(parts: impl IntoIterator<Item = &'a Access>, shift: u32) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::new();
        for access in parts {
            let address = access.addr >> shift << shift;
            let at =
                blocks.iter().position(|block| block.address == address).unwrap_or_else(|| {
                    blocks.push(Self { address, words: Vec::new() });
                    blocks.len() - 1
                });
            blocks[at].words.extend(touched_words(access, shift));
        }
        for block in &mut blocks {
            block.words.sort_unstable();
            block.words.dedup();
        }
        blocks
    }

    /// The position of the block with this number in the address space.
    #[must_use]
    pub fn position(blocks: &[Self], number: u64, shift: u32) -> Option<usize> {
        blocks.iter().position(|block| block.address >> shift == number)
    }
}

/// Splits a reference at the borders of blocks of `1 << shift` bytes.
#[must_use]
pub fn pieces(access: &Access, shift: u32) -> Vec<Access> {
    let end = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
    let piece = |block: u64| {
        let begin = access.addr.max(block << shift);
        let last = end.min((block << shift) | ((1 << shift) - 1));
        Access { addr: begin, size: u8::try_from(last - begin + 1).unwrap_or(u8::MAX), ..*access }
    };
    (access.addr >> shift..=end >> shift).map(piece).collect()
}

/// The words of a piece, by their position in the block.
#[must_use]
pub fn touched_words(access: &Access, shift: u32) -> RangeInclusive<u32> {
    let offset = access.addr & ((1 << shift) - 1);
    let word = |byte: u64| u32::try_from(byte / 4).unwrap_or(u32::MAX);
    word(offset)..=word(offset + u64::from(access.size.max(1)) - 1)
}

/// The name of a kind of reference in walks.
#[must_use]
pub const fn kind_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
        AccessKind::Fetch => "fetch",
    }
}

/// References as an engine is given them.
#[must_use]
pub fn batch_of(accesses: &[Access]) -> Batch {
    Batch {
        turns: accesses.iter().map(|access| access.thread).collect(),
        kind: accesses.iter().map(|access| access.kind.code()).collect(),
        size: accesses.iter().map(|access| access.size).collect(),
        addr: accesses.iter().map(|access| access.addr).collect(),
        flags: accesses.iter().map(|access| access.flags.0).collect(),
        ..Batch::default()
    }
}
