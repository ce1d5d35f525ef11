//! What every machine with caches has, whatever keeps them coherent: the arrays that blocks lie
//! in, which caches hold each block, why a copy was not there and whose sharing that is, values to
//! check a protocol by, and the counts of all this.
//!
//! [`CacheSystem`] is all of it together. It knows no protocol: an engine decides what a reference
//! does to which copies, and has it done here. [`TraceOrderEngine`] does the references of a trace
//! one after the other, whatever that engine is.
#![forbid(unsafe_code)]

mod access;
mod classify;
mod counts;
mod error;
mod frames;
mod holders;
mod last_level;
mod recent;
mod shadow;
mod system;
mod trace_order;
mod waits;
pub mod walk;
mod words;

pub use access::BlockAccess;
pub use classify::{MissClass, MissRule, SharingClass};
pub use counts::{CacheCounts, CoherenceCounts, KernelCounts, MissCounts};
pub use error::{CheckError, ClockError};
pub use frames::{
    CacheArrays, CacheFrame, CacheGeometry, IndexedSets, MAY_READ, MAY_WRITE, MissStatus, READ,
    UpTo16Ways, WRITTEN,
};
pub use holders::{
    BlockHolders, CACHES_MAX, HolderTable, NARROW_CACHES_MAX, NO_BLOCK, PackedHolders, WIDE_WORDS,
};
pub use last_level::LastLevelCache;
pub use recent::RecentBlocks;
pub use shadow::{ShadowValues, value_at};
pub use system::{BlockRef, CacheSystem, CacheSystemSetup, FrameLocation};
pub use trace_order::{TraceOrderDriver, TraceOrderEngine, TraceOrderSetup};
pub use waits::{
    AwaitedPorts, AwaitedTransaction, WaitCause, WaitCollector, Waits, WaitsByCause, WordWaits,
};
pub use words::{ByteMask, WordMask};
