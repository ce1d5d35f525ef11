//! Reports of transforms.

mod filtered;
mod framed;
mod merged;
mod mixed;

use serde::Serialize;

use crate::realign::Realignment;

pub use filtered::FilterReport;
pub use framed::{FrameReport, NextOfWrites};
pub use merged::{MergeReport, MergedProcess};
pub use mixed::{
    AreaReferences, Mix, MixPages, MixProcess, OmittedFromMix, ReferenceTotals, Switches,
};

/// The report of a transform.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TransformReport {
    /// Data that moved.
    Realigned(Box<Realignment>),
    /// Processes of a whole system.
    Mixed(Box<Mix>),
    /// Processes of several traces.
    Merged(Box<MergeReport>),
    /// References that passed caches.
    Filtered(FilterReport),
    /// Page frames that processes used one after the other.
    Framed(FrameReport),
}

impl TransformReport {
    /// The report of a re-alignment, if it is one.
    #[must_use]
    pub fn realigned(self) -> Option<Realignment> {
        match self {
            Self::Realigned(report) => Some(*report),
            Self::Mixed(_) | Self::Merged(_) | Self::Filtered(_) | Self::Framed(_) => None,
        }
    }
}
