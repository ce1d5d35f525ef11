//! What false sharing costs on a machine: chapter 7's estimates and bounds, from counts and prices.

use homenode_base::BlockSize;
use homenode_machine::{Breakdown, PriceParts};
use homenode_placement::Tally;
use serde::ser::{Serialize, Serializer};

use super::counts::SharingCounts;

/// An exact amount of cost, which may be negative: `steps` / `divisor` millionths of a local
/// reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantity {
    /// Millionths times the divisor.
    pub steps: i128,
    /// A power of two, or 0 if the amount is 0.
    pub divisor: u64,
}

impl Quantity {
    fn of(steps: i128) -> Self {
        Self { steps, divisor: 1 }
    }

    /// In units of a local reference.
    #[must_use]
    pub fn value(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an estimate is a rounded figure")]
        let value = self.steps as f64 / (self.divisor.max(1) as f64 * Breakdown::SCALE as f64);
        value
    }
}

/// An integer where the amount is whole, else a decimal number.
impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let unit = i128::from(self.divisor.max(1)) * i128::from(Breakdown::SCALE);
        match i64::try_from(self.steps / unit) {
            Ok(whole) if self.steps % unit == 0 => serializer.serialize_i64(whole),
            Ok(_) | Err(_) => serializer.serialize_f64(self.value()),
        }
    }
}

/// The cost of a placement: one unit for each access, and the rest in two components.
///
/// Source: Bolosky section 7.2, figures 7.2 to 7.5.
///
/// # Deviations
/// The thesis does not say how it divides the cost of remote references. Here the price of a local
/// reference is subtracted from that of each remote or global one; the remainder is overhead,
/// except for terms in the block size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Components {
    /// One for each access.
    pub local: Quantity,
    /// Overhead of moves, the first term of equation 7.5.
    pub overhead_moves: Quantity,
    /// Overhead of remote and global references.
    pub overhead_references: Quantity,
    /// Data transfer, the second term of equation 7.5.
    pub data_transfer: Quantity,
}

impl Components {
    /// The components of the cost of these counts; `None` if the cost is infinite.
    #[must_use]
    pub fn of(tally: &Tally, prices: &Breakdown) -> Option<Self> {
        let one = i128::from(Breakdown::SCALE);
        let mut sums = [0i128; 3];
        let events = [
            (tally.remote_moves, prices.remote_move, false),
            (tally.global_moves, prices.global_move, false),
            (tally.remote_references(), prices.remote_reference, true),
            (tally.global_references(), prices.global_reference, true),
        ];
        for (count, price, reference) in events {
            if count > 0 {
                let PriceParts { overhead, transfer } = price?;
                let local = if reference { one } else { 0 };
                sums[usize::from(reference)] += i128::from(count) * (i128::from(overhead) - local);
                sums[2] += i128::from(count) * i128::from(transfer);
            }
        }
        Some(Self {
            local: Quantity::of(i128::from(tally.accesses()) * one),
            overhead_moves: Quantity::of(sums[0]),
            overhead_references: Quantity::of(sums[1]),
            data_transfer: Quantity::of(sums[2]),
        })
    }
}

/// A range that holds the true value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Bracket {
    /// Lower bound.
    pub low: Quantity,
    /// Upper bound.
    pub high: Quantity,
}

/// What false sharing, fragmentation and grouping cost at one block size against one-word blocks,
/// on the machine without its remote references and global memory (thesis section 7.1.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Estimate {
    /// o: the part of a move's cost that does not depend on the block size (equation 7.1).
    pub move_overhead: Quantity,
    /// b s: the part that moves the words.
    pub move_transfer: Quantity,
    /// c_s - c_1: false sharing by the one-word block definition (section 7.1.1), and the sum of
    /// the three effects (equation 7.2).
    pub one_word_block: Quantity,
    /// The overhead component of that, the first term of equation 7.5.
    pub overhead_component: Quantity,
    /// The data transfer component, the second term of equation 7.5.
    pub data_transfer_component: Quantity,
    /// S.
    pub false_sharing: Bracket,
    /// F.
    pub fragmentation: Bracket,
    /// Gamma, never positive.
    pub grouping: Bracket,
    /// Equation 7.14: an upper bound of S.
    pub bound_7_14: Quantity,
    /// Section 7.2's halving bound: a lower bound of S, from fewer transfers at some smaller block
    /// size.
    pub halving_bound: Quantity,
    /// S by the interval definition, each merge at the price asked for, with intervals in which no
    /// processor references what another one has written: at most `false_sharing.high`.
    pub intervals: Quantity,
    /// S by the interval definition as it is worded (section 7.1.2), where two processors may write
    /// the same word.
    pub intervals_thesis: Quantity,
    /// S by full-duration intervals (section 7.1.4).
    pub full_duration: Quantity,
    /// Savings from separating the words that need not be in their blocks (section 7.1.4).
    pub separable: Quantity,
}

