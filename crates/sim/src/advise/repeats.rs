//! Whether what a layout saves is more than chance.
//!
//! Which thread comes to a lock first depends on every delay before, and with it the time that a
//! program takes: that may change by a tenth if a single miss takes a cycle more. So a layout that
//! seems to save time is simulated again, beside the one without it, on machines whose latencies
//! are a few cycles longer.

use homenode_advise::Layout;
use serde::Serialize;

use super::evaluator::ReportPart;
use crate::error::SimError;
use crate::lines::{LayoutVariant, LineReplay};

/// A single repetition decides if it saves the same but for one part in so many: what is saved by
/// chance is another time something else.
const SAME_PART: u64 = 20;

/// Repetitions where it does not, and those where these do not decide.
const REPEATS: [usize; 2] = [3, 9];

/// How many standard errors a mean of so many may lie off by chance with a probability of one in a
/// hundred: Student's distribution with 2 and with 8 degrees of freedom, one side.
const QUANTILES: [f64; 2] = [6.965, 2.896];

/// Cycles under a layout when every latency is one cycle longer, two, and so on.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats(Vec<u64>);

impl Repeats {
    pub(super) fn cycles(&self) -> &[u64] {
        &self.0
    }
}

/// How much the time varies, and what the advice saves, when every latency of the machine is a few
/// cycles longer: what changes by chance.
#[derive(Clone, Debug, Serialize)]
pub struct ChanceRange {
    /// Simulations of the trace as it is, the first with the latencies of the machine, each further
    /// one with latencies a cycle longer.
    pub runs: u64,
    /// The shortest and the longest time of these.
    pub cycles: [u64; 2],
    /// The least and the largest speed-up by all advice, run by run; `null` without advice.
    pub speed_up: Option<[f64; 2]>,
}

impl ChanceRange {
    /// Of the trace as it is and under the layout of all advice, each with the time on the machine
    /// itself. None if nothing was repeated.
    pub(super) fn of(
        (before, repeats): (u64, &Repeats),
        after: Option<(u64, &Repeats)>,
    ) -> Option<Self> {
        let all = |first: u64, more: &Repeats| -> Vec<u64> {
            std::iter::once(first).chain(more.cycles().iter().copied()).collect()
        };
        let before = all(before, repeats);
        if before.len() < 2 {
            return None;
        }
        let speed_up = after.map(|(cycles, repeats)| {
            let after = all(cycles, repeats);
            let ratios = before.iter().zip(&after).map(|(&b, &a)| to_f64(b) / to_f64(a.max(1)));
            ratios.fold([f64::INFINITY, 0.0], |[least, most], r| [least.min(r), most.max(r)])
        });
        let least = before.iter().copied().min().unwrap_or(0);
        let most = before.iter().copied().max().unwrap_or(0);
        let runs = u64::try_from(before.len()).unwrap_or(u64::MAX);
        Some(Self { runs, cycles: [least, most], speed_up })
    }
}

/// What seems to be saved on the machine itself.
pub(super) struct SeemingSaving {
    /// Cycles without the layout.
    pub(super) cycles: u64,
    /// Of these, those that it seems to save.
    pub(super) saved: u64,
    /// The fewest that count.
    pub(super) least: u64,
    /// Whether anything turned out to save by chance before.
    pub(super) varies: bool,
}

impl SeemingSaving {
    /// Whether a single repetition, of cycles before and after, says the same.
    fn is_repeated(&self, before: u64, after: u64) -> bool {
        let again = before.saturating_sub(after);
        let calm = !self.varies && before.abs_diff(self.cycles) <= self.least / 4;
        calm && again >= self.least && again.abs_diff(self.saved) <= self.saved / SAME_PART
    }
}

/// Whether a layout saves on top of another what it seems to save, and not by chance. `before` and
/// what is returned are the cycles of the repetitions of the two; `before` grows as it is needed.
pub(super) fn saves_surely(
    replay: &LineReplay<'_>,
    (now, layout): (&Layout, &Layout),
    seems: &SeemingSaving,
    before: &mut Repeats,
    tick: ReportPart<'_>,
) -> Result<(bool, Repeats), SimError> {
    let mut after = Repeats::default();
    let least = seems.least;
    if !seems.varies {
        extend(replay, [(now, before), (layout, &mut after)], 1, tick)?;
        if seems.is_repeated(before.0[0], after.0[0]) {
            return Ok((true, after));
        }
    }
    for (repeats, quantile) in REPEATS.into_iter().zip(QUANTILES) {
        extend(replay, [(now, before), (layout, &mut after)], repeats, tick)?;
        let cycles = (&before.cycles()[..repeats], &after.cycles()[..repeats]);
        if let Some(sure) = is_saving(cycles, quantile, least) {
            return Ok((sure, after));
        }
    }
    Ok((false, after))
}

/// Whether repetitions, by pairs before and after, save at least so many cycles. None if that may
/// or may not be chance.
fn is_saving((before, after): (&[u64], &[u64]), quantile: f64, least: u64) -> Option<bool> {
    let gains: Vec<f64> = before.iter().zip(after).map(|(&b, &a)| to_f64(b) - to_f64(a)).collect();
    let (mean, error) = mean_and_error(&gains);
    let (low, high) = (mean - quantile * error, mean + quantile * error);
    if high < to_f64(least) {
        return Some(false);
    }
    (low > 0.0 && mean >= to_f64(least)).then_some(true)
}

/// Simulates the repetitions of two layouts that there are not yet.
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

/// The mean, and its standard error.
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
    fn the_error_of_a_mean_is_that_of_statistics() {
        let (mean, error) = mean_and_error(&[1.0, 2.0, 6.0]);
        // Squares 4 + 1 + 9 over 2 is 7, over 3 values.
        assert!((mean - 3.0).abs() < 1e-12 && (error - (7.0f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_saving_is_sure_if_it_stands_out_of_what_varies() {
        let decide = |before, after| is_saving((before, after), QUANTILES[0], 25);
        // The same on every machine, or nearly.
        assert_eq!(decide(&[1000, 1004, 1008], &[900, 903, 909]), Some(true));
        assert_eq!(decide(&[1000, 1004, 1008], &[990, 994, 998]), Some(false));
        // The mean saving is 80 both times: of times that vary by 10 and by 200.
        assert_eq!(decide(&[1000, 1010, 1000], &[915, 925, 930]), Some(true));
        assert_eq!(decide(&[1000, 1200, 1010], &[1010, 960, 1000]), None);
        assert_eq!(decide(&[900, 900, 900], &[1000, 1001, 1003]), Some(false));
    }

    #[test]
    fn one_repetition_is_enough_where_nothing_varies() {
        let seems = SeemingSaving { cycles: 10_000, saved: 2000, least: 250, varies: false };
        assert!(seems.is_repeated(10_050, 8060));
        assert!(!seems.is_repeated(10_050, 8200), "it saves less");
        assert!(!seems.is_repeated(10_100, 8100), "the time varies without it");
        assert!(!SeemingSaving { varies: true, ..seems }.is_repeated(10_050, 8060));
    }

    #[test]
    fn ranges_are_over_the_machine_itself_and_the_repetitions() {
        let (before, after) = (Repeats(vec![110, 130, 90]), Repeats(vec![100, 100]));
        let range = ChanceRange::of((100, &before), Some((50, &after))).unwrap();
        assert_eq!((range.runs, range.cycles), (4, [90, 130]));
        assert_eq!(range.speed_up, Some([1.1, 2.0]));
        assert!(ChanceRange::of((100, &Repeats::default()), None).is_none());
    }
}
