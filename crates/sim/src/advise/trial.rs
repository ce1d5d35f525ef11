//! Many layouts tried in one pass over the trace, each on the few blocks that it changes.

use homenode_advise::{Layout, Proposal};
use homenode_base::{AccessKind, ProcId, ReferenceRole, Time};
use homenode_placement::{HistoryBuilder, Shard};
use homenode_trace::{Batch, ThreadTurn, TraceReader};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::evaluator::{BlockCost, LayoutEvaluator, ReportPart};
use crate::error::SimResult;
use crate::pass::{TraceSource, WindowReader, part_of};

/// Bytes of a run while histories are built; doubled because a layout may have more runs.
const RUN_BYTES: u64 = 2 * 32;

/// Most bits by which the blocks of a trial are divided into shards.
const SHARD_BITS_MAX: u32 = 10;

/// Entries of the cache in front of a map of blocks.
const CACHE_ENTRIES: usize = 1024;

pub(super) struct LayoutTrial {
    pub(super) object: usize,
    pub(super) kind: usize,
    pub(super) proposal: Proposal,
    /// Blocks that hold the object now, in order.
    pub(super) old_blocks: Vec<u64>,
    pub(super) new_blocks: std::ops::Range<u64>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct TrialCost {
    pub(super) blocks: Vec<(u64, BlockCost)>,
    pub(super) steps: u128,
}

/// A trial, or a shard of its blocks if its histories would exceed the memory budget.
struct TrialShard<'a> {
    trial: usize,
    shard: Shard,
    bytes: u64,
    what: &'a LayoutTrial,
}

/// Simulates each trial on top of the accepted layouts. `runs_of` returns the current length of a
/// block's history.
pub(super) fn try_all(
    point: &LayoutEvaluator<'_>,
    trace: &TraceReader,
    accepted: &Layout,
    trials: &[&LayoutTrial],
    runs_of: impl Fn(u64) -> u64,
    tick: ReportPart<'_>,
) -> SimResult<Vec<TrialCost>> {
    let mut jobs = Vec::new();
    for (trial, &what) in trials.iter().enumerate() {
        let runs: u64 = what.old_blocks.iter().map(|&block| runs_of(block)).sum();
        let bytes = runs.saturating_mul(RUN_BYTES);
        let parts = bytes.div_ceil(point.budget.max(1)).next_power_of_two();
        let bits = parts.trailing_zeros().min(SHARD_BITS_MAX);
        let shards = (0..1u32 << bits).map(|index| Shard { index, bits });
        jobs.extend(shards.map(|shard| TrialShard { trial, shard, bytes: bytes >> bits, what }));
    }
    let mut tried = vec![TrialCost::default(); trials.len()];
    let mut rest = jobs.as_slice();
    while !rest.is_empty() {
        let mut sum = 0u64;
        let fits = rest.iter().take_while(|job| {
            sum = sum.saturating_add(job.bytes);
            sum <= point.budget
        });
        let (now, later) = rest.split_at(fits.count().max(1));
        rest = later;
        pass(point, trace, accepted, now, &mut tried, tick)?;
    }
    for one in &mut tried {
        one.blocks.sort_unstable_by_key(|&(block, _)| block);
        one.steps = one.blocks.iter().map(|(_, cost)| cost.steps).sum();
    }
    Ok(tried)
}

