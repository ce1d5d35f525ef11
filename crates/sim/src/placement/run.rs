//! Passes over the trace, as few as memory allows, and the walks over the histories they leave.

use std::ops::Range;

use homenode_placement::{Closed, Histories, HistoryBuilder, PARTS, Shard, Tally};
use homenode_trace::Batch;
use homenode_trace::realign::Realignment;
use rayon::prelude::*;

use crate::Progress;
use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::pass::windows::{AsItIs, Feed, feed};
use crate::placement::config::SimConfig;
use crate::placement::plan::{MEMORY_BUDGET_BYTES, Plan};
use crate::placement::realign::Realigned;

/// Part of the trace after which the histories' size at its end is foreseen: one in this many.
const FORESEEN_AFTER: u64 = 64;

/// Tasks for each thread between two reports of progress.
const TASKS_AHEAD: usize = 16;

/// Runs that one task walks, about.
const TASK_RUNS: usize = 1 << 18;

/// What was counted at one block size.
#[derive(Clone, Debug, Default)]
pub(crate) struct SizeCounts {
    /// Tally of each job of the size.
    pub(crate) jobs: Vec<Tally>,
    /// References that are counted without a history.
    pub(crate) outside: Tally,
    /// The same references, each counted once.
    pub(crate) outside_references: u64,
    pub(crate) references: u64,
    /// What re-alignment did, where data are re-aligned.
    pub(crate) realignment: Option<Realignment>,
}

/// A part of the blocks at one block size that waits for a pass.
#[derive(Clone, Copy, Debug)]
struct Pending {
    size: usize,
    shard: Shard,
}

/// Work done, for the progress report.
pub(crate) struct Meter<'a> {
    pub(crate) progress: Progress<'a>,
    pub(crate) done: u64,
    pub(crate) total: u64,
}

impl Meter<'_> {
    pub(crate) fn add(&mut self, work: u64) -> Result<(), SimError> {
        self.done = (self.done + work).min(self.total);
        match (self.progress)(self.done, Some(self.total)) {
            std::ops::ControlFlow::Continue(()) => Ok(()),
            std::ops::ControlFlow::Break(()) => Err(SimError::Interrupted),
        }
    }
}

/// Runs every job of the plan.
pub(crate) fn count<T: TraceSource + ?Sized>(
    plan: &Plan,
    config: &SimConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<Vec<SizeCounts>, SimError> {
    let pool = pool(config.threads)?;
    let budget = config.memory_budget_bytes.unwrap_or(MEMORY_BUDGET_BYTES);
    let jobs = plan.sizes.iter().map(|s| s.jobs.len() + 1).sum::<usize>();
    let total = trace.references().saturating_mul(u64::try_from(jobs).unwrap_or(1));
    let mut meter = Meter { progress, done: 0, total };
    let fresh = |s: &crate::placement::plan::Size| SizeCounts {
        jobs: vec![Tally::default(); s.jobs.len()],
        ..SizeCounts::default()
    };
    let mut counts: Vec<SizeCounts> = plan.sizes.iter().map(fresh).collect();
    let all = 0..plan.sizes.len();
    let mut pending: Vec<Pending> =
        all.map(|size| Pending { size, shard: Shard::default() }).collect();
    let ration = Ration { budget, references: trace.references() };
    while !pending.is_empty() {
        let mut group = std::mem::take(&mut pending);
        let build = |p: &Pending| plan.builder(&plan.sizes[p.size], p.shard, budget).in_parts();
        let mut builders: Vec<HistoryBuilder> = group.iter().map(build).collect();
        let least = pool.current_num_threads().min(group.len());
        let kept = if let Some(window) = plan.realign {
            let sizes: Vec<usize> = group.iter().map(|p| p.size).collect();
            let mut way = Realigned::new((plan, window), trace, &sizes, (ration, least))?;
            let kept = feed(&pool, trace, &mut builders, (&mut meter, &mut way))?;
            for (size, report) in way.reports(trace) {
                counts[size].realignment = Some(report);
            }
            kept
        } else {
            feed(&pool, trace, &mut builders, (&mut meter, &mut Rationed { ration, least }))?
        };
        builders.truncate(kept);
        // The rest waits for the next pass, in the same order.
        pending.extend(group.drain(kept..));
        let closed = pool.install(|| builders.into_par_iter().map(HistoryBuilder::close));
        let mut closed: Vec<(Closed, Vec<Shard>)> = pool.install(|| closed.collect());
        for (p, (histories, given_up)) in group.iter().zip(&mut closed) {
            let again = given_up.drain(..).map(|shard| Pending { size: p.size, shard });
            pending.extend(again);
            counts[p.size].references += histories.references();
            counts[p.size].outside += histories.outside();
            counts[p.size].outside_references += histories.outside_references();
        }
        for part in 0..PARTS {
            let take = |(p, (closed, _)): (&Pending, &mut (Closed, _))| (p.size, closed.take(part));
            let histories: Vec<(usize, Histories)> =
                pool.install(|| group.par_iter().zip(&mut closed).map(take).collect());
            walk(&pool, plan, &histories, (&mut counts, &mut meter))?;
        }
    }
    meter.done = meter.total;
    meter.add(0)?;
    Ok(counts)
}

/// Worker threads; as many as the computer has if no number is given.
pub(crate) fn pool(threads: Option<usize>) -> Result<rayon::ThreadPool, SimError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|e| SimError::Config { problem: format!("worker threads: {e}; use fewer") })
}

