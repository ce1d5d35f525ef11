//! Groups of writes, and of writes and reads, by one processor.

use homenode_placement::Run;

/// `repeats` times `writes` writes and `reads` reads, with the last reads still to be placed; no
/// writes: reads only, in one repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteCycles {
    pub(crate) writes: u64,
    pub(crate) reads: u64,
    pub(crate) repeats: u64,
}

/// The steps of a run. With `split` its first write is a step of its own, because a block may then
/// go elsewhere at the first write and to the writer at the second; so is the first repetition.
pub(crate) fn steps(run: Run, split: bool) -> impl Iterator<Item = WriteCycles> + use<> {
    let (writes, reads, repeats) = (run.cycle_writes(), run.cycle_reads(), run.repeats());
    let steps = if run.is_read_only() {
        [Some(WriteCycles { writes: 0, reads: run.references(), repeats: 1 }), None, None]
    } else if !split || run.writes() == 1 {
        [Some(WriteCycles { writes, reads, repeats }), None, None]
    } else if writes == 1 {
        let first = WriteCycles { writes: 1, reads, repeats: 1 };
        [Some(first), Some(WriteCycles { writes, reads, repeats: repeats - 1 }), None]
    } else {
        let first = WriteCycles { writes: 1, reads: 0, repeats: 1 };
        let second = WriteCycles { writes: writes - 1, reads, repeats: 1 };
        let rest = (repeats > 1).then_some(WriteCycles { writes, reads, repeats: repeats - 1 });
        [Some(first), Some(second), rest]
    };
    steps.into_iter().flatten()
}
