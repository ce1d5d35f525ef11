//! One pass over the trace for all configurations with a clock.

use homenode_clock::streams::{StreamSplitter, ThreadStreams};
use homenode_clock::{ClockSetup, TimedSimulation};
use homenode_directory::{
    ClockError, ClockedDirectoryResult, CoherenceTable, DirectoryClockSetup, DirectorySetupError,
    HomePolicy, ListClockSetup, directory_clock, linked_clock,
};
use homenode_machine::{CachedMachine, ControllerMachine, DirectoryMachine, ProcessorModel};
use rayon::prelude::*;

use super::config::{Consistency, DirectoryConfig, MeasuredFrom, PageMapping};
use super::plan::{DirectoryPlan, NodeModel, PlannedDirectory};
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, for_each_stream_window, forecast};

/// A timed simulation of a machine with a directory.
pub(crate) type DirectoryClock = Box<dyn TimedSimulation<ClockedDirectoryResult, ClockError>>;

/// Simulates all points, each with its homes. The trace is decoded and split into process streams
/// once for all of them.
pub(super) fn simulate_clocked<T: TraceSource + ?Sized>(
    plan: &DirectoryPlan,
    homes: Vec<Box<dyn HomePolicy>>,
    config: &DirectoryConfig,
    trace: &T,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Vec<ClockedDirectoryResult>, SimError> {
    let processes = usize::from(trace.threads());
    let clocks = plan.points.iter().zip(homes);
    let clocks = clocks.map(|(point, homes)| clock_of(plan, point, homes, config, processes));
    let mut clocks = clocks.collect::<Result<Vec<_>, SimError>>()?;
    let mut splitter = splitter(plan, config, trace)?;
    let push = |all: &[ThreadStreams]| {
        let push =
            |clock: &mut DirectoryClock| all.iter().try_for_each(|streams| clock.push(streams));
        // Every result is collected, so that the first error is the same on any number of threads.
        let done: Vec<Result<(), ClockError>> = clocks.par_iter_mut().map(push).collect();
        Ok(done.into_iter().collect::<Result<(), _>>()?)
    };
    for_each_stream_window(pool, trace, &mut splitter, progress, push)?;
    let done: Vec<Result<_, ClockError>> =
        pool.install(|| clocks.into_par_iter().map(|clock| clock.finish()).collect());
    Ok(done.into_iter().collect::<Result<_, _>>()?)
}

/// The clock of a point with its homes.
pub(crate) fn clock_of(
    plan: &DirectoryPlan,
    point: &PlannedDirectory,
    homes: Box<dyn HomePolicy>,
    config: &DirectoryConfig,
    processes: usize,
) -> Result<DirectoryClock, SimError> {
    let table = point.table.clone();
    let (model, table) = match (point.model, table) {
        (NodeModel::Controllers(machine), CoherenceTable::Linked(table)) => {
            let setup = list_setup(plan, point, config, processes, machine);
            return Ok(linked_clock(&point.setup, table, homes, &setup)?);
        }
        (NodeModel::Directory(model), table) => (model, table),
        (NodeModel::Controllers(_), _) => return Err(DirectorySetupError::NoControllers.into()),
    };
    let setup = clock_setup(plan, model, point, config, processes);
    Ok(directory_clock(&point.setup, table, homes, &setup)?)
}

/// The splitter of the trace into process streams.
pub(crate) fn splitter<T: TraceSource + ?Sized>(
    plan: &DirectoryPlan,
    config: &DirectoryConfig,
    trace: &T,
) -> Result<StreamSplitter, SimError> {
    Ok(live_splitter(plan, config, trace.threads())?.with_forecast(forecast(trace)?))
}

/// The splitter for a program with this many processes whose references are not known in advance.
pub(crate) fn live_splitter(
    plan: &DirectoryPlan,
    config: &DirectoryConfig,
    processes: u16,
) -> Result<StreamSplitter, SimError> {
    let point = plan.first()?;
    let (filter, private) = (point.setup.filter, &point.setup.private);
    Ok(StreamSplitter::new(usize::from(processes), filter, private, None)
        .with_marks()
        .with_gap(config.gap))
}

/// The clock's setup at a point whose nodes have controllers.
fn list_setup(
    plan: &DirectoryPlan,
    point: &PlannedDirectory,
    config: &DirectoryConfig,
    processes: usize,
    machine: ControllerMachine,
) -> ListClockSetup {
    let CachedMachine { processor, scheduler, .. } = plan.machines[point.machine];
    ListClockSetup {
        clock: ClockSetup { processor, scheduler, seed: config.seed, processes },
        machine,
        phase_change: config.phase_change,
        from_init_done: config.measure_from == MeasuredFrom::InitDone,
        proxies: point.choice.proxies.1.clone(),
        buffer_reads: point.choice.buffers.1,
    }
}

/// The clock's setup at a point whose nodes have no controllers.
pub(crate) fn clock_setup(
    plan: &DirectoryPlan,
    mut model: DirectoryMachine,
    point: &PlannedDirectory,
    config: &DirectoryConfig,
    processes: usize,
) -> DirectoryClockSetup {
    let machine = &plan.machines[point.machine];
    let sequential = config.consistency == Consistency::Sc;
    let blocking = machine.processor.blocking || sequential;
    let processor = ProcessorModel { blocking, ..machine.processor };
    let scheduler = machine.scheduler;
    let clock = ClockSetup { processor, scheduler, seed: config.seed, processes };
    // If software keeps pages coherent, mapping them is part of the protocol.
    let free = config.page_mapping == PageMapping::Free
        && matches!(point.table, CoherenceTable::Blocks(_));
    if free {
        (model.system.page_fault_cycles, model.system.page_table_cycles) = (0, 0);
    }
    DirectoryClockSetup {
        clock,
        machine: model,
        sequential,
        phase_change: config.phase_change,
        replication: point.replication.1,
        from_init_done: config.measure_from == MeasuredFrom::InitDone,
        collect_waits: false,
    }
}