/// How many histories share the memory.
#[derive(Clone, Copy)]
pub(crate) struct Ration {
    budget: u64,
    /// References in the trace.
    references: u64,
}

impl Ration {
    /// How many of the builders can go on after so many references without exceeding the budget at
    /// the end of the trace, at least `least`; the others lose what they have. `besides` is the
    /// memory that is needed besides histories where so many go on.
    pub(crate) fn keep(
        self,
        builders: &mut [HistoryBuilder],
        (least, seen): (usize, u64),
        besides: impl Fn(usize) -> u64,
    ) -> usize {
        let mut keep = builders.len();
        if seen > self.references / FORESEEN_AFTER {
            let more = u128::from(self.references.max(seen));
            let mut bytes: u128 = builders.iter().map(|b| u128::from(b.bytes())).sum();
            let budget = |keep| u128::from(self.budget.saturating_sub(besides(keep)));
            while keep > least && bytes * more > budget(keep) * u128::from(seen) {
                keep -= 1;
                bytes -= u128::from(builders[keep].bytes());
                builders[keep].give_up();
            }
        }
        let share =
            self.budget.saturating_sub(besides(keep)) / u64::try_from(keep).unwrap_or(1).max(1);
        builders[..keep].iter_mut().for_each(|builder| builder.allow(share));
        keep
    }
}

/// Every reference as it is, to as many builders as the memory allows.
struct Rationed {
    ration: Ration,
    /// Builders that must go on.
    least: usize,
}

impl Feed for Rationed {
    fn give(&mut self, builders: &mut [HistoryBuilder], batches: &[Batch]) {
        AsItIs.give(builders, batches);
    }

    fn keep(&mut self, builders: &mut [HistoryBuilder], seen: u64) -> usize {
        self.ration.keep(builders, (self.least, seen), |_| 0)
    }
}

/// Blocks of one history for one job.
struct Task {
    size: usize,
    history: usize,
    job: usize,
    blocks: Range<usize>,
}

/// Walks every history with every job of its size.
fn walk(
    pool: &rayon::ThreadPool,
    plan: &Plan,
    histories: &[(usize, Histories)],
    (counts, meter): (&mut [SizeCounts], &mut Meter<'_>),
) -> Result<(), SimError> {
    let mut tasks = Vec::new();
    for (history, (size, h)) in histories.iter().enumerate() {
        for job in 0..plan.sizes[*size].jobs.len() {
            let ranges = ranges(h).into_iter();
            tasks.extend(ranges.map(|blocks| Task { size: *size, history, job, blocks }));
        }
    }
    for some in tasks.chunks(pool.current_num_threads() * TASKS_AHEAD) {
        let tallies: Result<Vec<Tally>, SimError> = pool.install(|| {
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

fn perform(plan: &Plan, task: &Task, histories: &Histories) -> Result<Tally, SimError> {
    let job = &plan.sizes[task.size].jobs[task.job];
    let mut policy = plan.policies[job.policy].build(&job.setup)?;
    let mut tally = Tally::default();
    for i in task.blocks.clone() {
        policy.block(histories.block(i), &mut tally);
    }
    Ok(tally)
}

/// Ranges of blocks with about [`TASK_RUNS`] runs each.
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
