//! Results of one job, and which of them are requested.

use homenode_optimal::{Curve, Interval};
use homenode_placement::Tally;

use super::certified::CertificateSummary;
use super::moves::MoveHistogram;
use super::placement::PlacementFormat;

/// The results of one job for some blocks.
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

/// The results requested in addition to the counts.
#[derive(Clone, Copy)]
pub(super) struct OptimumRequest {
    pub(super) curve: Option<Interval>,
    pub(super) certify: bool,
    pub(super) placement: Option<PlacementFormat>,
}
