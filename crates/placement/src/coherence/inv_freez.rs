//! Invalidate, but freeze blocks that bounce.

use super::automaton::Automaton;
use super::parameters::{BY, CHARGE_MAPPINGS, D, F};
use crate::policy::{Entry, RunsOn};

/// Source: Markatos and Chronaki, section 3.2.
///
/// INV, but a read that would replicate a block of which a write removed copies at most `f`
/// references ago freezes it instead: reads without a copy are remote until the next multiple of
/// `d`, writes are as under INV. With `by=writes` any write does, also to the only copy.
pub const ENTRY: Entry = Entry {
    name: "inv.freez",
    summary: "inv, but a block that lost copies at most f ago is frozen until a multiple of d",
    source: "Markatos and Chronaki, section 3.2",
    params: &[F, D, CHARGE_MAPPINGS, BY],
    tested_with: &["f=6,d=25", "f=0,d=7", "f=20,d=9,charge-mappings=on", "f=6,d=25,by=writes"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Both,
    build: |setup, values| Ok(Automaton::build(setup, false, ENTRY.params, values)),
};
