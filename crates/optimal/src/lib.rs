//! Off-line optimal placement by dynamic programming, and the brute-force oracle it is checked
//! against.
//!
//! The optimum is a policy that is also given the prices: [`TABLE`] holds its entries, which stand
//! beside those of `homenode_placement` in every result. `docs/optimal.md` derives the recurrences.
//!
//! Invariant: the counts an optimal policy reports, priced, are the minimum the recurrence found;
//! this is checked for every block, also in release builds.

pub mod brute;
mod certificate;
mod change;
mod copy_plan;
mod curve;
mod cycles;
mod entry;
mod general;
mod global_migration;
mod global_place_costs;
mod key;
mod migration;
mod move_histogram;
mod optimum;
mod place_costs;
mod ratio;
mod replication;
mod sink;
mod walk;
mod wide;

pub use certificate::{Certificate, CertificateError, certify};
pub use change::Change;
pub use curve::{Axis, Curve, CurveError, CurveSolver, Interval, LinePiece, PriceCounts};
pub use entry::{TABLE, placement};
pub use move_histogram::{MoveBin, MoveHistogram};
pub use optimum::Optimum;
pub use ratio::{Ratio, RatioError};
