//! One pass over the trace for all configurations with a clock.

use homenode_clock::pages::{PageNumbers, PageTable};
use homenode_clock::streams::{StreamSplitter, ThreadStreams};
use homenode_clock::{ClockSetup, TimedSimulation};
use homenode_machine::{Interconnect, SchedulerModel};
use homenode_multicore::{LinkClockSetup, link_clock};
use homenode_snoop::{BusClockSetup, BusResult, ClockError, bus_clock};
use rayon::prelude::*;

use super::config::{BusConfig, Contention};
use super::plan::{BusPlan, CAPTURED, PlannedPoint, of_other_kind};
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, for_each_stream_window, forecast};

/// Seed offset that separates the random numbers of page frames from those of the scheduler.
const FRAMES: u64 = 0x6672_616d_6573;
/// Seed offset of the kernel model's random numbers.
const KERNEL: u64 = 0x6b65_726e_656c;

/// A timed simulation of a machine with a bus or with links.
pub(crate) type CachedClock = Box<dyn TimedSimulation<BusResult, ClockError>>;

/// The clock of a point of the plan; with links, every latency is `slower_by` cycles longer.
pub(crate) fn clock_of(
    plan: &BusPlan,
    point: &PlannedPoint,
    config: &BusConfig,
    processes: usize,
    slower_by: u64,
) -> Result<CachedClock, SimError> {
    let machine = &plan.machines[point.machine];
    let restart = config.restart || machine.scheduler.restart;
    let scheduler = SchedulerModel { policy: point.scheduler, restart, ..machine.scheduler };
    let clock =
        ClockSetup { processor: machine.processor, scheduler, seed: config.seed, processes };
    let table = point.table.clone();
    let mut clock = match &machine.interconnect {
        Interconnect::Bus(bus) => {
            let cycles = point.cycles.unwrap_or_default();
            bus_clock(&point.setup, table, &BusClockSetup { clock, bus: bus.model, cycles })?
        }
        Interconnect::Links(links) => {
            let contention = config.contention.map(|requested| requested == Contention::Modelled);
            let links = links.with_contention(contention).slower_by(slower_by);
            let page_bytes = machine.page_bytes;
            link_clock(&point.setup, table, &LinkClockSetup { clock, links, page_bytes })?
        }
        Interconnect::Directory(_) | Interconnect::Controllers(_) => {
            return Err(of_other_kind(machine).into());
        }
    };
    if let Some(model) = plan.kernel_model(config) {
        clock.set_kernel(&model, point.setup.filter);
    }
    Ok(clock)
}

/// Page frames, if the configuration translates addresses.
pub(super) fn with_frames(
    splitter: StreamSplitter,
    plan: &BusPlan,
    config: &BusConfig,
) -> StreamSplitter {
    if !plan.translates {
        return splitter;
    }
    splitter.with_page_table(PageTable::shuffled(page_shift(plan), config.seed ^ FRAMES))
}

/// Results of all configurations, and notes on the trace.
pub(super) type PointResults = (Vec<BusResult>, Vec<String>);

/// Simulates all configurations. The trace is decoded and split into the streams of its processes
/// once for all of them.
pub(super) fn simulate<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    config: &BusConfig,
    trace: &T,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<PointResults, SimError> {
    let processes = usize::from(trace.threads());
    let clock = |point: &PlannedPoint| {
        let mut clock = clock_of(plan, point, config, processes, 0)?;
        if let Some(areas) = &trace.metadata().processor_areas {
            clock.set_areas(areas);
        }
        Ok::<_, SimError>(clock)
    };
    let mut clocks: Vec<CachedClock> = plan.points.iter().map(clock).collect::<Result<_, _>>()?;
    let mut splitter = with_frames(splitter(plan, config, trace)?, plan, config);
    let simulate = |all: &[ThreadStreams]| push(&mut clocks, all);
    for_each_stream_window(pool, trace, &mut splitter, progress, simulate)?;
    if splitter.has_kernel() && config.kernel_model {
        return Err(SimError::Config { problem: CAPTURED.to_owned() });
    }
    // Every result is collected, so that the first error is the same on any number of threads.
    let done: Vec<Result<_, ClockError>> =
        pool.install(|| clocks.into_par_iter().map(|clock| clock.finish()).collect());
    let results = done.into_iter().collect::<Result<_, _>>()?;
    let notes = notes(&splitter, plan, trace).map(str::to_owned).collect();
    Ok((results, notes))
}

/// Notes on the trace.
fn notes<T: TraceSource + ?Sized>(
    splitter: &StreamSplitter,
    plan: &BusPlan,
    trace: &T,
) -> impl Iterator<Item = &'static str> {
    let (translated, metadata) = (plan.translates, trace.metadata());
    let common = metadata.processor_areas.is_none() && !metadata.processes.is_empty();
    let mixed = (splitter.is_mixed() && translated).then_some(MIXED);
    mixed.into_iter().chain((common && !translated).then_some(COMMON))
}

/// Note on a trace that looks like a recording of a whole system.
const MIXED: &str = "threads of the trace run several processes, as processors of a whole system \
                     do: if its addresses are of physical memory, say --addresses trace";

/// Note on a whole system without known per-processor areas.
const COMMON: &str = "the trace does not say where the kernel has data of each processor: \
                      references go to those of the processors that were recorded, whichever makes \
                      them";

fn push(clocks: &mut [CachedClock], all: &[ThreadStreams]) -> Result<(), SimError> {
    let push = |clock: &mut CachedClock| all.iter().try_for_each(|streams| clock.push(streams));
    let done: Vec<Result<(), ClockError>> = clocks.par_iter_mut().map(push).collect();
    Ok(done.into_iter().collect::<Result<(), _>>()?)
}

/// All machines of a run have one page size ([`BusPlan`] checks it).
fn page_shift(plan: &BusPlan) -> u32 {
    plan.machines.first().map_or(0, |machine| machine.page_bytes.trailing_zeros())
}

/// The splitter of the trace for a configuration. The engine decides whether PSCR treats kernel
/// references as private.
pub(crate) fn splitter<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    config: &BusConfig,
    trace: &T,
) -> Result<StreamSplitter, SimError> {
    Ok(live_splitter(plan, config, trace)?.with_forecast(forecast(trace)?))
}

/// The splitter for a program whose references are not known in advance.
pub(crate) fn live_splitter<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    config: &BusConfig,
    trace: &T,
) -> Result<StreamSplitter, SimError> {
    let Some(point) = plan.points.first() else {
        return Err(SimError::Config { problem: "there is nothing to simulate".to_owned() });
    };
    let pages = plan.translates.then(|| PageNumbers::new(page_shift(plan)));
    let (filter, private) = (point.setup.filter, &point.setup.private);
    let mut splitter = StreamSplitter::new(usize::from(trace.threads()), filter, private, pages);
    if let Some(areas) = &trace.metadata().processor_areas {
        splitter = splitter.with_areas(areas);
    }
    if let Some(model) = plan.kernel_model(config) {
        splitter = splitter.with_kernel(&model, config.seed ^ KERNEL);
    }
    Ok(splitter)
}
