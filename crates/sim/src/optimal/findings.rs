//! Results of one job: moves, certificate, curve and placement, and which are requested.

use std::ops::AddAssign;

use homenode_optimal::{Certificate, CertificateError, Curve, Interval};
use homenode_placement::Tally;
use serde::Serialize;

use super::placement::PlacementFormat;

#[derive(Clone, Debug, Default)]
pub(super) struct OptimumFindings {
    pub(super) tally: Tally,
    pub(super) moves: MoveHistogram,
    pub(super) curve: Curve,
    pub(super) certified: CertificateSummary,
    pub(super) text: Vec<u8>,
}

impl OptimumFindings {
    pub(super) fn add(&mut self, other: Self) {
        self.tally += &other.tally;
        self.moves += &other.moves;
        self.curve += other.curve;
        self.certified.add(other.certified);
    }
}

#[derive(Clone, Copy)]
pub(super) struct OptimumRequest {
    pub(super) curve: Option<Interval>,
    pub(super) certify: bool,
    pub(super) placement: Option<PlacementFormat>,
}

/// Most faults in the list; further ones are only counted.
const FAULTS_MAX: usize = 10;

/// Result of replaying placements with equations 4.1 and 4.2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertificateSummary {
    /// Blocks whose replayed placement has the reported cost and number of moves.
    pub blocks: u64,
    /// References of these blocks, each priced.
    pub references: u64,
    /// Blocks whose replayed placement differs.
    pub failed: u64,
    /// Faults of the first of these blocks.
    pub faults: Vec<String>,
}

impl CertificateSummary {
    pub(super) fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.references += other.references;
        self.failed += other.failed;
        self.faults.extend(other.faults);
        self.faults.truncate(FAULTS_MAX);
    }

    /// Adds the replay of one block, to compare with the reported cost and moves.
    pub(super) fn block(
        &mut self,
        address: u64,
        replayed: Result<Certificate, CertificateError>,
        cost: Option<u128>,
        moves: u64,
    ) {
        let fault = match replayed {
            Ok(c) if c.cost == cost && (cost.is_none() || c.moves == moves) => {
                self.blocks += 1;
                self.references += c.references;
                return;
            }
            Ok(c) => {
                let shown = |cost: Option<u128>| cost.map_or("inf".to_owned(), |c| c.to_string());
                let (replayed, said) = (shown(c.cost), shown(cost));
                format!("replayed cost {replayed}, moves {}; said {said}, {moves}", c.moves)
            }
            Err(error) => error.to_string(),
        };
        self.failed += 1;
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(format!("block 0x{address:x}: {fault}"));
        }
    }
}

/// Histogram of blocks by their number of moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveHistogram {
    /// Blocks.
    pub blocks: u64,
    /// Moves of all blocks.
    pub moves: u64,
    /// Most moves of any block.
    pub max: u64,
    /// Blocks with no move, 1, 2 or 3, 4 to 7, and so on.
    bins: Vec<u64>,
}

/// One bin of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MoveBin {
    /// Fewest moves.
    pub from: u64,
    /// Most moves.
    pub to: u64,
    /// Blocks in the bin.
    pub blocks: u64,
}

impl MoveHistogram {
    pub(crate) fn add(&mut self, moves: u64) {
        self.blocks += 1;
        self.moves += moves;
        self.max = self.max.max(moves);
        let bin = usize::try_from(u64::BITS - moves.leading_zeros()).unwrap_or(0);
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    /// The bins, up to the last one with a block.
    #[must_use]
    pub fn bins(&self) -> Vec<MoveBin> {
        let bin = |(i, &blocks): (u32, &u64)| MoveBin {
            from: (1u64 << i) >> 1,
            to: (1u64 << i) - 1,
            blocks,
        };
        (0..).zip(&self.bins).map(bin).collect()
    }
}

impl AddAssign<&Self> for MoveHistogram {
    fn add_assign(&mut self, other: &Self) {
        self.blocks += other.blocks;
        self.moves += other.moves;
        self.max = self.max.max(other.max);
        self.bins.resize(self.bins.len().max(other.bins.len()), 0);
        for (sum, more) in self.bins.iter_mut().zip(&other.bins) {
            *sum += more;
        }
    }
}

impl Serialize for MoveHistogram {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct SerializedMoves {
            blocks: u64,
            mean: Option<f64>,
            max: u64,
            histogram: Vec<MoveBin>,
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean is a rounded figure")]
        let mean = self.moves as f64 / self.blocks as f64;
        let mean = (self.blocks > 0).then_some(mean);
        let (blocks, max) = (self.blocks, self.max);
        SerializedMoves { blocks, mean, max, histogram: self.bins() }.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_double() {
        let mut moves = MoveHistogram::default();
        [0, 0, 1, 2, 3, 4, 9].into_iter().for_each(|n| moves.add(n));
        let bins: Vec<_> = moves.bins().iter().map(|b| (b.from, b.to, b.blocks)).collect();
        assert_eq!(bins, [(0, 0, 2), (1, 1, 1), (2, 3, 2), (4, 7, 1), (8, 15, 1)]);
        let mut twice = MoveHistogram::default();
        twice += &moves;
        twice += &moves;
        assert_eq!((twice.blocks, twice.moves, twice.max), (14, 38, 9));
        assert_eq!(twice.bins()[2].blocks, 4);
    }
}
