//! T_S: false sharing alone.

use super::{ClosedForm, Entry, SyntheticShape, processor};

/// Processors in turn write the next word; since p divides s, no word has two writers.
///
/// Source: Bolosky section 7.1.6, T_S: S = n (o + b s), F = Gamma = 0.
pub const ENTRY: Entry = Entry {
    name: "t-s",
    summary: "processors in turn write words of their own: false sharing, S = n (o + b s)",
    source: "Bolosky 1993, section 7.1.6",
    reference: |shape, i| (processor(i, shape), i % shape.words),
    demand,
    closed,
};

fn demand(shape: &SyntheticShape) -> Option<&'static str> {
    let whole = shape.words.is_multiple_of(u64::from(shape.processors));
    (!whole).then_some("the number of processors to divide the number of words")
}

fn closed(shape: &SyntheticShape) -> ClosedForm {
    let moves = shape.references - 1;
    ClosedForm {
        transfers: moves,
        word_transfers: 0,
        fragmentation: 0,
        false_sharing: moves,
        grouping: 0,
    }
}
