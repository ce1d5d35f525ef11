//! Counters shared by the engines: names, units and meaning of everything that is counted.
//!
//! Invariant: counters are integers and merge by addition, so the order of merging does not matter.

mod tally;

pub use tally::{METRICS, Metric, Tally};
