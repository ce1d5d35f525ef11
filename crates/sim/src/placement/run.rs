//! Passes over the trace, as few as memory allows, and walks over the histories.

use homenode_placement::{Histories, HistoryBuilder, PARTS, PolicySpec, Shard, UnsortedHistories};
use homenode_trace::TraceReader;
use rayon::prelude::*;

use super::config::SimConfig;
use super::counted::{CountedReferences, on_counted};
use super::outcome::{PlacementSimulation, assemble};
use super::plan::MatrixPlan;
use super::realign::RealigningSink;
use super::walk::SizeCounts;
use super::walk::walk;
use crate::error::SimResult;
use crate::pass::{
    MemoryBudget, Progress, ProgressMeter, TraceSource, WithinBudget, budget_bytes,
    build_histories, thread_pool,
};

/// Simulates the matrix of the configuration. Outcomes are in order of machine, then policy, then
/// block size, each in the order of the configuration.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn run(
    config: &SimConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<PlacementSimulation> {
    run_policies(config, &[], trace, progress)
}

/// As [`run`], with these policies after those of the configuration: they need be in no table.
///
/// # Errors
/// As [`run`].
pub fn run_policies(
    config: &SimConfig,
    own: &[PolicySpec],
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<PlacementSimulation> {
    let plan = |config: &SimConfig, trace: &TraceReader| {
        let as_it_is = SimConfig { realign: None, ..config.clone() };
        MatrixPlan::with_own(&as_it_is, own, trace)?.for_counts().realigned(config.realign)
    };
    let (mut simulation, record) =
        on_counted(config, trace, progress, plan, |counted, progress| {
            let CountedReferences { config, plan, reaching, .. } = *counted;
            let counts = count(plan, config, reaching, progress)?;
            Ok(assemble(plan, &counts, reaching))
        })?;
    for outcome in &mut simulation.outcomes {
        outcome.cache_filter.clone_from(&record.filter);
    }
    record.add_to(&mut simulation.provenance);
    Ok(simulation)
}

#[derive(Clone, Copy, Debug)]
struct PendingShard {
    size: usize,
    shard: Shard,
}

fn count(
    plan: &MatrixPlan,
    config: &SimConfig,
    trace: &dyn TraceSource,
    progress: Progress<'_>,
) -> SimResult<Vec<SizeCounts>> {
    let pool = thread_pool(config.threads)?;
    let budget = budget_bytes(config.memory_budget_bytes);
    let mut meter = ProgressMeter::new(progress, plan.work(trace.references()));
    let mut counts: Vec<SizeCounts> =
        plan.sizes.iter().map(|size| SizeCounts::new(size.jobs.len())).collect();
    let all = 0..plan.sizes.len();
    let mut pending: Vec<PendingShard> =
        all.map(|size| PendingShard { size, shard: Shard::default() }).collect();
    while !pending.is_empty() {
        let mut group = std::mem::take(&mut pending);
        let build =
            |p: &PendingShard| plan.builder(&plan.sizes[p.size], p.shard, budget).in_parts();
        let mut builders: Vec<HistoryBuilder> = group.iter().map(build).collect();
        let least = pool.current_num_threads().min(group.len());
        let budget = MemoryBudget::new(budget, trace.references(), least);
        let kept = if let Some(window) = plan.realign {
            let sizes: Vec<usize> = group.iter().map(|p| p.size).collect();
            let mut sink = RealigningSink::new(plan, window, trace, &sizes, budget)?;
            let kept = build_histories(&pool, trace, &mut builders, &mut meter, &mut sink)?;
            for (size, report) in sink.reports(trace) {
                counts[size].realignment = Some(report);
            }
            kept
        } else {
            let mut sink = WithinBudget(budget);
            build_histories(&pool, trace, &mut builders, &mut meter, &mut sink)?
        };
        builders.truncate(kept);
        // The others wait for the next pass, in the same order.
        pending.extend(group.drain(kept..));
        let closed = pool.install(|| builders.into_par_iter().map(HistoryBuilder::close));
        let mut closed: Vec<(UnsortedHistories, Vec<Shard>)> = pool.install(|| closed.collect());
        for (p, (histories, given_up)) in group.iter().zip(&mut closed) {
            let again = given_up.drain(..).map(|shard| PendingShard { size: p.size, shard });
            pending.extend(again);
            counts[p.size].totals += &histories.totals;
        }
        for part in 0..PARTS {
            let take = |(p, (closed, _)): (&PendingShard, &mut (UnsortedHistories, _))| {
                (p.size, closed.take(part))
            };
            let histories: Vec<(usize, Histories)> =
                pool.install(|| group.par_iter().zip(&mut closed).map(take).collect());
            walk(&pool, plan, &histories, &mut counts, &mut meter)?;
        }
    }
    meter.finish()?;
    Ok(counts)
}
