//! The protocol of a table in some caches, as the explorer takes it.

use homenode_protocol::{Labelled, Model};

use super::broken_promise::BrokenPromise;
use super::situation::{CheckStep, Coverage, Situation, StepRun, WORDS};
use crate::table::Table;
use crate::vocabulary::{Area, Event};

/// So many caches under one protocol.
pub(super) struct BusModel<'a> {
    table: &'a Table,
    coverage: &'a mut Coverage,
    /// Every event that there is, in the order in which they are tried.
    steps: Vec<CheckStep>,
}

impl<'a> BusModel<'a> {
    pub(super) fn new(table: &'a Table, caches: usize, coverage: &'a mut Coverage) -> Self {
        Self { table, coverage, steps: steps(caches) }
    }
}

impl Model for BusModel<'_> {
    type State = Situation;
    type Step = CheckStep;
    type Fault = BrokenPromise;

    fn start(&self) -> Situation {
        Situation::START
    }

    fn steps(&self, situation: &Situation) -> Vec<CheckStep> {
        // Only a copy can be replaced.
        let possible = |step: &&CheckStep| {
            let state = situation.caches[step.cache].state;
            step.event != Event::Replace || self.table.role(state).is_copy()
        };
        self.steps.iter().filter(possible).copied().collect()
    }

    fn perform(
        &mut self,
        situation: &Situation,
        step: &CheckStep,
        story: Option<&mut String>,
    ) -> Result<Option<Situation>, BrokenPromise> {
        let mut run = StepRun { table: self.table, coverage: self.coverage, story };
        run.perform(*situation, *step)
    }

    /// Without copies: transactions over the bus are never under way between two steps.
    fn is_at_rest(&self, situation: &Situation) -> bool {
        *situation == Situation::START
    }

    fn describe(&self, step: &CheckStep) -> String {
        let what = match step.event {
            Event::Read => format!("cache {} reads word {}", step.cache, step.word),
            Event::Write => format!("cache {} writes word {}", step.cache, step.word),
            Event::Replace => format!("cache {} replaces the block", step.cache),
        };
        let area = match step.area {
            Area::Shared => "",
            Area::Private => " of a private area",
        };
        format!("{what}{area}: ")
    }
}

/// Every event in so many caches, with every supplier that there can be.
fn steps(caches: usize) -> Vec<CheckStep> {
    let mut steps = Vec::new();
    for cache in 0..caches {
        for supplier in 0..caches.saturating_sub(1).max(1) {
            for word in 0..WORDS {
                for &area in Area::ALL {
                    for event in [Event::Read, Event::Write] {
                        steps.push(CheckStep { cache, event, word, area, supplier });
                    }
                }
            }
        }
        let (event, area) = (Event::Replace, Area::Shared);
        steps.push(CheckStep { cache, event, word: 0, area, supplier: 0 });
    }
    steps
}
