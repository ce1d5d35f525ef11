//! Page-coherence policies of Markatos and Chronaki, all listed in [`TABLE`].
//!
//! Those in `rules` share one automaton, `automaton::Automaton`: update or invalidate, with or
//! without freezing, with or without a hardware counter. `docs/page-coherence.md` says what happens
//! at each event, and where the paper's text and tables differ.

mod all_local;
mod all_remote;
mod automaton;
mod counters;
mod parameters;
mod rules;

use crate::policy::Entry;

/// Every policy of this model, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    rules::UPT,
    rules::INV,
    rules::INV_FREEZ,
    rules::UPT_DEL,
    rules::INV_DEL,
    rules::INV_FREEZ_DEL,
    all_local::ENTRY,
    all_remote::ENTRY,
];
