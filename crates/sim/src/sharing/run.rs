//! Counts and prices false sharing, and names the objects with false sharing.

use homenode_analysis::Names;
use homenode_analysis::sharing::SharingQuestions;
use homenode_base::BlockSize;
use homenode_machine::{PriceList, PricedMachine};
use homenode_trace::TraceReader;

use super::config::SharingConfig;
use super::outcome::{PlacedCounts, SharingReport, assemble};
use super::walk::WordWalk;
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, TraceSource};
use crate::placement::{CountedReferences, MatrixPlan, SimConfig, on_counted, provenance, run};

/// Counts and prices false sharing, and names the objects, blocks and source lines with false
/// sharing.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn sharing(
    config: &SharingConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<SharingReport> {
    let simulation = SimConfig {
        policies: vec!["optimal".to_owned()],
        // Word sharing is defined by all references, most of which a cache would hide.
        filter: config.simulation.filter.clone().or_else(|| Some("none".to_owned())),
        ..config.simulation.clone()
    };
    let plan = |simulation: &SimConfig, trace: &TraceReader| {
        let plan = MatrixPlan::new(simulation, trace)?;
        questions(config, &plan)?;
        Ok(plan)
    };
    let (mut report, record) =
        on_counted(&simulation, trace, progress, plan, |counted, progress| {
            examined(config, counted, progress)
        })?;
    record.add_to(&mut report.provenance);
    Ok(report)
}

const EVERY_REFERENCE: &str = "costs are of all references, although the machine has caches: \
                               sharing is classified by all references; --filter takes misses";

fn examined(
    config: &SharingConfig,
    counted: &CountedReferences<'_>,
    progress: Progress<'_>,
) -> SimResult<SharingReport> {
    let (plan, trace) = (counted.plan, counted.reaching);
    let questions = &questions(config, plan)?;
    let mut total = TraceSource::references(trace);
    let simulated = match with_choices(counted.config, plan) {
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
    let work = WordWalk { config, plan, questions, names: &names, total, from };
    let (findings, accesses) = work.examine(trace, progress)?;
    let mut simulated = simulated.iter().map(PlacedCounts::of);
    let mut placed = Vec::new();
    for machine in 0..plan.machines.len() {
        let of_moves = |size| PlacedCounts::of_moves(plan, machine, size, &findings, &accesses);
        let sizes = 0..plan.sizes.len();
        if only_moves(plan, machine) {
            placed.extend(sizes.map(of_moves));
        } else {
            placed.extend(simulated.by_ref().take(sizes.len()));
        }
    }
    let mut provenance = provenance(plan, trace);
    let has_cache = |machine: &PricedMachine| machine.last_level().is_some();
    if config.simulation.filter.is_none() && plan.machines.iter().any(has_cache) {
        provenance.notes.push(EVERY_REFERENCE.to_owned());
    }
    assemble(config, plan, questions, &names, &placed, &findings, provenance)
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

/// Largest block size of the study: two huge pages.
const BLOCK_BYTES_MAX: u64 = 4 << 20;

/// The checked block sizes, including that of the details.
pub(super) fn questions(config: &SharingConfig, plan: &MatrixPlan) -> SimResult<SharingQuestions> {
    if config.merge_transfers == 0 {
        return Err(config_error(
            "a merge cannot be free, as it moves data: charge at least 1 block move (--merge)",
        ));
    }
    let sizes: Vec<BlockSize> = plan.sizes.iter().map(|size| size.block).collect();
    let detail = config.detail.map(BlockSize::new).transpose()?;
    for size in sizes.iter().chain(&detail) {
        if size.bytes() > BLOCK_BYTES_MAX {
            return Err(config_error(format!(
                "block size {}: sharing is looked for in blocks of at most {BLOCK_BYTES_MAX} \
                 bytes; choose smaller ones with --block-size",
                size.bytes()
            )));
        }
    }
    if let Some(size) = detail.filter(|size| !sizes.contains(size)) {
        return Err(config_error(format!(
            "block size {} for details is none of those simulated; add it to --block-size",
            size.bytes()
        )));
    }
    let (merge_transfers, count) = (config.merge_transfers, config.count);
    Ok(SharingQuestions { sizes, merge_transfers, detail, count })
}
