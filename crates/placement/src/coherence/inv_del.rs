//! Invalidate with a hardware counter.

use super::automaton::Automaton;
use super::parameters::{CHARGE_MAPPINGS, COUNT, COUNTER};
use crate::policy::{Entry, RunsOn};

/// Source: Markatos and Chronaki, section 3.3.
///
/// INV, but a read without a copy is remote until the processor's counter for the block comes to 0.
/// The counter survives other processors' writes, and starts anew after the processor has lost a
/// copy or the home has moved.
pub const ENTRY: Entry = Entry {
    name: "inv.del",
    summary: "inv, but a processor replicates only when its counter comes to 0",
    source: "Markatos and Chronaki, section 3.3",
    params: &[COUNTER, COUNT, CHARGE_MAPPINGS],
    tested_with: &[
        "counter=1,charge-mappings=on",
        "counter=bytes/8",
        "counter=5",
        "counter=3,count=accesses",
        "counter=6,count=accesses,charge-mappings=on",
    ],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Both,
    build: |setup, values| Ok(Automaton::build(setup, false, ENTRY.params, values)),
};
