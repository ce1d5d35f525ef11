//! Counts and prices false sharing, and names the objects with false sharing.

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

/// Counts and prices false sharing, and names the objects, blocks and source lines with false
/// sharing.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn sharing(
    config: &SharingConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let mut simulation = config.simulation.clone();
    simulation.policies = vec!["optimal".to_owned()];
    let check = || questions(config, &MatrixPlan::new(&simulation, trace)?).map(drop);
    let found = in_words(
        simulation.word_bytes,
        simulation.threads,
        trace,
        progress,
        check,
        |words, progress| filtered(config, simulation.clone(), words, progress),
    );
    let mut report = found?;
    report.provenance.word_bytes = config.simulation.word_bytes;
    Ok(report)
}

/// The study after references have been counted in words.
fn filtered(
    config: &SharingConfig,
    mut simulation: SimConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let has_cache = |machine: &PricedMachine| machine.last_level().is_some();
    let plan = MatrixPlan::new(&simulation, trace)?;
    let every = simulation.filter.is_none() && plan.machines.iter().any(has_cache);
    // Word sharing is defined by all references, most of which a cache would hide.
    simulation.filter.get_or_insert_with(|| "none".to_owned());
    let planned = questions(config, &plan)?;
    let examine = |simulation: &SimConfig, misses: &TraceReader, progress: Progress<'_>| {
        examined(config, simulation, planned, misses, progress)
    };
    let (mut report, filtered) = on_misses(&simulation, &plan, trace, progress, examine)?;
    record(&mut report.provenance, trace, filtered);
    if every {
        report.provenance.notes.push(EVERY_REFERENCE.to_owned());
    }
    Ok(report)
}

/// Note on machines whose caches are ignored.
const EVERY_REFERENCE: &str = "costs are of every reference, though the machine has caches: words \
                               are told apart by all references to them; --filter takes misses";

/// The study of all references of a trace, without caches.
fn examined(
    config: &SharingConfig,
    simulation: &SimConfig,
    questions: SharingQuestions,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let plan = MatrixPlan::new(simulation, trace)?;
    let mut total = TraceSource::references(trace);
    let simulated = match with_choices(simulation, &plan) {
        None => Vec::new(),
        Some(simulation) => {
            let found = run(&simulation, trace, &mut |done, all| {
                // The second half of the work examines words.
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
        let of_moves = |size| PlacedCounts::of_moves(&plan, machine, size, &findings, &accesses);
        let sizes = 0..plan.sizes.len();
        if only_moves(&plan, machine) {
            placed.extend(sizes.map(of_moves));
        } else {
            placed.extend(simulated.by_ref().take(sizes.len()));
        }
    }
    let provenance = provenance(&plan, trace);
    assemble(config, &plan, &questions, &names, &placed, &findings, provenance)
}

/// The simulation of the machines whose optimal placement has a choice; `None` if there are none.
fn with_choices(simulation: &SimConfig, plan: &MatrixPlan) -> Option<SimConfig> {
    let all = simulation.machines.iter().enumerate();
    let machines: Vec<String> =
        all.filter(|&(at, _)| !only_moves(plan, at)).map(|(_, machine)| machine.clone()).collect();
    (!machines.is_empty()).then(|| SimConfig { machines, ..simulation.clone() })
}

/// Whether a machine can only move blocks to the processor that references them: its optimum makes
/// exactly the transfers counted here (section 7.1.6), so no histories are needed.
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
