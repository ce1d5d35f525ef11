//! Counts and prices false sharing, and names the objects it is in.

use homenode_analysis::Names;
use homenode_trace::TraceReader;

use super::config::SharingConfig;
use super::outcome::{SharingReport, assemble};
use super::plan::questions;
use super::walk::WordWalk;
use crate::error::SimError;
use crate::pass::Progress;
use crate::placement::{MatrixPlan, run};

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
    let plan = MatrixPlan::new(&simulation, trace)?;
    let questions = questions(config, &plan)?;
    let mut total = 0;
    let simulated = run(&simulation, trace, &mut |done, all| {
        // The second half of the work is to examine words.
        total = all.unwrap_or(0);
        progress(done, Some(2 * total))
    })?;
    let names = Names::new(trace.metadata());
    let work = WordWalk { config, plan: &plan, questions: &questions, names: &names, total };
    let findings = work.examine(trace, progress)?;
    assemble(config, &plan, (&questions, &names), (simulated, &findings))
}
