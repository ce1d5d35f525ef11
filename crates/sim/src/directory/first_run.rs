//! The run that finds page use by node, for homes that are chosen with hindsight.

use homenode_directory::{
    CoherenceTable, DemandCollection, DirectoryResult, DirectorySetup, DirectorySimulation,
    DirectoryTable, HomeSetup, HomeSpec,
};
use homenode_trace::{Batch, EventKind};

use super::config::MeasuredFrom;
use super::plan::{DirectoryPlan, FirstRun, PlannedDirectory};
use crate::error::SimResult;
use crate::pass::{Progress, TraceSource};
use crate::timed::{ReferenceOrder, in_trace_order};

/// The homes of a run that only finds page use by node, which in the order of the trace does not
/// depend on homes.
const FIRST_RUN_HOME: &str = "round-robin";

pub(super) fn is_needed(point: &PlannedDirectory) -> bool {
    point.home.entry().needs_first_run
}

pub(super) fn first_runs(
    plan: &DirectoryPlan,
    trace: &dyn TraceSource,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<Vec<FirstRun>> {
    let setups = setups(plan);
    if setups.is_empty() {
        return Ok(Vec::new());
    }
    let homes = HomeSpec::parse(FIRST_RUN_HOME)?;
    let simulations = setups.iter().map(|(point, setup)| {
        let known = point.homes(plan.config.seed, plan.marks_init_done, None);
        let homes = homes.build(&HomeSetup { nodes: setup.nodes, ..known })?;
        Ok(DirectorySimulation::new(setup, block_table(&point.table), homes)?)
    });
    let simulations = simulations.collect::<SimResult<Vec<_>>>()?;
    let found = pass(simulations, trace, pool, progress)?;
    let demands = found.into_iter().map(|result| result.demands.unwrap_or_default());
    let by_memory = setups.into_iter().zip(demands);
    Ok(by_memory
        .map(|((point, setup), demands)| FirstRun { setup, demands: point.by_memory(demands) })
        .collect())
}

pub(super) fn run_of<'a>(
    plan: &'a DirectoryPlan,
    point: &PlannedDirectory,
) -> Option<&'a FirstRun> {
    let wanted = for_demands(&point.setup, collected(plan));
    plan.first_runs.iter().find(|run| run.setup == wanted)
}

/// The table for a run in the order of the trace: the protocol's own one. Protocols of pages do
/// only their first run in that order, with the table of the first protocol of blocks.
pub(super) fn block_table(table: &CoherenceTable) -> DirectoryTable {
    let listed = homenode_directory::TABLE.iter().filter_map(|entry| (entry.build)().blocks());
    let own = table.clone().blocks();
    own.into_iter().chain(listed).next().expect("a protocol that keeps blocks coherent is listed")
}

pub(super) fn pass(
    simulations: Vec<DirectorySimulation>,
    trace: &dyn TraceSource,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<Vec<DirectoryResult>> {
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    let push = DirectorySimulation::push;
    let done = in_trace_order(simulations, push, &read, trace, pool, progress)?;
    Ok(done.into_iter().map(DirectorySimulation::finish).collect())
}

pub(super) fn marks_init_done(trace: &dyn TraceSource) -> SimResult<bool> {
    for piece in 0..trace.pieces() {
        let outline = trace.outline(piece)?;
        if outline.events.iter().any(|(_, event)| event.what == EventKind::InitDone) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn for_demands(setup: &DirectorySetup, collect_demands: DemandCollection) -> DirectorySetup {
    DirectorySetup { collect_demands, collect_uses: false, ..setup.clone() }
}

/// Input of homes with hindsight: page use in the measured part.
fn collected(plan: &DirectoryPlan) -> DemandCollection {
    let from_mark = plan.config.order == ReferenceOrder::Clock
        && plan.config.measure_from == MeasuredFrom::InitDone
        && plan.marks_init_done;
    if from_mark { DemandCollection::AfterInitDone } else { DemandCollection::Whole }
}

fn setups(plan: &DirectoryPlan) -> Vec<(&PlannedDirectory, DirectorySetup)> {
    let mut setups: Vec<(&PlannedDirectory, DirectorySetup)> = Vec::new();
    for point in plan.points.iter().filter(|point| is_needed(point)) {
        let setup = for_demands(&point.setup, collected(plan));
        if setups.iter().all(|(_, other)| *other != setup) {
            setups.push((point, setup));
        }
    }
    setups
}
