//! Falsely shared blocks under a layout.

use homenode_base::BlockSize;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::layout::Layout;
use crate::survey::UseSurvey;

/// Blocks that several threads use and one writes, and whose used words do not all have the same
/// users.
///
/// Source: Markatos and Chronaki, section 3.4, for the whole trace instead of a window; a first
/// visit to a word does not count, see [`crate::UseSurveyor`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FalselyShared {
    /// Such blocks.
    pub blocks: u64,
    /// References to words in them.
    pub references: u64,
}

/// State of a block while its words are visited.
#[derive(Clone, Copy)]
struct FalseSharingState {
    users: u32,
    written: bool,
    mixed: bool,
    references: u64,
}

/// Counts falsely shared blocks under a layout. Cost: O(words). Memory: 32 bytes a block.
#[must_use]
pub fn false_sharing(survey: &UseSurvey, layout: &Layout, block: BlockSize) -> FalselyShared {
    let mut blocks: FxHashMap<u64, FalseSharingState> = FxHashMap::default();
    for word in survey.touched() {
        let (users, written) = survey.users_of(word);
        let references = u64::from(survey.references_to(word));
        let number = layout.word(word) / block.words();
        let fresh = FalseSharingState { users, written: false, mixed: false, references: 0 };
        let state = blocks.entry(number).or_insert(fresh);
        state.mixed |= state.users != users;
        state.written |= written;
        state.references += references;
    }
    // Words whose sets of users differ have at least two users between them.
    let found = blocks.values().filter(|state| state.written && state.mixed);
    found.fold(FalselyShared::default(), |sum, state| FalselyShared {
        blocks: sum.blocks + 1,
        references: sum.references + state.references,
    })
}
