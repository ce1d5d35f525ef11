//! Passes over the trace, as few as memory allows, and the walks over the histories they leave.

use std::ops::Range;

use homenode_placement::{Closed, Histories, HistoryBuilder, PARTS, Shard, Tally};
use homenode_trace::Batch;
use rayon::prelude::*;

use crate::Progress;
use crate::config::SimConfig;
use crate::error::SimError;
use crate::plan::{MEMORY_BUDGET_BYTES, Plan};
use crate::source::TraceSource;

/// Part of the trace after which the histories' size at its end is foreseen: one in this many.
const FORESEEN_AFTER: u64 = 64;

/// References decoded ahead for each thread, and threads served so; 13 bytes each.
const WINDOW_REFERENCES: usize = 1 << 20;
const THREADS_MAX: usize = 8;

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
    let all = 0..plan.sizes.len();
    let mut pending: Vec<Pending> =
        all.map(|size| Pending { size, shard: Shard::default() }).collect();
    let ration = Ration { budget, references: trace.references() };
    while !pending.is_empty() {
        let mut group = std::mem::take(&mut pending);
        let build = |p: &Pending| plan.builder(&plan.sizes[p.size], p.shard, budget).in_parts();
        let mut builders: Vec<HistoryBuilder> = group.iter().map(build).collect();
        let least = pool.current_num_threads().min(group.len());
        let keep = |some: &mut [HistoryBuilder], seen| ration.keep(some, least, seen);
        let kept = feed(&pool, trace, &mut builders, (&mut meter, keep))?;
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
struct Ration {
    budget: u64,
    /// References in the trace.
    references: u64,
}

impl Ration {
    /// How many of the builders can go on after so many references without exceeding the budget at
    /// the end of the trace, at least `least`; the others lose what they have.
    fn keep(&self, builders: &mut [HistoryBuilder], least: usize, seen: u64) -> usize {
        let mut keep = builders.len();
        if seen > self.references / FORESEEN_AFTER {
            let more = u128::from(self.references.max(seen));
            let mut bytes: u128 = builders.iter().map(|b| u128::from(b.bytes())).sum();
            while keep > least && bytes * more > u128::from(self.budget) * u128::from(seen) {
                keep -= 1;
                bytes -= u128::from(builders[keep].bytes());
                builders[keep].give_up();
            }
        }
        let share = self.budget / u64::try_from(keep).unwrap_or(1).max(1);
        builders[..keep].iter_mut().for_each(|builder| builder.allow(share));
        keep
    }
}

/// Feeds the whole trace to the builders.
pub(crate) fn pass<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    builders: &mut [HistoryBuilder],
    meter: &mut Meter<'_>,
) -> Result<(), SimError> {
    let all = |some: &mut [HistoryBuilder], _| some.len();
    feed(pool, trace, builders, (meter, all)).map(|_| ())
}

/// Feeds the trace to the builders; after each window `keep` says from the references seen how many
/// of them go on. Returns how many have seen everything. The next pieces are decoded meanwhile.
fn feed<T: TraceSource + ?Sized>(
    pool: &rayon::ThreadPool,
    trace: &T,
    builders: &mut [HistoryBuilder],
    (meter, mut keep): (&mut Meter<'_>, impl FnMut(&mut [HistoryBuilder], u64) -> usize),
) -> Result<usize, SimError> {
    let pieces = trace.pieces();
    let width = window_pieces(trace, pool.current_num_threads());
    let window = |first: usize| first..pieces.min(first + width);
    let mut ready = pool.install(|| decode(trace, window(0), Vec::new()))?;
    let mut spare = Vec::new();
    let (mut kept, mut seen) = (builders.len(), 0);
    let mut first = 0;
    while first < pieces {
        let builders = &mut builders[..kept];
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
        seen += u64::try_from(rows).unwrap_or(0);
        kept = keep(builders, seen);
        spare = std::mem::replace(&mut ready, decoded?);
        meter.add(work)?;
        first += width;
    }
    Ok(kept)
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
