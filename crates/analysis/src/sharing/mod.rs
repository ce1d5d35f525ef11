//! False sharing: what it costs, and who shares what (thesis chapter 7).
//!
//! [`Collector`] reads a trace once and keeps the references that matter; [`Examiner`] walks one
//! region of memory at all block sizes; [`estimate`] prices what was counted for a machine;
//! [`report`] names objects, blocks and source lines. Definitions and proofs are in
//! `docs/sharing.md`.
//!
//! Invariant: at every block size `necessary_low <= necessary_high <= transfers`, and the bracket
//! of false sharing lies below equation 7.14's bound.

mod block;
mod collect;
mod counts;
mod culprits;
mod estimate;
mod homes;
mod intervals;
mod region;
mod region_processors;
mod report;

pub use collect::{
    Collected, Collection, Collector, RegionWord, SharingRegion, WordAccess, WordEvent,
};
pub use counts::SharingCounts;
pub use culprits::MissCharges;
pub use estimate::{Bracket, Components, Estimate, Quantity, Shares, SizeCounted, estimate};
pub use region::{Examiner, Findings, SharingQuestions};
pub use report::{BlockSharing, LineSharing, ObjectPart, ObjectSharing, WhoShares, report};

#[cfg(test)]
mod tests;