/// The bounds as shares of all transfers, 0 where there are none. They are the same on every
/// machine: section 7.1.6 prices all moves alike, so that the price cancels.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Shares {
    /// Lower bound of false sharing.
    pub false_sharing_low: f64,
    /// Upper bound of false sharing.
    pub false_sharing_high: f64,
    /// As in [`Estimate`]; likewise all fields below.
    pub bound_7_14: f64,
    /// Section 7.2.
    pub halving_bound: f64,
    /// Section 7.1.2, strict.
    pub intervals: f64,
    /// Section 7.1.2, as worded.
    pub intervals_thesis: f64,
    /// Section 7.1.4.
    pub full_duration: f64,
    /// Section 7.1.4, last paragraph.
    pub separable: f64,
}

impl Shares {
    /// The shares at `sizes[i]`.
    #[must_use]
    pub fn of(i: usize, sizes: &[SizeCounted], word_transfers: u64) -> Self {
        let one = PriceParts { overhead: Breakdown::SCALE, transfer: 0 };
        let found = estimate(i, sizes, word_transfers, one);
        #[expect(clippy::cast_precision_loss, reason = "a share is a rounded figure")]
        let all = sizes[i].counts.transfers.max(1) as f64;
        let share = |part: Quantity| part.value() / all;
        Self {
            false_sharing_low: share(found.false_sharing.low),
            false_sharing_high: share(found.false_sharing.high),
            bound_7_14: share(found.bound_7_14),
            halving_bound: share(found.halving_bound),
            intervals: share(found.intervals),
            intervals_thesis: share(found.intervals_thesis),
            full_duration: share(found.full_duration),
            separable: share(found.separable),
        }
    }
}

/// Counts at one block size, and the least at it and all smaller ones.
#[derive(Clone, Copy, Debug)]
pub struct SizeCounted {
    /// The block size.
    pub block: BlockSize,
    /// The counts.
    pub counts: SharingCounts,
}

/// Bounds on the transfers needed at `sizes[i]`, with those implied by smaller sizes: a system that
/// moves large blocks can emulate one that moves parts of them.
fn least_at_smaller(i: usize, sizes: &[SizeCounted], words: u64) -> (u64, u64) {
    let smaller = sizes.iter().filter(|size| size.block < sizes[i].block);
    let (mut transfers, mut necessary) = (words, words.min(sizes[i].counts.necessary_high));
    for size in smaller {
        transfers = transfers.min(size.counts.transfers);
        necessary = necessary.min(size.counts.necessary_high);
    }
    (transfers, necessary)
}

/// Prices the counts at `sizes[i]`; `word_transfers` is the number at one-word blocks, and the
/// prices are those of a block move.
#[must_use]
pub fn estimate(
    i: usize,
    sizes: &[SizeCounted],
    word_transfers: u64,
    price: PriceParts,
) -> Estimate {
    let SizeCounted { block, counts } = sizes[i];
    let words = block.words();
    let (overhead, bytes) = (i128::from(price.overhead), i128::from(price.transfer));
    let moved = |transfers: i128| Quantity::of(transfers * (overhead + bytes));
    let saved = |from: u64, to: u64| moved(i128::from(from) - i128::from(to));
    // b, a word's share of the data transfer, is bytes / words.
    let by_word = |steps: i128| Quantity { steps, divisor: words };
    let all = i128::from(counts.transfers);
    let one = i128::from(word_transfers);
    let wide = i128::from(words);
    let (fewest, enough) = least_at_smaller(i, sizes, word_transfers);
    let bracket = |low, high| Bracket { low, high };
    let fragments = |needed: u64| by_word(bytes * (wide * i128::from(needed) - one));
    let groups = |needed: u64| Quantity::of(overhead * (i128::from(needed) - one));
    let data_transfer = bytes * (wide * all - one);
    Estimate {
        move_overhead: Quantity::of(overhead),
        move_transfer: Quantity::of(bytes),
        one_word_block: by_word(overhead * (all - one) * wide + data_transfer),
        overhead_component: Quantity::of(overhead * (all - one)),
        data_transfer_component: by_word(data_transfer),
        false_sharing: bracket(
            saved(counts.transfers, enough),
            saved(counts.transfers, counts.necessary_low),
        ),
        fragmentation: bracket(fragments(counts.necessary_low), fragments(enough)),
        grouping: bracket(groups(counts.necessary_low), groups(enough)),
        bound_7_14: by_word((overhead + bytes) * (wide * all - one)),
        halving_bound: saved(counts.transfers, fewest.min(counts.transfers)),
        intervals: saved(counts.transfers, counts.interval_transfers),
        intervals_thesis: saved(counts.transfers, counts.interval_transfers_thesis),
        full_duration: saved(counts.full_duration_saved, 0),
        separable: saved(counts.separable_saved, 0),
    }
}
