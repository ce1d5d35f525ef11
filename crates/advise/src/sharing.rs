//! Falsely shared blocks under a layout.

use homenode_base::BlockSize;
use serde::Serialize;

use crate::layout::Layout;
use crate::survey::UseSurvey;

/// Blocks that several threads use and one writes, and whose used words do not all have the same
/// users.
///
/// Source: Markatos and Chronaki, section 3.4, for the whole trace instead of a window; a first
/// visit to a word does not count: see [`crate::UseSurveyor`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FalselyShared {
    /// Falsely shared blocks.
    pub blocks: u64,
    /// References to words in them.
    pub references: u64,
}

#[derive(Clone, Copy)]
struct BlockPart {
    block: u64,
    users: u32,
    written: bool,
    mixed: bool,
    references: u64,
}

impl BlockPart {
    fn add(&mut self, other: &Self) {
        self.mixed |= other.mixed || self.users != other.users;
        self.written |= other.written;
        self.references += other.references;
    }
}

/// Counts falsely shared blocks under a layout. Cost: O(words) where the layout keeps their order,
/// and O(n log n) of the words that it moves. Memory: 32 bytes a block.
#[must_use]
pub fn false_sharing(survey: &UseSurvey, layout: &Layout, block: BlockSize) -> FalselyShared {
    let mut parts: Vec<BlockPart> = Vec::new();
    for (word, (users, written), references) in survey.users_of_all() {
        let (block, references) = (layout.word(word) / block.words(), u64::from(references));
        let part = BlockPart { block, users, written, mixed: false, references };
        match parts.last_mut() {
            Some(last) if last.block == block => last.add(&part),
            _ => parts.push(part),
        }
    }
    // If neighbouring words are separated, a block is collected in several parts.
    parts.sort_by_key(|part| part.block);
    parts.dedup_by(|part, first| {
        let same = part.block == first.block;
        if same {
            first.add(part);
        }
        same
    });
    // Words whose sets of users differ have at least two users between them.
    let found = parts.iter().filter(|part| part.written && part.mixed);
    found.fold(FalselyShared::default(), |sum, part| FalselyShared {
        blocks: sum.blocks + 1,
        references: sum.references + part.references,
    })
}
