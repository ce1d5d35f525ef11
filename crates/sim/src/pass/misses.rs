//! The references that reach memory behind a cache at each processor.

use homenode_trace::{TraceError, TraceReader};
use homenode_transform::{CacheFilterShape, filter_temporarily};
use serde::Serialize;

use super::progress::{Progress, second_half};
use crate::error::SimError;

/// How caches filtered a trace before its simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CacheFilterRecord {
    /// The cache of each processor, as `SIZE:WAYS:BLOCK`.
    pub cache: String,
    /// Data references of the trace.
    pub references: u64,
    /// Data references that reached memory, which were simulated.
    pub let_through: u64,
    /// Evictions; 0 if all data fit.
    pub replacements: u64,
}

/// Calls `simulate` with the references that miss a cache of this shape at each of `processors`
/// processors, or with the trace itself without a cache. Also returns the record of the filter.
///
/// The first half of the progress is that of the filter.
pub(crate) fn behind_caches<R>(
    caches: Option<(CacheFilterShape, u16)>,
    trace: &TraceReader,
    progress: Progress<'_>,
    simulate: impl FnOnce(&TraceReader, Progress<'_>) -> Result<R, SimError>,
) -> Result<(R, Option<CacheFilterRecord>), SimError> {
    let Some((shape, processors)) = caches else { return Ok((simulate(trace, progress)?, None)) };
    let rows = trace.rows();
    let both = Some(2 * rows);
    let filtered =
        filter_temporarily(trace, shape, processors, &mut |done, _| progress(done, both));
    let (misses, report) = filtered.map_err(|error| {
        if matches!(error, TraceError::Cancelled { .. }) {
            return SimError::Interrupted;
        }
        SimError::Trace(error)
    })?;
    let record = CacheFilterRecord {
        references: report.references,
        let_through: report.let_through(),
        replacements: report.replacements,
        cache: report.cache,
    };
    Ok((simulate(&misses, &mut second_half(progress, rows))?, Some(record)))
}
