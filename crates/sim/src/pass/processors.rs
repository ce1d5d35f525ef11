//! How many processors a simulated machine has.

use super::source::TraceSource;
use crate::error::SimError;

/// Most processors the model allows.
const PROCESSORS_MAX: u16 = 1024;

/// The number asked for, or as many as the trace has threads.
pub(crate) fn processors<T: TraceSource + ?Sized>(
    asked: Option<u16>,
    trace: &T,
) -> Result<u16, SimError> {
    let processors = asked.unwrap_or_else(|| trace.threads().max(1));
    if (1..=PROCESSORS_MAX).contains(&processors) {
        return Ok(processors);
    }
    let problem = match asked {
        Some(n) => format!("--processors: {n} processors: the model allows 1 to {PROCESSORS_MAX}"),
        None => format!(
            "the trace has {processors} threads, the model allows {PROCESSORS_MAX} processors: \
             choose fewer with --processors; thread i runs on processor i modulo that"
        ),
    };
    Err(SimError::Config { problem })
}

/// Several numbers, if any are asked for, or the one of [`processors`].
pub(crate) fn processor_counts<T: TraceSource + ?Sized>(
    (asked, scaling): (Option<u16>, &[u16]),
    trace: &T,
) -> Result<Vec<u16>, SimError> {
    if scaling.is_empty() {
        return Ok(vec![processors(asked, trace)?]);
    }
    scaling.iter().map(|&count| processors(Some(count), trace)).collect()
}
