//! Pages: which pages of processes are the same memory, and in which frame each is.
//!
//! The splitter gives every page a number ([`PageNumbers`]), the same in all simulations of a
//! trace. Where a page is, is the machine's affair. One on which a page stays where it is put has a
//! [`PageTable`]. One whose pages have homes by the first reference in simulated time, or move,
//! keeps by the same numbers what it needs to know, in its memory system.

mod numbers;
mod table;

pub use numbers::PageNumbers;
pub use table::PageTable;
