//! The certificate: a placement replayed reference by reference through equations 4.1 and 4.2.
//!
//! It is independent of the solvers: its only inputs are the changes of place and the history.

use homenode_machine::Prices;
use homenode_placement::Block;

use crate::change::Change;

/// What a placement costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Certificate {
    /// Equations 4.1 + 4.2, in steps of 1/scale of the prices; `None` if infinite.
    pub cost: Option<u128>,
    /// Places added, the free first one not counted.
    pub moves: u64,
    /// References priced.
    pub references: u64,
}

/// Why a list of changes is not a placement of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The first change is not at the first reference, or changes do not ascend.
    #[error("reference {reference}: changes must begin at 0 and ascend")]
    Order {
        /// Position in the history.
        reference: u64,
    },
    /// The block is nowhere, or places repeat or descend.
    #[error("reference {reference}: the block must be somewhere, its places ascending")]
    Places {
        /// Position in the history.
        reference: u64,
    },
    /// A write finds several copies.
    #[error("reference {reference}: a write finds {copies} copies; there must be exactly one")]
    Coherence {
        /// Position in the history.
        reference: u64,
        /// The number of copies.
        copies: usize,
    },
}

/// Replays a placement reference by reference and adds up its cost and its moves.
///
/// Cost: O(references), times the places for each change.
///
/// Source: Bolosky equations 4.1 and 4.2; any one place of the first set is free.
///
/// # Errors
/// When the changes are not a placement of this block.
pub fn certify(
    block: Block<'_>,
    changes: &[Change],
    prices: &Prices,
) -> Result<Certificate, CertificateError> {
    let mut total = Certificate { cost: Some(0), ..Certificate::default() };
    let mut changes = changes.iter().peekable();
    let mut now: Option<&Change> = None;
    for run in block.runs {
        for within in 0..run.references() {
            let t = total.references;
            if let Some(next) = changes.next_if(|change| change.reference <= t) {
                if next.reference != t {
                    return Err(CertificateError::Order { reference: next.reference });
                }
                price_change(&mut total, now, next, prices)?;
                now = Some(next);
            }
            let Some(places) = now else {
                return Err(CertificateError::Order { reference: t });
            };
            let copies = places.places.len() + usize::from(places.global);
            let cycle = run.cycle_writes() + run.cycle_reads();
            if within % cycle < run.cycle_writes() && copies != 1 {
                return Err(CertificateError::Coherence { reference: t, copies });
            }
            let price = if places.places.contains(&run.processor()) {
                Some(prices.scale)
            } else if places.global {
                prices.global_reference
            } else {
                prices.remote_reference
            };
            total.add(price, 1);
            total.references += 1;
        }
    }
    match changes.next() {
        Some(late) => Err(CertificateError::Order { reference: late.reference }),
        None => Ok(total),
    }
}

fn price_change(
    total: &mut Certificate,
    before: Option<&Change>,
    next: &Change,
    prices: &Prices,
) -> Result<(), CertificateError> {
    let ascending = next.places.is_sorted_by(|a, b| a < b);
    if !ascending || next.places.is_empty() && !next.global {
        return Err(CertificateError::Places { reference: next.reference });
    }
    let had = |p| before.is_some_and(|b| b.places.contains(p));
    let mut added = next.places.iter().filter(|p| !had(p)).count();
    added += usize::from(next.global && !before.is_some_and(|b| b.global));
    added -= usize::from(before.is_none());
    let with_global = next.global || before.is_some_and(|b| b.global);
    let added = u64::try_from(added).unwrap_or(u64::MAX);
    total.moves += added;
    total.add(if with_global { prices.global_move } else { prices.remote_move }, added);
    Ok(())
}

impl Certificate {
    fn add(&mut self, price: Option<u64>, count: u64) {
        self.cost = match (self.cost, price) {
            _ if count == 0 => self.cost,
            (Some(cost), Some(price)) => Some(cost + u128::from(price) * u128::from(count)),
            (None, Some(_)) | (_, None) => None,
        };
    }
}
