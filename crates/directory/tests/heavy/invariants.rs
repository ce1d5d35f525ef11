//! Every protocol as it is, in three nodes.

use crate::explored::every_protocol_keeps_its_invariants;

#[test]
fn every_protocol_keeps_its_invariants_in_three_nodes() {
    every_protocol_keeps_its_invariants(3);
}
