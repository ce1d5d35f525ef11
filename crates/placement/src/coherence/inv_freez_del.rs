//! Invalidate with freezing and a hardware counter.

use super::automaton::Automaton;
use super::parameters::{BY, CHARGE_MAPPINGS, COUNT, COUNTER, D, F};
use crate::policy::{Entry, RunsOn};

/// Source: Markatos and Chronaki, section 3.3.
///
/// INV.FREEZ, but a read without a copy is remote until the processor's counter for the block comes
/// to 0; then comes the test whether to freeze, after which the counter starts anew. Reads of a
/// frozen block do not count.
pub const ENTRY: Entry = Entry {
    name: "inv.freez.del",
    summary: "inv.freez, but a processor replicates only when its counter comes to 0",
    source: "Markatos and Chronaki, section 3.3",
    params: &[F, D, COUNTER, COUNT, CHARGE_MAPPINGS, BY],
    tested_with: &[
        "f=8,d=30,counter=3",
        "f=3,d=11,counter=2,count=accesses",
        "f=15,d=40,counter=bytes/8,charge-mappings=on",
        "f=9,d=16,counter=1,count=accesses,charge-mappings=on",
        "f=8,d=30,counter=3,by=writes",
    ],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Both,
    build: |setup, values| Ok(Automaton::build(setup, false, ENTRY.params, values)),
};
