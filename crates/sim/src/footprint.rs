//! Footprints of groups of a trace's processes, in one pass over it.

use homenode_analysis::{Footprint, FootprintCounts};
use homenode_base::BlockSize;
use homenode_trace::{Batch, TraceReader};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::SimResult;
use crate::pass::{Progress, TraceSource, report};

/// Options of a footprint study.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootprintConfig {
    /// Bytes in a block.
    pub block_size: u64,
    /// Groups of processes; a process may be in several groups. If the trace does not name
    /// processes, these are threads.
    pub groups: Vec<Vec<u32>>,
    /// Whether kernel references on behalf of these processes are counted.
    pub kernel: bool,
}

/// The footprint of each group, in the order of the groups.
///
/// Source: Foglia, Giorgi and Prete 2004, tables 1 to 3.
///
/// # Errors
/// When the block size is invalid (found before the trace is read) or the trace is damaged.
pub fn footprint(
    config: &FootprintConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<Vec<FootprintCounts>> {
    let bits = BlockSize::new(config.block_size)?.bytes().trailing_zeros();
    let areas = trace.metadata().processor_areas.as_ref();
    let footprint = |group: &Vec<u32>| Footprint::new(bits, group, config.kernel).with_areas(areas);
    let mut groups: Vec<Footprint> = config.groups.iter().map(footprint).collect();
    let (mut batch, mut rows) = (Batch::default(), 0);
    for index in 0..trace.pieces() {
        trace.read_all(index, &mut batch)?;
        groups.par_iter_mut().for_each(|group| group.push(&batch));
        rows += u64::try_from(batch.len()).unwrap_or(0);
        report(&mut *progress, rows, trace.rows())?;
    }
    Ok(groups.into_iter().map(Footprint::finish).collect())
}
