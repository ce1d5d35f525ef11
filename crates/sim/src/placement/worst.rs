//! The worst blocks of one point of the matrix.

use homenode_analysis::{CostReport, WorstQuery};
use homenode_base::ReferenceFilter;
use homenode_machine::PricedMachine;
use homenode_placement::PolicySpec;
use homenode_trace::TraceReader;
use serde::Serialize;

use super::config::SimConfig;
use super::counted::{CountedReferences, on_counted};
use super::plan::{MatrixPlan, SizePlan};
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, budget_bytes};

/// The worst blocks, and the machine and policy that they are for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstBlocks {
    /// The machine: its name in the table or its file, or the inline prices.
    pub machine: String,
    /// The policy as written in the configuration.
    pub policy: String,
    /// The report.
    #[serde(flatten)]
    pub report: CostReport,
}

/// Finds the `count` blocks and objects with the highest cost. The configuration must have one
/// machine, one policy and one block size.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn worst_blocks(
    config: &SimConfig,
    trace: &TraceReader,
    count: usize,
    progress: Progress<'_>,
) -> SimResult<WorstBlocks> {
    let planned = |config: &SimConfig, trace: &TraceReader| {
        let plan = MatrixPlan::new(config, trace)?;
        one_of_each(&plan)?;
        Ok(plan)
    };
    let found = on_counted(config, trace, progress, planned, |counted, progress| {
        worst_of(counted, count, progress)
    });
    Ok(found?.0)
}

fn worst_of(
    counted: &CountedReferences<'_>,
    count: usize,
    progress: Progress<'_>,
) -> SimResult<WorstBlocks> {
    let CountedReferences { config, plan, reaching, .. } = *counted;
    let (machine, spec, size) = one_of_each(plan)?;
    let (Some(&prices), Some(job)) = (size.prices.first(), size.jobs.first()) else {
        return Err(config_error("nothing to simulate"));
    };
    let query = WorstQuery {
        block_size: size.block,
        processors: plan.processors,
        filter: ReferenceFilter { private: plan.private(machine).role(), ..plan.filter },
        prices,
        count,
        memory_budget_bytes: budget_bytes(config.memory_budget_bytes),
    };
    let mut policy = spec.build(&job.setup)?;
    let report = homenode_analysis::worst_blocks(reaching, &query, policy.as_mut(), progress)?;
    Ok(WorstBlocks { machine: machine.name().to_owned(), policy: spec.text.clone(), report })
}

fn one_of_each(plan: &MatrixPlan) -> SimResult<(&PricedMachine, &PolicySpec, &SizePlan)> {
    match (plan.machines.as_slice(), plan.policies.as_slice(), plan.sizes.as_slice()) {
        ([machine], [spec], [size]) => Ok((machine, spec, size)),
        (machines, policies, sizes) => Err(config_error(format!(
            "expected one machine, one policy and one block size, found {}, {} and {}: the worst \
             blocks are those of one simulation",
            machines.len(),
            policies.len(),
            sizes.len()
        ))),
    }
}
