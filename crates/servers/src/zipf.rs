//! Ranks by Zipf's law: rank *r*, counted from 1, is chosen in proportion to *r* to the power of
//! minus the exponent.

use homenode_base::Rng;

use crate::odds::{Odds, index};

/// Digits of the binary logarithm.
const DIGITS: u32 = 40;

/// One slot of the table: its own rank with a chance, otherwise another one.
struct AliasSlot {
    own: Odds,
    other: u32,
}

/// A table for ranks counted from 0, which draws in constant time.
///
/// Source: Walker 1977, alias method; Vose 1991, its construction in linear time.
pub(crate) struct Zipf {
    slots: Vec<AliasSlot>,
}

impl Zipf {
    /// The law for this many ranks, at least one.
    pub(crate) fn new(ranks: u32, exponent: f64) -> Self {
        let mut weights: Vec<f64> =
            (1..=ranks).map(|rank| 1.0 / power(f64::from(rank), exponent)).collect();
        let mean = weights.iter().sum::<f64>() / f64::from(ranks);
        weights.iter_mut().for_each(|weight| *weight /= mean);
        let (mut small, mut large) = (Vec::new(), Vec::new());
        for rank in 0..ranks {
            let below = weights[rank as usize] < 1.0;
            if below { small.push(rank) } else { large.push(rank) }
        }
        let mut slots: Vec<AliasSlot> =
            (0..ranks).map(|rank| AliasSlot { own: Odds::new(1.0), other: rank }).collect();
        while let (Some(&rank), Some(&donor)) = (small.last(), large.last()) {
            small.pop();
            let weight = weights[rank as usize];
            slots[rank as usize] = AliasSlot { own: Odds::new(weight), other: donor };
            weights[donor as usize] -= 1.0 - weight;
            if weights[donor as usize] < 1.0 {
                large.pop();
                small.push(donor);
            }
        }
        Self { slots }
    }

    /// The number of ranks.
    pub(crate) fn ranks(&self) -> u64 {
        self.slots.len() as u64
    }

    /// A rank, from 0.
    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        let chosen = rng.below(self.ranks());
        let slot = &self.slots[index(chosen)];
        if slot.own.happens(rng) { chosen } else { slot.other.into() }
    }
}

/// A number of at least 1 to a power that is not negative, from operations that are exact to the
/// last bit on every machine, as those of the platform's library are not.
fn power(base: f64, exponent: f64) -> f64 {
    let mut left = exponent * binary_logarithm(base);
    let mut result = 1.0;
    while left >= 1.0 {
        result *= 2.0;
        left -= 1.0;
    }
    let mut root = 2.0_f64;
    let mut digit = 1.0;
    for _ in 0..DIGITS {
        root = root.sqrt();
        digit /= 2.0;
        if left >= digit {
            left -= digit;
            result *= root;
        }
    }
    result
}

fn binary_logarithm(value: f64) -> f64 {
    let (mut value, mut result) = (value, 0.0);
    while value >= 2.0 {
        value /= 2.0;
        result += 1.0;
    }
    let mut digit = 1.0;
    for _ in 0..DIGITS {
        digit /= 2.0;
        value *= value;
        if value >= 2.0 {
            value /= 2.0;
            result += digit;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_library() {
        for (base, exponent) in [(1.0, 0.7), (2.0, 1.0), (3.0, 0.5), (1000.0, 0.9), (7.0, 2.5)] {
            let (ours, library) = (power(base, exponent), f64::powf(base, exponent));
            assert!((ours / library - 1.0).abs() < 1e-9, "{base}^{exponent}: {ours}, {library}");
        }
        assert_eq!(power(12.0, 0.0), 1.0);
    }

    #[test]
    fn ranks_are_drawn_in_proportion() {
        let (zipf, mut rng) = (Zipf::new(4, 1.0), Rng::new(3));
        let mut drawn = [0_u32; 4];
        for _ in 0..250_000 {
            drawn[index(zipf.draw(&mut rng))] += 1;
        }
        // 1, 1/2, 1/3 and 1/4 of 12/25.
        for (found, expected) in drawn.into_iter().zip([120_000_u32, 60_000, 40_000, 30_000]) {
            assert!(found.abs_diff(expected) < 900, "{drawn:?}");
        }
    }
}
