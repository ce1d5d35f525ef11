//! The worker threads of a simulation.

use crate::error::SimError;

/// Most worker threads; more only take memory.
const THREADS_MAX: usize = 1024;

/// Checks the number of worker threads.
pub(crate) fn check_threads(threads: Option<usize>) -> Result<(), SimError> {
    if threads.is_none_or(|n| (1..=THREADS_MAX).contains(&n)) {
        return Ok(());
    }
    let problem = format!("--threads: worker threads must be from 1 to {THREADS_MAX}");
    Err(SimError::Config { problem })
}

/// The worker threads; one per core if no number is given.
pub(crate) fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, SimError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build().map_err(|e| {
        SimError::Config { problem: format!("worker threads: {e}; use fewer with --threads") }
    })
}
