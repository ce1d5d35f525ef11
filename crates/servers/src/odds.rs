//! Random decisions that are the same on every machine.

use homenode_base::Rng;

/// Bits of a chance: those of a double's significand.
const BITS: u32 = 53;

/// An event with a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Odds(u64);

impl Odds {
    /// An event of this probability, cut to between 0 and 1.
    pub(crate) fn new(probability: f64) -> Self {
        Self(rounded(probability.clamp(0.0, 1.0) * (1_u64 << BITS) as f64))
    }

    /// The event that one more follows, in a series with this mean length; a length is at least 1.
    pub(crate) fn of_mean(length: f64) -> Self {
        Self::new(1.0 - 1.0 / length)
    }

    /// Whether it happens now.
    pub(crate) fn happens(self, rng: &mut Rng) -> bool {
        rng.next_u64() >> (u64::BITS - BITS) < self.0
    }
}

/// The nearest whole number of a finite number that is not negative.
#[expect(clippy::cast_possible_truncation, reason = "numbers here are at most 2^53")]
pub(crate) fn rounded(value: f64) -> u64 {
    value.round() as u64
}

/// The largest whole number that is not above a finite number that is not negative.
#[expect(clippy::cast_possible_truncation, reason = "numbers here are at most 2^53")]
pub(crate) fn floored(value: f64) -> u64 {
    value as u64
}

/// An index of a table that is in memory.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).expect("tables are as large as memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_impossible_events() {
        let mut rng = Rng::new(1);
        assert!((0..1000).all(|_| Odds::new(1.0).happens(&mut rng)));
        assert!((0..1000).all(|_| !Odds::new(0.0).happens(&mut rng)));
    }

    #[test]
    fn a_series_has_its_mean_length() {
        let (mut rng, more) = (Rng::new(1), Odds::of_mean(10.0));
        let ends = (0..100_000).filter(|_| !more.happens(&mut rng)).count();
        assert!((9_700..10_300).contains(&ends), "{ends}");
    }
}
