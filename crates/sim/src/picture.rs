//! What a picture of a program's sharing is drawn from.

use homenode_analysis::{AnalysisError, PictureFrame, SharingPicture};
use homenode_base::BlockSize;
use homenode_placement::{Filter, Private, Synchronisation};
use homenode_trace::TraceReader;
use serde::{Deserialize, Serialize};

use crate::error::SimError;
use crate::pass::{Progress, processors};

/// Most cells in either direction.
const CELLS_MAX: u32 = 4096;

/// How fine the picture is, and what is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PictureConfig {
    /// The least that a stretch of memory covers, bytes.
    pub block_size: u64,
    /// Most stretches of memory.
    pub stretches: u32,
    /// Slices of Time.
    pub slices: u32,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// What to do with private references: anything but `shared` leaves them out.
    #[serde(default)]
    pub private: Private,
    /// What to do with synchronisation references.
    #[serde(default)]
    pub sync: Synchronisation,
}

/// Who references which stretch of memory when.
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
            let problem = format!("{number} {what}: a picture has 1 to {CELLS_MAX}");
            return Err(SimError::Config { problem });
        }
    }
    let frame = PictureFrame {
        block_size,
        stretches_max: config.stretches as usize,
        slices: config.slices,
        processors: processors(config.processors, trace)?,
        filter: Filter { private: config.private, synchronisation: config.sync },
    };
    homenode_analysis::picture(trace, &frame, progress).map_err(|error| match error {
        AnalysisError::Trace(error) => SimError::Trace(error),
        AnalysisError::Interrupted => SimError::Interrupted,
    })
}
