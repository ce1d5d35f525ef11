//! The memory budgets of histories and of events.

use homenode_placement::HistoryBuilder;

use super::available::available_bytes;

/// Bytes that histories may take at a time unless the configuration says otherwise.
const BUDGET_BYTES: u64 = 1_500_000_000;

/// The fraction of the trace, one in so many, after which the final size of histories is predicted.
const FORESEEN_AFTER: u64 = 64;

/// Bytes that histories may take at a time.
pub(crate) fn budget_bytes(asked: Option<u64>) -> u64 {
    asked.unwrap_or(BUDGET_BYTES)
}

/// Of the memory that the system has left, the part that events of words may take.
const EVENTS_PART: u64 = 4;

/// Bytes that the events of words may take at a time: where they take more, the trace is read
/// again for the rest of them.
pub(crate) fn events_budget_bytes(asked: Option<u64>) -> u64 {
    let part = || available_bytes().unwrap_or(0) / EVENTS_PART;
    asked.unwrap_or_else(|| part().max(BUDGET_BYTES))
}

/// Bounds the memory of histories that are built at the same time.
#[derive(Clone, Copy)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    /// References in the trace.
    references: u64,
    /// Builders that must continue, whatever memory they take.
    least: usize,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64, references: u64, least: usize) -> Self {
        Self { bytes, references, least }
    }

    /// How many of the builders can continue after so many references without exceeding the budget
    /// at the end of the trace; the others lose their histories. `besides` is the memory that is
    /// needed in addition to histories if so many continue.
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
