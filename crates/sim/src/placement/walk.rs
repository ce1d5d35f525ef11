//! Walks over histories: every policy over every block, on all threads.

use std::ops::Range;

use homenode_placement::{Histories, HistoryTotals, Tally};
use homenode_transform::realign::Realignment;
use rayon::prelude::*;

use super::plan::MatrixPlan;
use crate::error::SimResult;
use crate::pass::ProgressMeter;

const TASKS_AHEAD: usize = 16;

/// Approximate number of runs that one task walks.
const TASK_RUNS: usize = 1 << 18;

struct WalkTask {
    size: usize,
    history: usize,
    job: usize,
    blocks: Range<usize>,
}

pub(super) fn walk(
    pool: &rayon::ThreadPool,
    plan: &MatrixPlan,
    histories: &[(usize, Histories)],
    counts: &mut [SizeCounts],
    meter: &mut ProgressMeter<'_>,
) -> SimResult<()> {
    let mut tasks = Vec::new();
    for (history, (size, h)) in histories.iter().enumerate() {
        for job in 0..plan.sizes[*size].jobs.len() {
            let ranges = ranges(h).into_iter();
            tasks.extend(ranges.map(|blocks| WalkTask { size: *size, history, job, blocks }));
        }
    }
    for some in tasks.chunks(pool.current_num_threads() * TASKS_AHEAD) {
        let tallies: SimResult<Vec<Tally>> = pool.install(|| {
            some.par_iter().map(|task| perform(plan, task, &histories[task.history].1)).collect()
        });
        let mut work = 0;
        for (task, tally) in some.iter().zip(tallies?) {
            work += tally.accesses();
            counts[task.size].jobs[task.job] += &tally;
        }
        meter.add(work)?;
    }
    Ok(())
}

fn perform(plan: &MatrixPlan, task: &WalkTask, histories: &Histories) -> SimResult<Tally> {
    let job = &plan.sizes[task.size].jobs[task.job];
    let mut policy = plan.policies[job.policy].build(&job.setup)?;
    let mut tally = Tally::default();
    for i in task.blocks.clone() {
        policy.block(histories.block(i), &mut tally);
    }
    Ok(tally)
}

pub(crate) fn ranges(histories: &Histories) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut runs) = (0, 0);
    for (i, block) in histories.blocks().enumerate() {
        runs += block.runs.len();
        if runs >= TASK_RUNS {
            ranges.push(start..i + 1);
            (start, runs) = (i + 1, 0);
        }
    }
    if start < histories.len() {
        ranges.push(start..histories.len());
    }
    ranges
}

#[derive(Clone, Debug, Default)]
pub(crate) struct SizeCounts {
    pub(crate) jobs: Vec<Tally>,
    pub(crate) totals: HistoryTotals,
    pub(crate) realignment: Option<Realignment>,
}

impl SizeCounts {
    pub(crate) fn new(jobs: usize) -> Self {
        Self { jobs: vec![Tally::default(); jobs], ..Self::default() }
    }
}
