//! Page-coherence policies of Markatos and Chronaki: each a file that ends in its `ENTRY`, all
//! listed in [`TABLE`].
//!
//! They share one automaton, `automaton::Automaton`: update or invalidate, with or without
//! freezing, with or without a hardware counter. `docs/page-coherence.md` says what happens at each
//! event, and where the paper's text and tables differ.

mod all_local;
mod all_remote;
mod automaton;
mod counters;
mod inv;
mod inv_del;
mod inv_freez;
mod inv_freez_del;
mod parameters;
mod upt;
mod upt_del;

use crate::policy::Entry;

/// Every policy of this model, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    upt::ENTRY,
    inv::ENTRY,
    inv_freez::ENTRY,
    upt_del::ENTRY,
    inv_del::ENTRY,
    inv_freez_del::ENTRY,
    all_local::ENTRY,
    all_remote::ENTRY,
];
