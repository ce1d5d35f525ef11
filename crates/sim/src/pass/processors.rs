//! Number of simulated processors.

use super::source::TraceSource;
use crate::error::SimError;

/// Most processors of the model.
const PROCESSORS_MAX: u16 = 1024;

/// The requested number, or the trace's number of threads.
pub(crate) fn processors<T: TraceSource + ?Sized>(
    requested: Option<u16>,
    trace: &T,
) -> Result<u16, SimError> {
    let processors = requested.unwrap_or_else(|| trace.threads().max(1));
    if (1..=PROCESSORS_MAX).contains(&processors) {
        return Ok(processors);
    }
    let problem = match requested {
        Some(n) => format!("--processors: {n} processors: the model allows 1 to {PROCESSORS_MAX}"),
        None => format!(
            "the trace has {processors} threads, the model allows {PROCESSORS_MAX} processors: \
             choose fewer with --processors; thread i runs on processor i modulo that"
        ),
    };
    Err(SimError::Config { problem })
}

/// Several requested numbers, or the one of [`processors`].
pub(crate) fn processor_counts<T: TraceSource + ?Sized>(
    requested: Option<u16>,
    scaling: &[u16],
    trace: &T,
) -> Result<Vec<u16>, SimError> {
    if scaling.is_empty() {
        return Ok(vec![processors(requested, trace)?]);
    }
    scaling.iter().map(|&count| processors(Some(count), trace)).collect()
}
