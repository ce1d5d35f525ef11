//! False sharing: its cost, and which objects and source lines it is in (thesis chapter 7).
//!
//! [`Collector`] reads a trace once and keeps the references that can move data; [`Examiner`]
//! walks one region of memory at all block sizes; [`estimate`] prices the counts for a machine;
//! [`report`] names objects, blocks and source lines. Definitions and proofs are in
//! `docs/sharing.md`.
//!
//! Invariant: at every block size `necessary_low <= necessary_high <= transfers`, and the bracket
//! of false sharing lies below equation 7.14's bound.

mod accesses;
mod attribution;
mod block;
mod collect;
mod counts;
mod estimate;
mod events;
mod findings;
mod homes;
mod intervals;
mod region;
mod region_processors;
mod report;
mod turn_pages;
mod word_pages;

pub use accesses::BlockAccesses;
pub use attribution::MissCharges;
pub use collect::{Collected, CollectedAccesses, Collector, CollectorOptions, SharingRegion};
pub use counts::SharingCounts;
pub use estimate::{Bracket, Components, Estimate, Quantity, Shares, SizeCounted, estimate};
pub use events::{WordAccess, WordEvent};
pub use findings::{Findings, SharingQuestions};
pub use region::Examiner;
pub use report::{BlockSharing, LineSharing, ObjectPart, ObjectSharing, SharingDetail, report};

#[cfg(test)]
mod tests;
