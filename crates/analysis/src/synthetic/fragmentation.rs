//! T_F: fragmentation alone.

use super::{ClosedForm, Entry, SyntheticShape, processor};

/// Processors in turn write the first word: all of the block moves, one word of it is used.
///
/// Source: Bolosky section 7.1.6, T_F: F = n b (s - 1), S = Gamma = 0.
pub const ENTRY: Entry = Entry {
    name: "t-f",
    summary: "processors in turn write one word: fragmentation, F = n b (s - 1)",
    source: "Bolosky 1993, section 7.1.6",
    reference: |shape, i| (processor(i, shape), 0),
    demand: |_| None,
    closed,
};

fn closed(shape: &SyntheticShape) -> ClosedForm {
    let moves = shape.references - 1;
    ClosedForm {
        transfers: moves,
        word_transfers: moves,
        fragmentation: moves * (shape.words - 1),
        false_sharing: 0,
        grouping: 0,
    }
}
