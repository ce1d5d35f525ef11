//! Results of one job: moves, certificate, curve and placement, and which are requested.

use homenode_optimal::{Certificate, CertificateError, Curve, Interval, MoveHistogram};
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