/// One pass over the trace for several jobs, distributed over the threads.
fn pass(
    point: &LayoutEvaluator<'_>,
    trace: &TraceReader,
    accepted: &Layout,
    jobs: &[TrialShard<'_>],
    tried: &mut [TrialCost],
    tick: ReportPart<'_>,
) -> SimResult<()> {
    let share = jobs.len().div_ceil(point.pool.current_num_threads());
    let workers = jobs.chunks(share).map(|some| TrialWorker::new(point, accepted, some));
    let mut workers: Vec<TrialWorker<'_>> = workers.collect();
    let read = |index, batch: &mut Batch| TraceSource::read(trace, index, batch);
    let mut windows = WindowReader::new(point.pool, trace, &read);
    let mut seen = 0;
    let mut push = |batches: &[Batch]| {
        workers.par_iter_mut().for_each(|worker| {
            batches.iter().for_each(|batch| worker.push(point, batch));
        });
        batches.len()
    };
    while let Some(pieces) = windows.next(&mut push)? {
        seen += pieces;
        tick(part_of(seen, trace.pieces()))?;
    }
    for site in workers.into_iter().flat_map(|worker| worker.sites) {
        let (histories, _) = site.builder.finish();
        let blocks = &mut tried[site.trial].blocks;
        point.walk(&histories, |number, cost, _| blocks.push((number, cost)))?;
    }
    Ok(())
}

struct TrialBuilder {
    trial: usize,
    layout: Layout,
    new_blocks: std::ops::Range<u64>,
    builder: HistoryBuilder,
}

#[derive(Clone, Copy)]
struct TimedAccess {
    addr: u64,
    size: u8,
    processor: ProcId,
    write: bool,
    time: Time,
}

/// Several jobs, indexed by the blocks that their trials change.
struct TrialWorker<'a> {
    sites: Vec<TrialBuilder>,
    lists: FxHashMap<u64, Vec<usize>>,
    /// Direct-mapped cache of the lookup whether any job has a block.
    cache: Box<[(u64, bool); CACHE_ENTRIES]>,
    none: &'a [usize],
}

impl TrialWorker<'_> {
    fn new(point: &LayoutEvaluator<'_>, accepted: &Layout, jobs: &[TrialShard<'_>]) -> Self {
        let mut lists: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut sites = Vec::with_capacity(jobs.len());
        for job in jobs {
            for &block in &job.what.old_blocks {
                lists.entry(block).or_default().push(sites.len());
            }
            sites.push(TrialBuilder {
                trial: job.trial,
                layout: accepted.and(&job.what.proposal.moves),
                new_blocks: job.what.new_blocks.clone(),
                builder: point.builder(job.shard),
            });
        }
        Self { sites, lists, cache: Box::new([(u64::MAX, false); CACHE_ENTRIES]), none: &[] }
    }

    fn push(&mut self, point: &LayoutEvaluator<'_>, batch: &Batch) {
        let mut next_time = batch.first_time;
        for ThreadTurn { thread, rows } in batch.turns.iter() {
            let processor = thread % point.processors;
            for row in rows {
                let kind = batch.kind[row];
                if kind == AccessKind::Fetch.code() {
                    continue;
                }
                let time = next_time;
                next_time += 1;
                let (addr, size) = (batch.addr[row], batch.size[row]);
                if !point.block.blocks_touched(addr, size).any(|block| self.concerns(block)) {
                    continue;
                }
                if batch.role(row, point.filter) == ReferenceRole::Shared {
                    let write = kind != AccessKind::Read.code();
                    self.reference(point, TimedAccess { addr, size, processor, write, time });
                }
            }
        }
    }

    #[inline]
    fn concerns(&mut self, block: u64) -> bool {
        let slot = usize::try_from((block ^ block >> 10) % CACHE_ENTRIES as u64).unwrap_or(0);
        if self.cache[slot].0 != block {
            self.cache[slot] = (block, self.lists.contains_key(&block));
        }
        self.cache[slot].1
    }

    fn reference(&mut self, point: &LayoutEvaluator<'_>, access: TimedAccess) {
        let TimedAccess { addr, size, processor, write, time } = access;
        let (first, last) = point.block.blocks_touched(addr, size).into_inner();
        for block in first..=last {
            for &index in self.lists.get(&block).map_or(self.none, Vec::as_slice) {
                let listed = |b: u64| self.lists.get(&b).is_some_and(|list| list.contains(&index));
                if (first..block).any(listed) {
                    continue;
                }
                let TrialBuilder { layout, new_blocks, builder, .. } = &mut self.sites[index];
                layout.parts(addr, size, |addr, size| {
                    for to in point.block.blocks_touched(addr, size) {
                        // Blocks outside the trial do not change.
                        if new_blocks.contains(&to) || listed(to) {
                            builder.push_block(to, processor, write, time);
                        }
                    }
                });
            }
        }
    }
}
