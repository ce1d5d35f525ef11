//! Invalidate: replicate at once, and discard copies at a write.

use super::automaton::Automaton;
use super::parameters::CHARGE_MAPPINGS;
use crate::policy::{Entry, RunsOn};

/// Source: Markatos and Chronaki, section 3.2.
///
/// A read without a copy replicates the block. A write with a copy removes all others, and the
/// writer becomes the home; one without goes to the home, whose copy alone remains.
pub const ENTRY: Entry = Entry {
    name: "inv",
    summary: "replicate on a read; a write removes every copy but one",
    source: "Markatos and Chronaki, section 3.2",
    params: &[CHARGE_MAPPINGS],
    tested_with: &["charge-mappings=on"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Both,
    build: |setup, values| Ok(Automaton::build(setup, false, ENTRY.params, values)),
};
