//! The data of a sharing picture.

use homenode_analysis::{PictureFrame, SharingPicture};
use homenode_base::BlockSize;
use homenode_trace::TraceReader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{SimResult, config_error};
use crate::pass::{Progress, processors};
use crate::references::{Inclusion, PrivateReferences, data};

const CELLS_MAX: u32 = 4096;

/// Options of a picture: resolution and references.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PictureConfig {
    /// Most address ranges, from left to right.
    #[schemars(range(min = 1))]
    pub stretches: u32,
    /// Time slices, from top to bottom.
    #[schemars(range(min = 1))]
    pub slices: u32,
    /// Smallest size of an address range, in bytes; it is doubled until there are few enough
    /// ranges.
    #[schemars(extend("x-value" = "block-size", "x-metavar" = "B"))]
    pub block_size: u64,
    /// Processors; thread i is processor i modulo this number.
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// How to treat references to private memory: all values except `shared` leave them out.
    pub private: PrivateReferences,
    /// How to treat references to synchronisation variables; excluded in Bolosky's thesis (§2.3.1).
    pub sync: Inclusion,
}

impl Default for PictureConfig {
    fn default() -> Self {
        Self {
            stretches: 120,
            slices: 40,
            block_size: 64,
            processors: None,
            private: PrivateReferences::Exclude,
            sync: Inclusion::Exclude,
        }
    }
}

/// Computes the data of a sharing picture: which processors reference which part of memory when.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn sharing_picture(
    config: &PictureConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<SharingPicture> {
    let block_size =
        BlockSize::new(config.block_size).map_err(|error| config_error(error.to_string()))?;
    for (what, number) in [("stretches", config.stretches), ("slices", config.slices)] {
        if !(1..=CELLS_MAX).contains(&number) {
            return Err(config_error(format!(
                "--{what}: {number} {what}: a picture has 1 to {CELLS_MAX}"
            )));
        }
    }
    let frame = PictureFrame {
        block_size,
        stretches_max: config.stretches as usize,
        slices: config.slices,
        processors: processors(config.processors, trace)?,
        filter: data(config.private, config.sync),
    };
    Ok(homenode_analysis::picture(trace, &frame, progress)?)
}
