//! Passes over the trace, as few as memory allows, and the walks over the histories they leave.

use std::ops::Range;

use homenode_placement::{Histories, HistoryBuilder, Shard, Tally};
use homenode_trace::Batch;
use rayon::prelude::*;

use crate::Progress;
use crate::config::SimConfig;
use crate::error::SimError;
use crate::plan::{MEMORY_BUDGET_BYTES, Plan};
use crate::source::TraceSource;

/// Bytes of histories per reference, pessimistically, to choose how many sizes share a pass.
const BYTES_PER_REFERENCE: u64 = 40;

/// References decoded ahead for each thread, and threads served so; 13 bytes each.
const WINDOW_REFERENCES: usize = 1 << 20;
const THREADS_MAX: usize = 8;

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
    let fresh = |s: &crate::plan::Size| SizeCounts {
        jobs: vec![Tally::default(); s.jobs.len()],
        ..SizeCounts::default()
    };
    let mut counts: Vec<SizeCounts> = plan.sizes.iter().map(fresh).collect();
    let all = (0..plan.sizes.len()).rev();
    let mut pending: Vec<Pending> =
        all.map(|size| Pending { size, shard: Shard::default() }).collect();
    let together = budget / (trace.references().max(1) * BYTES_PER_REFERENCE).max(1);
    let together = usize::try_from(together).unwrap_or(usize::MAX);
    let together = together.max(pool.current_num_threads()).max(1);
    while !pending.is_empty() {
        let group = pending.split_off(pending.len().saturating_sub(together));
        let share = budget / u64::try_from(group.len()).unwrap_or(1);
        let builders = group.iter().map(|p| plan.builder(&plan.sizes[p.size], p.shard, share));
        let mut builders: Vec<HistoryBuilder> = builders.collect();
        pass(&pool, trace, &mut builders, &mut meter)?;
        let finished: Vec<_> =
            pool.install(|| builders.into_par_iter().map(HistoryBuilder::finish).collect());
        let mut histories = Vec::new();
        for (p, (history, given_up)) in group.iter().zip(finished) {
            pending.extend(given_up.into_iter().map(|shard| Pending { size: p.size, shard }));
            counts[p.size].references += history.references();
            counts[p.size].outside += history.outside();
            counts[p.size].outside_references += history.outside_references();
            histories.push((p.size, history));
        }
        walk(&pool, plan, &histories, (&mut counts, &mut meter))?;
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

/// Feeds the whole trace to the builders. The next pieces are decoded meanwhile.
pub(crate) fn pass<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    builders: &mut [HistoryBuilder],
    meter: &mut Meter<'_>,
) -> Result<(), SimError> {
    let pieces = trace.pieces();
    let width = window_pieces(trace, pool.current_num_threads());
    let window = |first: usize| first..pieces.min(first + width);
    let mut ready = pool.install(|| decode(trace, window(0), Vec::new()))?;
    let mut spare = Vec::new();
    let mut first = 0;
    while first < pieces {
        let next = window(first + width);
        let recycled = std::mem::take(&mut spare);
        let ((), decoded) = pool.install(|| {
            rayon::join(
                || {
                    builders.par_iter_mut().for_each(|builder| {
                        for batch in &ready {
                            builder.push(batch);
                        }
                    });
                },
                || decode(trace, next, recycled),
            )
        });
        let rows: usize = ready.iter().map(Batch::len).sum();
        let work = u64::try_from(rows * builders.len()).unwrap_or(0);
        spare = std::mem::replace(&mut ready, decoded?);
        meter.add(work)?;
        first += width;
    }
    Ok(())
}

/// Pieces decoded at a time: work for every thread, but few references in memory.
pub(crate) fn window_pieces<T: TraceSource + ?Sized>(trace: &T, threads: usize) -> usize {
    let references = usize::try_from(trace.references()).unwrap_or(usize::MAX);
    let per_piece = (references / trace.pieces().max(1)).max(1);
    let for_one = (WINDOW_REFERENCES / per_piece).clamp(1, 64);
    for_one * threads.clamp(1, THREADS_MAX)
}

/// Decodes pieces in parallel, into recycled batches where there are any.
pub(crate) fn decode<T: TraceSource + ?Sized>(
    trace: &T,
    pieces: Range<usize>,
    mut recycled: Vec<Batch>,
) -> Result<Vec<Batch>, SimError> {
    recycled.resize_with(pieces.len(), Batch::default);
    let work = pieces.into_par_iter().zip(recycled);
    let read = work.map(|(index, mut batch)| trace.read(index, &mut batch).map(|()| batch));
    Ok(read.collect::<Result<_, _>>()?)
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
    for some in tasks.chunks(pool.current_num_threads() * 4) {
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
