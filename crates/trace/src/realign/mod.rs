//! Data moved to pages of its only user, window by window: what the transform `realign` writes and
//! what a simulation re-aligns in memory.
//!
//! Source: Markatos and Chronaki, section 3.4. A window of references is read. A page that more
//! than one processor referenced in it and at least one wrote may be falsely shared: each of its
//! words that only one processor referenced in the window goes to a page that no one used before,
//! together with others of that processor; a word that several referenced stays. The references of
//! the window, and later ones, find each word where it went. Then comes the next window.
//!
//! What a window does with each word is the same at every page size, so a [`WindowScan`] finds it
//! once. A [`WordMapping`] is one page size: where each word is.
//!
//! # Deviations
//! The paper does not say the following. A window's words move before its references are made:
//! the paper calls its policy off-line. A move lasts until another one. Every window begins new
//! pages, for a page of an earlier one was used before. Words go in order of their addresses. A
//! reference may be longer than a word here: words that one reference of a window touches stay
//! together, and are one location to the rule above. If an earlier window took them apart they are
//! brought together on a new page, that of their only user or one for those with several.
//!
//! Cost: O(1) for each reference, and for each window and page size O(w) for its w words, after
//! sorting them once.

mod free_range;
mod mapping;
mod origins;
mod owners;
mod pages;
mod report;
mod scan;
mod sets;
mod word_table;

pub use free_range::AddressMap;
pub use mapping::WordMapping;
pub use report::{FalseSharing, MovedObject, Realignment};
pub use scan::WindowScan;

/// Data references that are looked at together, in the paper.
pub const WINDOW: u64 = 1_000_000;

/// Most data references of a window.
pub const WINDOW_MAX: u64 = 1 << 28;
