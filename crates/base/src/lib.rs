//! Small types that all other crates share: references and filters on them, blocks, sets of
//! processors and the random generator. No dependencies and no input or output, so any crate may
//! depend on it.
//!
//! Invariant: nothing here reads a clock, a file or the address of an object.

mod access;
mod block;
mod filter;
mod processors;
mod rng;
mod varint;

pub use access::{Access, AccessKind, Flags};
pub use block::{BlockSize, BlockSizeError};
pub use filter::{ReferenceFilter, ReferenceRole};
pub use processors::{ProcessorSet, ProcessorSet64, ProcessorSet1024};
pub use rng::Rng;
pub use varint::{put_varint, unzigzag, zigzag};

/// Index of a data reference in the total order of a trace, counted from 0.
///
/// This is the thesis's "Time" with a capital T (Bolosky §4.1.2): it is not seconds.
pub type Time = u64;

/// Number of a thread of the traced program, dense from 0 in order of creation.
pub type ThreadId = u16;

/// Number of a processor of the simulated machine, dense from 0.
pub type ProcId = u16;
