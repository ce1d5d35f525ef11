//! Worker threads and memory budgets.

use homenode_placement::HistoryBuilder;
use homenode_trace::available_bytes;

use crate::error::{SimResult, config_error};

/// Most worker threads; more only take memory.
const THREADS_MAX: usize = 1024;

pub(crate) fn check_threads(threads: Option<usize>) -> SimResult<()> {
    if threads.is_none_or(|n| (1..=THREADS_MAX).contains(&n)) {
        return Ok(());
    }
    Err(config_error(format!("--threads: worker threads must be from 1 to {THREADS_MAX}")))
}

pub(crate) fn thread_pool(threads: Option<usize>) -> SimResult<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|e| config_error(format!("worker threads: {e}; use fewer with --threads")))
}

/// Default memory budget of histories, in bytes.
const BUDGET_BYTES: u64 = 1_500_000_000;

/// The final size of histories is predicted after one in this many of the references.
const FORESEEN_AFTER: u64 = 64;

pub(crate) fn budget_bytes(requested: Option<u64>) -> u64 {
    requested.unwrap_or(BUDGET_BYTES)
}

/// The divisor of available memory that gives the budget of word events.
const EVENTS_PART: u64 = 4;

/// Memory budget of word events, in bytes; if they exceed it, the trace is read again for the rest.
pub(crate) fn events_budget_bytes(requested: Option<u64>) -> u64 {
    let part = || available_bytes().unwrap_or(0) / EVENTS_PART;
    requested.unwrap_or_else(|| part().max(BUDGET_BYTES))
}

#[derive(Clone, Copy)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    references: u64,
    /// Builders that always continue, whatever memory they take.
    least: usize,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64, references: u64, least: usize) -> Self {
        Self { bytes, references, least }
    }

    /// The number of builders that can continue after this many references without exceeding the
    /// budget at the end of the trace; the others drop their histories. `besides` is the additional
    /// memory for a given number of builders.
    pub(crate) fn keep(
        self,
        builders: &mut [HistoryBuilder],
        seen: u64,
        besides: impl Fn(usize) -> u64,
    ) -> usize {
        let mut keep = builders.len();
        if seen > self.references / FORESEEN_AFTER {
            let more = u128::from(self.references.max(seen));
            let mut bytes: u128 = builders.iter().map(|b| u128::from(b.bytes())).sum();
            let budget = |keep| u128::from(self.bytes.saturating_sub(besides(keep)));
            while keep > self.least && bytes * more > budget(keep) * u128::from(seen) {
                keep -= 1;
                bytes -= u128::from(builders[keep].bytes());
                builders[keep].give_up();
            }
        }
        let share =
            self.bytes.saturating_sub(besides(keep)) / u64::try_from(keep).unwrap_or(1).max(1);
        builders[..keep].iter_mut().for_each(|builder| builder.allow(share));
        keep
    }
}
