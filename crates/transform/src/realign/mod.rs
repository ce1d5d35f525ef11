//! Data re-alignment: moves data to pages of its only user, window by window. The transform
//! `realign` writes the resulting trace; a simulation can do the same in memory.
//!
//! Source: Markatos and Chronaki, section 3.4. The algorithm reads a window of references. A page
//! that several processors referenced in it and at least one wrote may be falsely shared: each of
//! its words that only one processor referenced in the window moves to an unused page, together
//! with other words of that processor; a word that several processors referenced stays. The
//! references of the window, and later ones, use the new addresses. The next window follows.
//!
//! The uses of each word in a window are the same at every page size, so a [`WindowScan`] collects
//! them once. A [`WordMapping`] has the addresses of the words at one page size.
//!
//! # Deviations
//! The paper does not specify the following. A window's words move before its references are made,
//! as the paper calls its policy off-line. A move lasts until the next one of the word. Every
//! window begins new pages, as pages of earlier windows have been used. Words are placed in order
//! of their addresses. References may be longer than a word here: words that one reference of a
//! window touches stay consecutive, and are one location to the rule above. If an earlier window
//! has separated them, they become consecutive again on a new page of their only user, or one for
//! words of several users.
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

/// Data references of a window in the paper.
pub const WINDOW: u64 = 1_000_000;

/// Most data references of a window.
pub const WINDOW_MAX: u64 = 1 << 28;
