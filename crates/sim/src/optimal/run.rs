//! The optimum of every machine and block size, with one pass for each size and shard of blocks.

use homenode_optimal::Interval;
use homenode_placement::Shard;
use homenode_trace::TraceReader;

use super::config::OptimalConfig;
use super::curve::{curve_solver, interval, replicates};
use super::found::{OptimumFindings, OptimumRequest};
use super::placement::{self, PlacementOutput};
use super::report::{OptimalReport, assemble};
use super::walk::HistoryWalk;
use crate::error::SimError;
use crate::pass::{
    Progress, ProgressMeter, Unchanged, budget_bytes, build_histories, in_words, thread_pool,
};
use crate::placement::{MatrixPlan, SimConfig, SizeCounts, on_misses, record};

/// Finds the optimum of every machine and block size of the configuration.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read), the trace is damaged, or the
/// output cannot be written.
pub fn optimal(
    config: &OptimalConfig,
    trace: &TraceReader,
    output: Option<PlacementOutput<'_>>,
    progress: Progress<'_>,
) -> Result<OptimalReport, SimError> {
    let check = || checked(config, trace).map(drop);
    let found = in_words(
        config.simulation.word_bytes,
        config.simulation.threads,
        trace,
        progress,
        check,
        |words, progress| filtered(config, words, output, progress),
    );
    let mut report = found?;
    report.provenance.word_bytes = config.simulation.word_bytes;
    Ok(report)
}

/// The study after references have been counted in words.
fn filtered(
    config: &OptimalConfig,
    trace: &TraceReader,
    output: Option<PlacementOutput<'_>>,
    progress: Progress<'_>,
) -> Result<OptimalReport, SimError> {
    let (plan, _) = checked(config, trace)?;
    let find = |simulation: &SimConfig, misses: &TraceReader, progress: Progress<'_>| {
        let config = OptimalConfig { simulation: simulation.clone(), ..config.clone() };
        find(&config, misses, output, progress)
    };
    let (mut report, filtered) = on_misses(&config.simulation, &plan, trace, progress, find)?;
    for row in &mut report.outcomes {
        row.outcome.cache_filter.clone_from(&filtered);
    }
    record(&mut report.provenance, trace, filtered);
    Ok(report)
}

/// The study of all references of a trace, without caches.
fn find(
    config: &OptimalConfig,
    trace: &TraceReader,
    mut output: Option<PlacementOutput<'_>>,
    progress: Progress<'_>,
) -> Result<OptimalReport, SimError> {
    let (plan, curve) = checked(config, trace)?;
    let placement = output.as_ref().map(|o| o.format);
    let wanted = OptimumRequest { curve, certify: config.certify, placement };
    if let Some(output) = &mut output {
        placement::head(output)?;
    }
    let pool = thread_pool(config.simulation.threads)?;
    let mut meter = ProgressMeter::new(progress, plan.work(trace.references()));
    let budget = budget_bytes(config.simulation.memory_budget_bytes);
    let mut found = Vec::new();
    let mut counts = Vec::new();
    for size in &plan.sizes {
        let mut jobs = vec![OptimumFindings::default(); size.jobs.len()];
        let mut counted = SizeCounts::default();
        let mut pending = vec![Shard::default()];
        while let Some(shard) = pending.pop() {
            let mut builders = [plan.builder(size, shard, budget)];
            build_histories(&pool, trace, &mut builders, &mut meter, &mut Unchanged)?;
            let [builder] = builders;
            let (histories, given_up) = builder.finish();
            pending.extend(given_up);
            counted.references += histories.references();
            counted.outside += histories.outside();
            counted.outside_references += histories.outside_references();
            let walk = HistoryWalk { plan: &plan, size, wanted, pool: &pool };
            walk.all(&histories, &mut jobs, &mut output, &mut meter)?;
        }
        counted.jobs = jobs.iter().map(|job| job.tally).collect();
        counts.push(counted);
        found.push(jobs);
    }
    meter.finish()?;
    Ok(assemble(&plan, &counts, &found, wanted, trace))
}

/// The plan, and the interval of the curve if one is requested.
fn checked(
    config: &OptimalConfig,
    trace: &TraceReader,
) -> Result<(MatrixPlan, Option<Interval>), SimError> {
    let plan = MatrixPlan::new(&config.simulation, trace)?;
    if let Some(policy) = plan.policies.iter().find(|p| replicates(p.entry.name).is_none()) {
        let problem = format!(
            "{} is not an optimum; choose the policies optimal or optimal-no-replication",
            policy.text
        );
        return Err(SimError::Config { problem });
    }
    let curve = config.curve.as_deref().map(interval).transpose()?;
    if let Some(interval) = curve {
        for job in plan.sizes.iter().flat_map(|size| &size.jobs) {
            curve_solver(&plan, job.policy, &job.setup, interval)?;
        }
    }
    Ok((plan, curve))
}
