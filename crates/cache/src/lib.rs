//! The parts of every machine with caches that do not depend on the coherence protocol: cache
//! arrays, the holders of each block, classes of misses and of sharing, values that check a
//! protocol, and counts.
//!
//! [`CacheSystem`] combines them. It knows no protocol: an engine decides what a reference does to
//! which copies. [`TraceOrderEngine`] performs the references of a trace one after the other for
//! any engine.
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
    CacheArrays, CacheFrame, CacheGeometry, DirectMapped, IndexedSets, MAY_READ, MAY_WRITE,
    MissStatus, READ, UpTo8Ways, UpTo16Ways, WRITTEN, permission, ways_max,
};
pub use holders::{
    BlockHolders, CACHES_MAX, HolderTable, NARROW_CACHES_MAX, NO_BLOCK, PackedHolders, WIDE_WORDS,
};
pub use last_level::LastLevelCache;
pub use recent::RecentBlocks;
pub use shadow::{ShadowValues, value_at};
pub use system::{BlockRef, CacheSystem, CacheSystemSetup, FrameLocation, LoggedHit};
pub use trace_order::{TraceOrderDriver, TraceOrderEngine, TraceOrderSetup};
pub use waits::{
    AwaitedPorts, AwaitedTransaction, WaitCause, WaitCollector, Waits, WaitsByCause, WordWaits,
};
pub use words::{ByteMask, WordMask};
