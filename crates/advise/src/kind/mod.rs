//! The kinds of advice: each a file that ends in its `ENTRY`, all listed in [`TABLE`].

mod align;
mod group;
mod pad;
mod separate_lock;
mod split;

use crate::candidate::{Candidate, Proposal};

/// Every kind of layout advice. If two save the same, the earlier one is given, as it is easier to
/// follow.
pub const TABLE: &[Entry] =
    &[separate_lock::ENTRY, align::ENTRY, pad::ENTRY, split::ENTRY, group::ENTRY];

/// One kind of advice.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name in results.
    pub name: &'static str,
    /// What it tells the programmer to do.
    pub summary: &'static str,
    /// The publication that it follows.
    pub source: &'static str,
    /// Layouts that may help an object; whether they do is found by simulating them.
    pub propose: fn(&Candidate<'_>) -> Vec<Proposal>,
}
