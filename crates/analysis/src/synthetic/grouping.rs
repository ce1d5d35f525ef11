//! T_Gamma: lost grouping alone.

use super::{ClosedForm, Entry, SyntheticShape, processor};

/// Processors in turn write the whole block, word by word.
///
/// Source: Bolosky section 7.1.6, T_Gamma: Gamma = n o (1 - s) / s, S = F = 0.
///
/// # Deviations
/// The thesis writes the processor as floor(i / s), which would need n / s of them; its text says
/// that the process repeats after the last one, so the number is taken modulo p.
pub const ENTRY: Entry = Entry {
    name: "t-gamma",
    summary: "processors in turn write the whole block: grouping, Gamma = n o (1 - s) / s",
    source: "Bolosky 1993, section 7.1.6",
    reference: |shape, i| (processor(i / shape.words, shape), i % shape.words),
    demand,
    closed,
};

fn demand(shape: &SyntheticShape) -> Option<&'static str> {
    let whole = shape.references.is_multiple_of(shape.words);
    (!whole).then_some("whole sweeps: references that are a multiple of the words")
}

fn closed(shape: &SyntheticShape) -> ClosedForm {
    let sweeps = shape.references / shape.words;
    ClosedForm {
        transfers: sweeps - 1,
        word_transfers: shape.references - shape.words,
        fragmentation: 0,
        false_sharing: 0,
        grouping: (sweeps - 1) * (shape.words - 1),
    }
}
