//! How many blocks have how many moves.

use std::ops::AddAssign;

use serde::Serialize;

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
    /// Adds a block with this number of moves.
    pub fn add(&mut self, moves: u64) {
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
