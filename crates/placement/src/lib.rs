//! The placement engine: histories of blocks and the on-line policies that walk them.
//!
//! Memories are infinite, there is no contention, every event has a price and blocks are
//! independent of one another (Bolosky chapter 4). So a trace is turned once into [`Histories`],
//! one run-length coded list per block; a policy is a small automaton over one history that counts
//! events in a [`Tally`]; and [`Cost`] prices the counts on a machine afterwards (equations 4.1 and
//! 4.2). Counts are integers and merge by addition, so the order of blocks does not matter.
//!
//! Invariant: on-line policies never see prices.

mod builder;
pub mod coherence;
mod cost;
mod history;
pub mod policy;
mod references;
mod runs;
mod tally;

pub use builder::{HistoryBuilder, HistoryOptions, Shard, Times};
pub use cost::{Amount, Cost, NetworkPackets};
pub use history::{Block, Histories, HistoryTotals, Run};
pub use policy::{PlacementSetup, Policy, PolicyError, PolicyFactory, PolicySpec, TABLE};
pub use references::{OutsideReferences, ReferenceColumns};
pub use runs::{PARTS, UnsortedHistories};
pub use tally::{METRICS, Metric, Tally};
