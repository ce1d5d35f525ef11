//! The certificate finds what is wrong with a placement.

use crate::support::{histories, reference};
use homenode_machine::Prices;
use homenode_optimal::{CertificateError, Change, certify};

fn at(reference: u64, places: &[u16], global: bool) -> Change {
    Change { reference, places: places.to_vec(), global }
}

/// Reads by 0 and 1, a write by 1, a read by 0.
fn outcome(changes: &[Change]) -> Result<(Option<u128>, u64), CertificateError> {
    let trace = [reference(0, false), reference(1, false), reference(1, true), reference(0, false)];
    let histories = histories(&trace, 2, Vec::new());
    let prices = Prices::whole(Some(10), None, Some(3), Some(100));
    let found = certify(histories.block(0), changes, &prices)?;
    assert_eq!(found.references, 4);
    Ok((found.cost, found.moves))
}

#[test]
fn a_placement_costs_what_equations_4_1_and_4_2_say() {
    assert_eq!(outcome(&[at(0, &[1], false)]), Ok((Some(10 + 1 + 1 + 10), 0)));
    assert_eq!(outcome(&[at(0, &[], true)]), Ok((Some(4 * 3), 0)));
    // 0 is free; global memory and 1 are not.
    let copies = [at(0, &[0], true), at(1, &[0, 1], true), at(2, &[1], false)];
    assert_eq!(outcome(&copies), Ok((Some(1 + 1 + 1 + 10 + 200), 2)));
    // The second of two places at the beginning costs a move, here an infinite one.
    assert_eq!(outcome(&[at(0, &[0, 1], false), at(2, &[1], false)]), Ok((None, 1)));
}

#[test]
fn what_is_no_placement_is_said_with_its_place() {
    let coherence = CertificateError::Coherence { reference: 2, copies: 2 };
    assert_eq!(outcome(&[at(0, &[0, 1], false)]), Err(coherence));
    assert_eq!(outcome(&[]), Err(CertificateError::Order { reference: 0 }));
    assert_eq!(outcome(&[at(1, &[0], false)]), Err(CertificateError::Order { reference: 0 }));
    let late = [at(0, &[0], false), at(4, &[1], false)];
    assert_eq!(outcome(&late), Err(CertificateError::Order { reference: 4 }));
    let twice = [at(0, &[0], false), at(0, &[1], false)];
    assert_eq!(outcome(&twice), Err(CertificateError::Order { reference: 0 }));
    assert_eq!(outcome(&[at(0, &[], false)]), Err(CertificateError::Places { reference: 0 }));
    assert_eq!(outcome(&[at(0, &[1, 0], true)]), Err(CertificateError::Places { reference: 0 }));
}
