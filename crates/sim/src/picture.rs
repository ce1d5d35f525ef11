//! The data of a sharing picture.

use homenode_analysis::{AnalysisError, PictureFrame, SharingPicture};
use homenode_base::BlockSize;
use homenode_trace::TraceReader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::SimError;
use crate::pass::{Progress, processors};
use crate::references::{Inclusion, PrivateReferences, data};

/// Most cells in either direction.
const CELLS_MAX: u32 = 4096;

/// Choices of a picture: how fine it is, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PictureConfig {
    /// Most stretches of memory, side by side.
    #[serde(default = "stretches")]
    #[schemars(range(min = 1))]
    pub stretches: u32,
    /// Slices of Time, one below the other.
    #[serde(default = "slices")]
    #[schemars(range(min = 1))]
    pub slices: u32,
    /// The least that a stretch covers, in bytes; it is doubled until the stretches are few enough.
    #[serde(default = "block_size")]
    #[schemars(extend("x-value" = "block-size", "x-metavar" = "B"))]
    pub block_size: u64,
    /// Processors; thread i is processor i mod their number.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// What to do with references to private memory: anything but `shared` leaves them out.
    #[serde(default = "left_out")]
    pub private: PrivateReferences,
    /// What to do with references to synchronisation variables; the thesis leaves them out
    /// (§2.3.1).
    #[serde(default = "Inclusion::exclude")]
    pub sync: Inclusion,
}

fn stretches() -> u32 {
    120
}

fn slices() -> u32 {
    40
}

fn block_size() -> u64 {
    64
}

fn left_out() -> PrivateReferences {
    PrivateReferences::Exclude
}

/// Computes the data of a sharing picture: which processors reference which part of memory when.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn sharing_picture(
    config: &PictureConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingPicture, SimError> {
    let block_size = BlockSize::new(config.block_size)
        .map_err(|error| SimError::Config { problem: error.to_string() })?;
    for (what, number) in [("stretches", config.stretches), ("slices", config.slices)] {
        if !(1..=CELLS_MAX).contains(&number) {
            let problem = format!("--{what}: {number} {what}: a picture has 1 to {CELLS_MAX}");
            return Err(SimError::Config { problem });
        }
    }
    let frame = PictureFrame {
        block_size,
        stretches_max: config.stretches as usize,
        slices: config.slices,
        processors: processors(config.processors, trace)?,
        filter: data(config.private, config.sync),
    };
    homenode_analysis::picture(trace, &frame, progress).map_err(|error| match error {
        AnalysisError::Trace(error) => SimError::Trace(error),
        AnalysisError::Interrupted => SimError::Interrupted,
    })
}
