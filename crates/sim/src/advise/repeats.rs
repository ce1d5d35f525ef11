//! Simulates a layout again to find whether its saving exceeds chance.
//!
//! The order in which threads get a lock depends on every earlier delay, and so does execution
//! time: one cycle more for each miss can change it by a tenth. A layout that seems to save time is
//! therefore simulated again, together with the layout without it, on machines whose latencies are
//! a few cycles longer.

use homenode_advise::{ApparentSaving, Layout, PairedRepetitions};

use super::evaluator::ReportPart;
use crate::error::SimResult;
use crate::lines::{LayoutVariant, LineReplay};

/// Cycles under a layout with every latency one cycle longer, two cycles longer, and so on.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats(Vec<u64>);

impl Repeats {
    /// These cycles after those on the machine itself.
    pub(super) fn after(&self, cycles: u64) -> Vec<u64> {
        std::iter::once(cycles).chain(self.0.iter().copied()).collect()
    }
}

/// Whether the saving of one layout on top of another is more than chance. Returns the cycles of
/// the repetitions with the layout, if so; `before` has those without it and is extended as needed.
pub(super) fn saves_beyond_chance(
    replay: &LineReplay<'_>,
    now: &Layout,
    layout: &Layout,
    apparent: &ApparentSaving,
    before: &mut Repeats,
    tick: ReportPart<'_>,
) -> SimResult<(bool, Repeats)> {
    let mut after = Repeats::default();
    if !apparent.varies {
        extend(replay, [(now, before), (layout, &mut after)], 1, tick)?;
        if apparent.is_repeated(before.0[0], after.0[0]) {
            return Ok((true, after));
        }
    }
    for tried in PairedRepetitions::TRIED {
        extend(replay, [(now, before), (layout, &mut after)], tried.pairs, tick)?;
        if let Some(sure) = tried.is_saving(&before.0, &after.0, apparent.least) {
            return Ok((sure, after));
        }
    }
    Ok((false, after))
}

fn extend(
    replay: &LineReplay<'_>,
    mut both: [(&Layout, &mut Repeats); 2],
    until: usize,
    tick: ReportPart<'_>,
) -> SimResult<()> {
    let mut variants = Vec::new();
    for (layout, repeats) in &both {
        let slower = (repeats.0.len() + 1..=until).map(|n| u64::try_from(n).unwrap_or(u64::MAX));
        variants.extend(slower.map(|slower_by| LayoutVariant { layout, slower_by }));
    }
    if variants.is_empty() {
        return Ok(());
    }
    let results = replay.simulate(&variants, tick)?;
    let mut cycles = results.iter().map(|result| result.cycles);
    for (_, repeats) in &mut both {
        let missing = until.saturating_sub(repeats.0.len());
        repeats.0.extend(cycles.by_ref().take(missing));
    }
    Ok(())
}
