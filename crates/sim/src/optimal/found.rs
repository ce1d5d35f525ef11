//! What is asked of each block, and what is found out.

use homenode_optimal::{Curve, Interval};
use homenode_placement::Tally;

use super::certified::Certified;
use super::moves::Moves;
use super::placement::Format;

/// What one job finds out about some blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) tally: Tally,
    pub(super) moves: Moves,
    pub(super) curve: Curve,
    pub(super) certified: Certified,
    pub(super) text: Vec<u8>,
}

impl Found {
    pub(super) fn add(&mut self, other: Self) {
        self.tally += &other.tally;
        self.moves += &other.moves;
        self.curve += other.curve;
        self.certified.add(other.certified);
    }
}

/// What is asked of each block, apart from the counts.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    pub(super) curve: Option<Interval>,
    pub(super) certify: bool,
    pub(super) placement: Option<Format>,
}
