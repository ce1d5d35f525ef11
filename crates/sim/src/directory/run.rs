//! One pass over the trace for all configurations, and one before it for homes with hindsight.

use homenode_directory::{
    ClockedDirectoryResult, CoherenceTable, DemandCollection, DirectoryResult, DirectorySetup,
    DirectorySimulation, DirectoryTable, HomeSetup, HomeSpec, PageDemands,
};
use homenode_trace::{Batch, EventKind};
use rayon::prelude::*;

use super::clock::simulate_clocked;
use super::config::{DirectoryConfig, MeasuredFrom};
use super::outcome::{DirectoryStudy, assemble};
use super::plan::{DirectoryPlan, PlannedDirectory};
use crate::bus::ReferenceOrder;
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, for_each_window, thread_pool};

/// The homes of a run that only finds page use by node, which in the order of the trace does not
/// depend on homes.
const FIRST_RUN_HOME: &str = "round-robin";

/// Simulates every combination of machine, protocol, home, cache and number of nodes, in this
/// order. The trace is decoded once for all of them; where homes are chosen with hindsight, twice.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read), the trace is damaged, or,
/// with [`DirectoryConfig::check`], a protocol violates an invariant.
pub fn simulate_directory<T: TraceSource + ?Sized>(
    config: &DirectoryConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<DirectoryStudy, SimError> {
    let plan = DirectoryPlan::new(config, trace)?;
    let pool = thread_pool(config.threads)?;
    let total = trace.references();
    let marks = marks_init_done(trace)?;
    let demands = demands_of(config, marks);
    let needs = |point: &PlannedDirectory| point.home.entry().needs_first_run;
    let passes = if plan.points.iter().any(needs) { 2 } else { 1 };
    let mut watch = |pass: u64, done: u64| progress(pass * total + done, Some(passes * total));
    let mut first_runs: Vec<(DirectorySetup, PageDemands)> = Vec::new();
    if passes == 2 {
        let setups = first_run_setups(&plan, needs, demands);
        let homes = HomeSpec::parse(FIRST_RUN_HOME)?;
        let simulations = setups.iter().map(|(point, setup)| {
            let nodes = HomeSetup { nodes: setup.nodes, ..point.homes(config.seed, marks, None) };
            let homes = homes.build(&nodes)?;
            Ok(DirectorySimulation::new(setup, first_run_table(&point.table), homes)?)
        });
        let simulations = simulations.collect::<Result<Vec<_>, SimError>>()?;
        let found = pass(simulations, trace, &pool, &mut |done, _| watch(0, done))?;
        let demands = found.into_iter().map(|result| result.demands.unwrap_or_default());
        let by_memory = setups.into_iter().zip(demands);
        first_runs =
            by_memory.map(|((point, setup), demands)| (setup, point.by_memory(demands))).collect();
    }
    let homes = plan.points.iter().map(|point| {
        let known =
            first_runs.iter().find(|(setup, _)| *setup == for_demands(&point.setup, demands));
        let homes = point.homes(config.seed, marks, known.map(|(_, demands)| demands));
        Ok(point.home.build(&homes)?)
    });
    let homes = homes.collect::<Result<Vec<_>, SimError>>()?;
    let mut watch = |done, _| watch(passes - 1, done);
    let found = match config.order {
        ReferenceOrder::Clock => simulate_clocked(&plan, homes, config, trace, &pool, &mut watch)?,
        ReferenceOrder::Trace => {
            let simulations = plan.points.iter().zip(homes).map(|(point, homes)| {
                let table = first_run_table(&point.table);
                Ok(DirectorySimulation::new(&point.setup, table, homes)?)
            });
            let simulations = simulations.collect::<Result<Vec<_>, SimError>>()?;
            let done = pass(simulations, trace, &pool, &mut watch)?;
            done.into_iter().map(untimed).collect()
        }
    };
    Ok(assemble(&plan, found, config, trace))
}

/// A result without times.
fn untimed(found: DirectoryResult) -> ClockedDirectoryResult {
    let DirectoryResult { counts, uses, notes, .. } = found;
    ClockedDirectoryResult { counts, uses, notes, ..ClockedDirectoryResult::default() }
}

/// Whether the trace marks the end of initialisation.
pub(crate) fn marks_init_done<T: TraceSource + ?Sized>(trace: &T) -> Result<bool, SimError> {
    for piece in 0..trace.pieces() {
        let outline = trace.outline(piece)?;
        if outline.events.iter().any(|(_, event)| event.what == EventKind::InitDone) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The table for a run in the order of the trace: the protocol's own one. Protocols of pages do
/// only their first run in that order, with the table of the first protocol of blocks.
fn first_run_table(table: &CoherenceTable) -> DirectoryTable {
    let listed = homenode_directory::TABLE.iter().filter_map(|entry| (entry.build)().blocks());
    let own = table.clone().blocks();
    own.into_iter().chain(listed).next().expect("a protocol that keeps blocks coherent is listed")
}

/// Page use on one machine.
fn for_demands(setup: &DirectorySetup, collect_demands: DemandCollection) -> DirectorySetup {
    DirectorySetup { collect_demands, collect_uses: false, ..setup.clone() }
}

/// Input of homes with hindsight: page use in the measured part.
fn demands_of(config: &DirectoryConfig, marks_init_done: bool) -> DemandCollection {
    let from_mark = config.order == ReferenceOrder::Clock
        && config.measure_from == MeasuredFrom::InitDone
        && marks_init_done;
    if from_mark { DemandCollection::AfterInitDone } else { DemandCollection::Whole }
}

/// The distinct machines for which page use is required, each with one of its points.
fn first_run_setups(
    plan: &DirectoryPlan,
    needs: impl Fn(&PlannedDirectory) -> bool,
    demands: DemandCollection,
) -> Vec<(&PlannedDirectory, DirectorySetup)> {
    let mut setups: Vec<(&PlannedDirectory, DirectorySetup)> = Vec::new();
    for point in plan.points.iter().filter(|point| needs(point)) {
        let setup = for_demands(&point.setup, demands);
        if setups.iter().all(|(_, other)| *other != setup) {
            setups.push((point, setup));
        }
    }
    setups
}

/// Reads the trace, with its events, into several simulations.
fn pass<T: TraceSource + ?Sized>(
    mut simulations: Vec<DirectorySimulation>,
    trace: &T,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Vec<DirectoryResult>, SimError> {
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    let total = trace.references();
    for_each_window(pool, trace, &read, progress, total, |batches| {
        let push = |simulation: &mut DirectorySimulation| {
            batches.iter().try_for_each(|batch| simulation.push(batch))
        };
        // Every result is collected, so that the first error is the same on any number of threads.
        let done: Vec<_> = simulations.par_iter_mut().map(push).collect();
        Ok(done.into_iter().collect::<Result<(), _>>()?)
    })?;
    Ok(simulations.into_iter().map(DirectorySimulation::finish).collect())
}
