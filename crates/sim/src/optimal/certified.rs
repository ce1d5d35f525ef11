//! Certificates of placements, summed over all blocks.

use homenode_base::BlockSize;
use homenode_optimal::{Certificate, CertificateError};
use serde::Serialize;

/// Most faults that are listed; further ones are only counted.
const FAULTS_MAX: usize = 10;

/// Result of replaying placements through equations 4.1 and 4.2.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CertificateSummary {
    /// Blocks whose replayed placement has the reported cost and number of moves.
    pub blocks: u64,
    /// Their references, each priced.
    pub references: u64,
    /// Blocks whose replayed placement differs.
    pub failed: u64,
    /// The faults of the first of them.
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

    /// Adds the replay of one block: its result, and the cost and moves that were reported.
    pub(super) fn block(
        &mut self,
        (number, size): (u64, BlockSize),
        (found, cost, moves): (Result<Certificate, CertificateError>, Option<u128>, u64),
    ) {
        let fault = match found {
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
            let address = number.saturating_mul(size.bytes());
            self.faults.push(format!("block 0x{address:x}: {fault}"));
        }
    }
}
