//! Pages: which pages of processes are the same memory, and the frame of each.
//!
//! The splitter gives every page a number ([`PageNumbers`]), the same in all simulations of a
//! trace. A machine on which pages do not move maps the numbers to frames by a [`PageTable`]. A
//! machine with home nodes by first touch in simulated time, or with page migration, keeps its own
//! tables by page number in its memory system.

mod numbers;
mod table;

pub use numbers::{MappedRange, PageNumbers};
pub use table::PageTable;
