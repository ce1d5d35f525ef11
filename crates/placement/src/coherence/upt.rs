//! Update: replicate at once, keep permanently.

use super::automaton::Automaton;
use super::parameters::CHARGE_MAPPINGS;
use crate::policy::{Entry, RunsOn};

/// Source: Markatos and Chronaki, section 3.2.
///
/// A read without a copy replicates the block permanently. A write with a copy updates all others;
/// one without goes to the home, which updates the rest.
pub const ENTRY: Entry = Entry {
    name: "upt",
    summary: "replicate on a read, permanently; a write updates all copies",
    source: "Markatos and Chronaki, section 3.2",
    params: &[CHARGE_MAPPINGS],
    tested_with: &["charge-mappings=on"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::PageCoherence,
    build: |setup, values| Ok(Automaton::build(setup, true, ENTRY.params, values)),
};
