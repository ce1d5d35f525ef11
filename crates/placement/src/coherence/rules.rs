//! The policies of the automaton, each one of its settings and parameters.

use super::automaton::Automaton;
use super::parameters::{BY, CHARGE_MAPPINGS, COUNT, COUNTER, D, F};
use crate::policy::{Entry, RunsOn};

/// Invalidate: replicate at once, and discard copies at a write.
///
/// Source: Markatos and Chronaki, section 3.2.
///
/// A read without a copy replicates the block. A write with a copy removes all others, and the
/// writer becomes the home; one without goes to the home, whose copy alone remains.
pub(super) const INV: Entry = Entry {
    name: "inv",
    summary: "replicate on a read; a write removes every copy but one",
    source: "Markatos and Chronaki, section 3.2",
    params: &[CHARGE_MAPPINGS],
    tested_with: &["charge-mappings=on"],
    needs_global: false,
    needs_prices: false,
    assigns_homes: false,
    runs_on: RunsOn::Both,
    build: |setup, values| Ok(Automaton::build(setup, false, INV.params, values)),
};

/// Update: replicate at once, keep permanently.
///
/// Source: Markatos and Chronaki, section 3.2.
///
/// A read without a copy replicates the block permanently. A write with a copy updates all others;
/// one without goes to the home, which updates the rest.
pub(super) const UPT: Entry = Entry {
    name: "upt",
    summary: "replicate on a read, permanently; a write updates all copies",
    source: "Markatos and Chronaki, section 3.2",
    params: &[CHARGE_MAPPINGS],
    tested_with: &["charge-mappings=on"],
    runs_on: RunsOn::PageCoherence,
    build: |setup, values| Ok(Automaton::build(setup, true, UPT.params, values)),
    ..INV
};

/// Invalidate, but freeze blocks that bounce.
///
/// Source: Markatos and Chronaki, section 3.2.
///
/// INV, but a read that would replicate a block of which a write removed copies at most `f`
/// references ago freezes it instead: reads without a copy are remote until the next multiple of
/// `d`, writes are as under INV. With `by=writes` any write does, also to the only copy.
pub(super) const INV_FREEZ: Entry = Entry {
    name: "inv.freez",
    summary: "inv, but a block that lost copies at most f ago is frozen until a multiple of d",
    source: "Markatos and Chronaki, section 3.2",
    params: &[F, D, CHARGE_MAPPINGS, BY],
    tested_with: &["f=6,d=25", "f=0,d=7", "f=20,d=9,charge-mappings=on", "f=6,d=25,by=writes"],
    build: |setup, values| Ok(Automaton::build(setup, false, INV_FREEZ.params, values)),
    ..INV
};

/// Invalidate with a hardware counter.
///
/// Source: Markatos and Chronaki, section 3.3.
///
/// INV, but a read without a copy is remote until the processor's counter for the block comes to 0.
/// The counter survives other processors' writes, and starts anew after the processor has lost a
/// copy or the home has moved.
pub(super) const INV_DEL: Entry = Entry {
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
    build: |setup, values| Ok(Automaton::build(setup, false, INV_DEL.params, values)),
    ..INV
};

/// Invalidate with freezing and a hardware counter.
///
/// Source: Markatos and Chronaki, section 3.3.
///
/// INV.FREEZ, but a read without a copy is remote until the processor's counter for the block comes
/// to 0; then comes the test whether to freeze, after which the counter starts anew. Reads of a
/// frozen block do not count.
pub(super) const INV_FREEZ_DEL: Entry = Entry {
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
    build: |setup, values| Ok(Automaton::build(setup, false, INV_FREEZ_DEL.params, values)),
    ..INV
};

/// Update with a hardware counter.
///
/// Source: Markatos and Chronaki, section 3.3.
///
/// UPT, but a read without a copy is remote until the processor's counter for the block comes to 0.
pub(super) const UPT_DEL: Entry = Entry {
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
    build: |setup, values| Ok(Automaton::build(setup, true, UPT_DEL.params, values)),
    ..UPT
};
