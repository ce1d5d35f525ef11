//! Update with a hardware counter.

use super::automaton::Automaton;
use super::parameters::{CHARGE_MAPPINGS, COUNT, COUNTER};
use crate::policy::{Entry, RunsOn};

/// Source: Markatos and Chronaki, section 3.3.
///
/// UPT, but a read without a copy is remote until the processor's counter for the block comes to 0.
pub const ENTRY: Entry = Entry {
    name: "upt.del",
    summary: "upt, but a processor replicates only when its counter comes to 0",
    source: "Markatos and Chronaki, section 3.3",
    params: &[COUNTER, COUNT, CHARGE_MAPPINGS],
    tested_with: &[
        "counter=1",
        "counter=bytes/8",
        "counter=3,count=accesses",
        "counter=4,charge-mappings=on",
    ],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::PageCoherence,
    build: |setup, values| Ok(Automaton::build(setup, true, ENTRY.params, values)),
};
