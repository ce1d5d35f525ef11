//! Whether the saving of a layout exceeds chance, from times of repeated simulations.

use serde::Serialize;

/// One repetition suffices if its saving differs by at most one part in this many: chance savings
/// are not repeatable.
const SAME_PART: u64 = 20;

/// A saving of one simulation.
#[derive(Clone, Copy, Debug)]
pub struct ApparentSaving {
    /// Cycles without the layout.
    pub cycles: u64,
    /// Cycles saved.
    pub saved: u64,
    /// The smallest saving that counts, in cycles.
    pub least: u64,
    /// Whether the saving of an earlier layout was chance.
    pub varies: bool,
}

impl ApparentSaving {
    /// Whether one repetition suffices: its cycles are these without and with the layout.
    #[must_use]
    pub fn is_repeated(&self, before: u64, after: u64) -> bool {
        let again = before.saturating_sub(after);
        let calm = !self.varies && before.abs_diff(self.cycles) <= self.least / 4;
        calm && again >= self.least && again.abs_diff(self.saved) <= self.saved / SAME_PART
    }
}

/// A number of pairs of repetitions, without and with a layout, that may decide.
#[derive(Clone, Copy, Debug)]
pub struct PairedRepetitions {
    /// Pairs.
    pub pairs: usize,
    /// By how many standard errors the mean may be off: the one-sided 99 % quantile of Student's
    /// distribution with one degree of freedom less than pairs.
    quantile: f64,
}

impl PairedRepetitions {
    /// The numbers of pairs to try: first the small number, then the large one.
    pub const TRIED: [Self; 2] =
        [Self { pairs: 3, quantile: 6.965 }, Self { pairs: 9, quantile: 2.896 }];

    /// Whether the pairs save at least `least` cycles; `None` if that is undecided.
    ///
    /// # Panics
    /// When a list is shorter than [`Self::pairs`].
    #[must_use]
    pub fn is_saving(self, before: &[u64], after: &[u64], least: u64) -> Option<bool> {
        let pairs = before[..self.pairs].iter().zip(&after[..self.pairs]);
        let gains: Vec<f64> = pairs.map(|(&b, &a)| to_f64(b) - to_f64(a)).collect();
        let (mean, error) = mean_and_error(&gains);
        let (low, high) = (mean - self.quantile * error, mean + self.quantile * error);
        if high < to_f64(least) {
            return Some(false);
        }
        (low > 0.0 && mean >= to_f64(least)).then_some(true)
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
    /// From the times of the trace as it is and under the layout of all advice, those on the
    /// machine itself first; `None` if nothing was repeated.
    #[must_use]
    pub fn of(before: &[u64], after: Option<&[u64]>) -> Option<Self> {
        if before.len() < 2 {
            return None;
        }
        let speed_up = after.map(|after| {
            let ratios = before.iter().zip(after).map(|(&b, &a)| to_f64(b) / to_f64(a.max(1)));
            ratios.fold([f64::INFINITY, 0.0], |[least, most], r| [least.min(r), most.max(r)])
        });
        let least = before.iter().copied().min().unwrap_or(0);
        let most = before.iter().copied().max().unwrap_or(0);
        let runs = u64::try_from(before.len()).unwrap_or(u64::MAX);
        Some(Self { runs, cycles: [least, most], speed_up })
    }
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
        let decide =
            |before: [_; 3], after| PairedRepetitions::TRIED[0].is_saving(&before, after, 25);
        // The same saving on every machine, or nearly.
        assert_eq!(decide([1000, 1004, 1008], &[900, 903, 909]), Some(true));
        assert_eq!(decide([1000, 1004, 1008], &[990, 994, 998]), Some(false));
        // The mean saving is 80 in both cases; the times vary by 10 and by 200.
        assert_eq!(decide([1000, 1010, 1000], &[915, 925, 930]), Some(true));
        assert_eq!(decide([1000, 1200, 1010], &[1010, 960, 1000]), None);
        assert_eq!(decide([900, 900, 900], &[1000, 1001, 1003]), Some(false));
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
        let range = ChanceRange::of(&[100, 110, 130, 90], Some(&[50, 100, 100])).unwrap();
        assert_eq!((range.runs, range.cycles), (4, [90, 130]));
        assert_eq!(range.speed_up, Some([1.1, 2.0]));
        assert!(ChanceRange::of(&[100], None).is_none());
    }
}
