//! The model of a table in some caches, for the explorer.

use homenode_protocol::{Labelled, ProtocolModel};

use super::BrokenBusPromise;
use super::situation::{CheckStep, CheckedCaches, Coverage, StepRun, WORDS};
use crate::table::ProtocolTable;
use crate::vocabulary::{AreaKind, ProcessorEvent};

/// Some caches under one protocol.
pub(super) struct TableModel<'a> {
    table: &'a ProtocolTable,
    coverage: &'a mut Coverage,
    /// Every event, in the order in which they are tried.
    steps: Vec<CheckStep>,
}

impl<'a> TableModel<'a> {
    pub(super) fn new(table: &'a ProtocolTable, caches: usize, coverage: &'a mut Coverage) -> Self {
        Self { table, coverage, steps: steps(caches) }
    }
}

impl ProtocolModel for TableModel<'_> {
    type State = CheckedCaches;
    type Step = CheckStep;
    type Fault = BrokenBusPromise;

    fn start(&self) -> CheckedCaches {
        CheckedCaches::START
    }

    fn steps(&self, situation: &CheckedCaches) -> Vec<CheckStep> {
        // Only a copy can be replaced.
        let possible = |step: &&CheckStep| {
            let state = situation.caches[step.cache].state;
            step.event != ProcessorEvent::Replace || self.table.role(state).is_copy()
        };
        self.steps.iter().filter(possible).copied().collect()
    }

    fn perform(
        &mut self,
        situation: &CheckedCaches,
        step: &CheckStep,
        story: Option<&mut String>,
    ) -> Result<Option<CheckedCaches>, BrokenBusPromise> {
        let mut run = StepRun { table: self.table, coverage: self.coverage, story };
        run.perform(*situation, *step)
    }

    /// Without copies: transactions over the bus are never under way between two steps.
    fn is_at_rest(&self, situation: &CheckedCaches) -> bool {
        *situation == CheckedCaches::START
    }

    fn describe(&self, step: &CheckStep) -> String {
        let what = match step.event {
            ProcessorEvent::Read => format!("cache {} reads word {}", step.cache, step.word),
            ProcessorEvent::Write => format!("cache {} writes word {}", step.cache, step.word),
            ProcessorEvent::Replace => format!("cache {} replaces the block", step.cache),
        };
        let area = match step.area {
            AreaKind::Shared => "",
            AreaKind::Private => " of a private area",
        };
        format!("{what}{area}: ")
    }
}

/// Every event in this number of caches, with every possible supplier.
fn steps(caches: usize) -> Vec<CheckStep> {
    let mut steps = Vec::new();
    for cache in 0..caches {
        for supplier in 0..caches.saturating_sub(1).max(1) {
            for word in 0..WORDS {
                for &area in AreaKind::ALL {
                    for event in [ProcessorEvent::Read, ProcessorEvent::Write] {
                        steps.push(CheckStep { cache, event, word, area, supplier });
                    }
                }
            }
        }
        let (event, area) = (ProcessorEvent::Replace, AreaKind::Shared);
        steps.push(CheckStep { cache, event, word: 0, area, supplier: 0 });
    }
    steps
}
