//! Counts and prices false sharing, and names the objects it is in.

use homenode_analysis::Names;
use homenode_analysis::sharing::SharingQuestions;
use homenode_machine::PricedMachine;
use homenode_trace::TraceReader;

use super::config::SharingConfig;
use super::outcome::{SharingReport, assemble};
use super::plan::questions;
use super::walk::WordWalk;
use crate::error::SimError;
use crate::pass::Progress;
use crate::placement::{MatrixPlan, SimConfig, on_misses, record, run};

/// Counts and prices false sharing, and names the objects, blocks and source lines it is in.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn sharing(
    config: &SharingConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let mut simulation = config.simulation.clone();
    simulation.policies = vec!["optimal".to_owned()];
    let has_cache = |machine: &PricedMachine| machine.last_level().is_some();
    let plan = MatrixPlan::new(&simulation, trace)?;
    let every = simulation.filter.is_none() && plan.machines.iter().any(has_cache);
    // Words are told apart by all their references, of which a cache hides most.
    simulation.filter.get_or_insert_with(|| "none".to_owned());
    let planned = questions(config, &plan)?;
    let examine = |simulation: &SimConfig, misses: &TraceReader, progress: Progress<'_>| {
        examined(config, (simulation, planned), misses, progress)
    };
    let (mut report, filtered) = on_misses((&simulation, &plan), trace, progress, examine)?;
    record(&mut report.provenance, trace, filtered);
    if every {
        report.provenance.notes.push(EVERY_REFERENCE.to_owned());
    }
    Ok(report)
}

/// The note on machines whose caches are left out.
const EVERY_REFERENCE: &str = "costs are of every reference, though the machine has caches: words \
                               are told apart by all references to them; --filter takes misses";

/// The same for every reference of the trace.
fn examined(
    config: &SharingConfig,
    (simulation, questions): (&SimConfig, SharingQuestions),
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let plan = MatrixPlan::new(simulation, trace)?;
    let mut total = 0;
    let simulated = run(simulation, trace, &mut |done, all| {
        // The second half of the work is to examine words.
        total = all.unwrap_or(0);
        progress(done, Some(2 * total))
    })?;
    let names = Names::new(trace.metadata());
    let work = WordWalk { config, plan: &plan, questions: &questions, names: &names, total };
    let findings = work.examine(trace, progress)?;
    assemble(config, &plan, (&questions, &names), (simulated, &findings))
}
