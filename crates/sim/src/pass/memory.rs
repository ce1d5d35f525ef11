//! How much memory histories take.

use homenode_placement::HistoryBuilder;

/// Bytes that histories may take at a time unless the configuration says otherwise.
const BUDGET_BYTES: u64 = 1_500_000_000;

/// Part of the trace after which the histories' size at its end is foreseen: one in this many.
const FORESEEN_AFTER: u64 = 64;

/// Bytes that histories may take at a time.
pub(crate) fn budget_bytes(asked: Option<u64>) -> u64 {
    asked.unwrap_or(BUDGET_BYTES)
}

/// How many histories share the memory.
#[derive(Clone, Copy)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    /// References in the trace.
    references: u64,
    /// Builders that must go on, whatever they take.
    least: usize,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64, references: u64, least: usize) -> Self {
        Self { bytes, references, least }
    }

    /// How many of the builders can go on after so many references without exceeding the budget at
    /// the end of the trace; the others lose what they have. `besides` is the memory that is needed
    /// besides histories where so many go on.
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
