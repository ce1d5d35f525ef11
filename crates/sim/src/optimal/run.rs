//! The optimum of every machine and block size, with one pass for each size and shard of blocks.

use homenode_placement::Shard;
use homenode_trace::TraceReader;

use super::config::{OptimalConfig, interval};
use super::findings::{OptimumFindings, OptimumRequest};
use super::placement::{self, PlacementOutput};
use super::report::{OptimalReport, assemble};
use super::walk::{HistoryWalk, curve_solver, replicates};
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, ProgressMeter, Unchanged, budget_bytes, build_histories, thread_pool};
use crate::placement::{CountedReferences, MatrixPlan, SimConfig, SizeCounts, on_counted};

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
) -> SimResult<OptimalReport> {
    let plan = |simulation: &SimConfig, trace: &TraceReader| checked(config, simulation, trace);
    let simulation = &config.simulation;
    let (mut report, record) =
        on_counted(simulation, trace, progress, plan, |counted, progress| {
            find(config, counted, output, progress)
        })?;
    for row in &mut report.outcomes {
        row.outcome.cache_filter.clone_from(&record.filter);
    }
    record.add_to(&mut report.provenance);
    Ok(report)
}

fn find(
    options: &OptimalConfig,
    counted: &CountedReferences<'_>,
    mut output: Option<PlacementOutput<'_>>,
    progress: Progress<'_>,
) -> SimResult<OptimalReport> {
    let CountedReferences { config, plan, reaching: trace, .. } = *counted;
    let curve = options.curve.as_deref().map(interval).transpose()?;
    let placement = output.as_ref().map(|o| o.format);
    let wanted = OptimumRequest { curve, certify: options.certify, placement };
    if let Some(output) = &mut output {
        placement::head(output)?;
    }
    let pool = thread_pool(config.threads)?;
    let mut meter = ProgressMeter::new(progress, plan.work(trace.references()));
    let budget = budget_bytes(config.memory_budget_bytes);
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
            counted.totals += &histories.totals;
            let walk = HistoryWalk { plan, size, wanted, pool: &pool };
            walk.all(&histories, &mut jobs, &mut output, &mut meter)?;
        }
        counted.jobs = jobs.iter().map(|job| job.tally).collect();
        counts.push(counted);
        found.push(jobs);
    }
    meter.finish()?;
    Ok(assemble(plan, &counts, &found, wanted, trace))
}

fn checked(
    config: &OptimalConfig,
    simulation: &SimConfig,
    trace: &TraceReader,
) -> SimResult<MatrixPlan> {
    let matrix = MatrixPlan::new(simulation, trace)?;
    if let Some(policy) = matrix.policies.iter().find(|p| replicates(p.name()).is_none()) {
        return Err(config_error(format!(
            "{} is not an optimum; choose the policies optimal or optimal-no-replication",
            policy.text
        )));
    }
    if let Some(interval) = config.curve.as_deref().map(interval).transpose()? {
        for job in matrix.sizes.iter().flat_map(|size| &size.jobs) {
            curve_solver(&matrix, job.policy, &job.setup, interval)?;
        }
    }
    Ok(matrix)
}
