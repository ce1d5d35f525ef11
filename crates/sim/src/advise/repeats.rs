//! Whether the saving of a layout exceeds chance.
//!
//! The order in which threads get a lock depends on every earlier delay, and so does execution
//! time: one cycle more for each miss can change it by a tenth. A layout that seems to save time is
//! therefore simulated again, together with the layout without it, on machines whose latencies are
//! a few cycles longer.

use homenode_advise::Layout;
use serde::Serialize;

use super::evaluator::ReportPart;
use crate::error::SimError;
use crate::lines::{LayoutVariant, LineReplay};

/// One repetition suffices if its saving differs by at most one part in this many: chance savings
/// are not repeatable.
const SAME_PART: u64 = 20;

/// Numbers of repetitions if one does not suffice: first the small number, then the large one.
const REPEATS: [usize; 2] = [3, 9];

/// Student's distribution, one-sided 99 % quantile, for 2 and 8 degrees of freedom: by how many
/// standard errors the mean of 3 and of 9 repetitions may be off.
const QUANTILES: [f64; 2] = [6.965, 2.896];

/// Cycles under a layout with every latency one cycle longer, two cycles longer, and so on.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats(Vec<u64>);

/// Cycles on the machine itself, and those of the repetitions.
#[derive(Clone, Copy)]
pub(super) struct RepeatedTime<'a> {
    pub(super) cycles: u64,
    pub(super) repeats: &'a Repeats,
}

impl RepeatedTime<'_> {
    fn all(self) -> Vec<u64> {
        std::iter::once(self.cycles).chain(self.repeats.0.iter().copied()).collect()
    }
}

/// How execution time, and the saving of the advice, vary when every latency of the machine is a
/// few cycles longer.
#[derive(Clone, Debug, Serialize)]
pub struct ChanceRange {
    /// Simulations of the trace as it is: the first with the machine's latencies, each further one
    /// with latencies one cycle longer.
    pub runs: u64,
    /// The shortest and the longest of their execution times.
    pub cycles: [u64; 2],
    /// The smallest and the largest speed-up by all advice, run by run; `null` without advice.
    pub speed_up: Option<[f64; 2]>,
}

impl ChanceRange {
    /// From the times of the trace as it is and under the layout of all advice; `None` if nothing
    /// was repeated.
    pub(super) fn of(before: RepeatedTime<'_>, after: Option<RepeatedTime<'_>>) -> Option<Self> {
        let before = before.all();
        if before.len() < 2 {
            return None;
        }
        let speed_up = after.map(|after| {
            let after = after.all();
            let ratios = before.iter().zip(&after).map(|(&b, &a)| to_f64(b) / to_f64(a.max(1)));
            ratios.fold([f64::INFINITY, 0.0], |[least, most], r| [least.min(r), most.max(r)])
        });
        let least = before.iter().copied().min().unwrap_or(0);
        let most = before.iter().copied().max().unwrap_or(0);
        let runs = u64::try_from(before.len()).unwrap_or(u64::MAX);
        Some(Self { runs, cycles: [least, most], speed_up })
    }
}

pub(super) struct ApparentSaving {
    pub(super) cycles: u64,
    pub(super) saved: u64,
    pub(super) least: u64,
    /// Whether the saving of an earlier layout was chance.
    pub(super) varies: bool,
}

impl ApparentSaving {
    fn is_repeated(&self, before: u64, after: u64) -> bool {
        let again = before.saturating_sub(after);
        let calm = !self.varies && before.abs_diff(self.cycles) <= self.least / 4;
        calm && again >= self.least && again.abs_diff(self.saved) <= self.saved / SAME_PART
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
) -> Result<(bool, Repeats), SimError> {
    let mut after = Repeats::default();
    let least = apparent.least;
    if !apparent.varies {
        extend(replay, [(now, before), (layout, &mut after)], 1, tick)?;
        if apparent.is_repeated(before.0[0], after.0[0]) {
            return Ok((true, after));
        }
    }
    for (repeats, quantile) in REPEATS.into_iter().zip(QUANTILES) {
        extend(replay, [(now, before), (layout, &mut after)], repeats, tick)?;
        let (without, with) = (&before.0[..repeats], &after.0[..repeats]);
        if let Some(sure) = is_saving(without, with, quantile, least) {
            return Ok((sure, after));
        }
    }
    Ok((false, after))
}

/// Whether pairs of repetitions save at least `least` cycles; `None` if that is undecided.
fn is_saving(before: &[u64], after: &[u64], quantile: f64, least: u64) -> Option<bool> {
    let gains: Vec<f64> = before.iter().zip(after).map(|(&b, &a)| to_f64(b) - to_f64(a)).collect();
    let (mean, error) = mean_and_error(&gains);
    let (low, high) = (mean - quantile * error, mean + quantile * error);
    if high < to_f64(least) {
        return Some(false);
    }
    (low > 0.0 && mean >= to_f64(least)).then_some(true)
}

fn extend(
    replay: &LineReplay<'_>,
    mut both: [(&Layout, &mut Repeats); 2],
    until: usize,
    tick: ReportPart<'_>,
) -> Result<(), SimError> {
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

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = to_f64(u64::try_from(values.len()).unwrap_or(u64::MAX));
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[expect(clippy::cast_precision_loss, reason = "cycles stay below 2^53")]
fn to_f64(cycles: u64) -> f64 {
    cycles as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_error_matches_its_definition() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 6.0]);
        // Squares 4 + 1 + 9 over 2 is 7, over 3 values.
        assert!((mean - 3.0).abs() < 1e-12 && (error - (7.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_saving_counts_if_it_exceeds_the_variation() {
        let decide = |before, after| is_saving(before, after, QUANTILES[0], 25);
        // The same saving on every machine, or nearly.
        assert_eq!(decide(&[1000, 1004, 1008], &[900, 903, 909]), Some(true));
        assert_eq!(decide(&[1000, 1004, 1008], &[990, 994, 998]), Some(false));
        // The mean saving is 80 in both cases; the times vary by 10 and by 200.
        assert_eq!(decide(&[1000, 1010, 1000], &[915, 925, 930]), Some(true));
        assert_eq!(decide(&[1000, 1200, 1010], &[1010, 960, 1000]), None);
        assert_eq!(decide(&[900, 900, 900], &[1000, 1001, 1003]), Some(false));
    }

    #[test]
    fn one_repetition_suffices_without_variation() {
        let apparent = ApparentSaving { cycles: 10_000, saved: 2000, least: 250, varies: false };
        assert!(apparent.is_repeated(10_050, 8060));
        assert!(!apparent.is_repeated(10_050, 8200), "the saving is smaller");
        assert!(!apparent.is_repeated(10_100, 8100), "the time varies without the layout");
        assert!(!ApparentSaving { varies: true, ..apparent }.is_repeated(10_050, 8060));
    }

    #[test]
    fn ranges_include_the_machine_itself_and_all_repetitions() {
        let (before, after) = (Repeats(vec![110, 130, 90]), Repeats(vec![100, 100]));
        let before = RepeatedTime { cycles: 100, repeats: &before };
        let after = RepeatedTime { cycles: 50, repeats: &after };
        let range = ChanceRange::of(before, Some(after)).unwrap();
        assert_eq!((range.runs, range.cycles), (4, [90, 130]));
        assert_eq!(range.speed_up, Some([1.1, 2.0]));
        let none = Repeats::default();
        assert!(ChanceRange::of(RepeatedTime { cycles: 100, repeats: &none }, None).is_none());
    }
}
