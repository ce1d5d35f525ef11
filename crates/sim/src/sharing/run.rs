//! Counts and prices false sharing, and names the objects it is in.

use homenode_analysis::Names;
use homenode_analysis::sharing::SharingQuestions;
use homenode_machine::{PriceList, PricedMachine};
use homenode_trace::TraceReader;

use super::config::SharingConfig;
use super::outcome::{PlacedCounts, SharingReport, assemble};
use super::plan::questions;
use super::walk::WordWalk;
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, in_words};
use crate::placement::{MatrixPlan, SimConfig, on_misses, provenance, record, run};

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
    let words = (simulation.word_bytes, simulation.threads);
    let check = || questions(config, &MatrixPlan::new(&simulation, trace)?).map(drop);
    let found = in_words(words, trace, progress, check, |words, progress| {
        filtered(config, simulation.clone(), words, progress)
    });
    let mut report = found?;
    report.provenance.word_bytes = config.simulation.word_bytes;
    Ok(report)
}

/// The same for references that are counted as they are.
fn filtered(
    config: &SharingConfig,
    mut simulation: SimConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
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

/// The same for every reference of the trace, without caches.
fn examined(
    config: &SharingConfig,
    (simulation, questions): (&SimConfig, SharingQuestions),
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let plan = MatrixPlan::new(simulation, trace)?;
    let mut total = TraceSource::references(trace);
    let simulated = match with_choices(simulation, &plan) {
        None => Vec::new(),
        Some(simulation) => {
            let found = run(&simulation, trace, &mut |done, all| {
                // The second half of the work is to examine words.
                total = 2 * all.unwrap_or(0);
                progress(done, Some(total))
            })?;
            found.outcomes
        }
    };
    let names = Names::new(trace.metadata());
    let from = if simulated.is_empty() { 0.0 } else { 0.5 };
    let work = WordWalk { config, plan: &plan, questions: &questions, names: &names, total, from };
    let (findings, accesses) = work.examine(trace, progress)?;
    let mut simulated = simulated.iter().map(PlacedCounts::of);
    let mut placed = Vec::new();
    for machine in 0..plan.machines.len() {
        let of_moves =
            |size| PlacedCounts::of_moves((&plan, machine), size, (&findings, &accesses));
        let sizes = 0..plan.sizes.len();
        if only_moves(&plan, machine) {
            placed.extend(sizes.map(of_moves));
        } else {
            placed.extend(simulated.by_ref().take(sizes.len()));
        }
    }
    let provenance = provenance(&plan, trace);
    assemble(config, &plan, (&questions, &names), (&placed, &findings, provenance))
}

/// The simulation of the machines whose optimal placement has a choice; `None` if there are none.
fn with_choices(simulation: &SimConfig, plan: &MatrixPlan) -> Option<SimConfig> {
    let all = simulation.machines.iter().enumerate();
    let machines: Vec<String> =
        all.filter(|&(at, _)| !only_moves(plan, at)).map(|(_, machine)| machine.clone()).collect();
    (!machines.is_empty()).then(|| SimConfig { machines, ..simulation.clone() })
}

/// Whether a machine can do nothing but move blocks to who references them: its optimum makes the
/// transfers that are counted here (section 7.1.6), so that no histories are needed to find it.
fn only_moves(plan: &MatrixPlan, machine: usize) -> bool {
    plan.sizes.iter().all(|size| match &size.prices[machine] {
        PriceList::Placement(prices) => {
            prices.remote_reference.is_none()
                && prices.remote_move.is_some()
                && !prices.has_global()
        }
        PriceList::PageCoherence(_) => false,
    })
}
