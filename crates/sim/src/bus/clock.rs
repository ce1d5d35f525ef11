//! One pass over the trace for all configurations with a clock.

use homenode_clock::ClockSetup;
use homenode_clock::pages::{PageNumbers, PageTable};
use homenode_clock::streams::{StreamSplitter, ThreadStreams};
use homenode_machine::SchedulerModel;
use homenode_snoop::{BusClock, BusClockSetup, BusCounts, BusSetupError, BusTime, ClockError};
use homenode_trace::Batch;
use rayon::prelude::*;

use super::config::BusConfig;
use super::plan::{BusPlan, CAPTURED, PlannedPoint};
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, for_each_window};

/// Separates the random numbers of page frames from those of the scheduler.
const FRAMES: u64 = 0x6672_616d_6573;
/// Separates the random numbers of the kernel model.
const KERNEL: u64 = 0x6b65_726e_656c;

/// Counts and times of each configuration, and notes on the trace.
pub(super) type TimedResults = (Vec<(BusCounts, BusTime)>, Vec<String>);

/// Simulates all configurations. The trace is decoded and split into the streams of its processes
/// once for all of them.
pub(super) fn simulate<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    (config, trace): (&BusConfig, &T),
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<TimedResults, SimError> {
    let processes = usize::from(trace.threads());
    let clock = |point: &PlannedPoint| {
        let timed = setup(plan, point, (config, processes));
        let mut clock = BusClock::new(&point.setup, point.table.clone(), &timed)?;
        if let Some(areas) = &trace.metadata().processor_areas {
            clock = clock.with_areas(areas);
        }
        if let Some(model) = plan.kernel_model(config) {
            clock = clock.with_kernel(&model);
        }
        Ok::<_, BusSetupError>(clock)
    };
    let mut clocks: Vec<BusClock> = plan.points.iter().map(clock).collect::<Result<_, _>>()?;
    let mut splitter = splitter(plan, config, trace)?;
    let page_table = config
        .translates(trace)
        .then(|| PageTable::shuffled(page_shift(plan), config.seed ^ FRAMES));
    let ends = trace.ends();
    let mut piece = 0;
    let total = trace.references();
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    for_each_window(pool, (trace, &read), (progress, total), |batches| {
        let mut all = Vec::with_capacity(batches.len());
        for batch in batches {
            let mut streams = splitter.split(batch);
            page_table.iter().for_each(|table| streams.place(table));
            let over = ends.iter().enumerate().filter(|&(_, &end)| end == Some(piece));
            streams.closed = over.map(|(process, _)| process).collect();
            streams.closed.iter().for_each(|&process| splitter.close(process));
            all.push(streams);
            piece += 1;
        }
        push(&mut clocks, &all)
    })?;
    if splitter.has_kernel() && config.kernel_model {
        return Err(SimError::Config { problem: CAPTURED.to_owned() });
    }
    // Every result is collected, so that the first error is the same on any number of threads.
    let done: Vec<Result<_, ClockError>> =
        pool.install(|| clocks.into_par_iter().map(BusClock::finish).collect());
    let results = done.into_iter().collect::<Result<_, _>>()?;
    let notes = notes(&splitter, (config, trace)).map(str::to_owned).collect();
    Ok((results, notes))
}

/// Notes on the trace.
fn notes<T: TraceSource + ?Sized>(
    splitter: &StreamSplitter,
    (config, trace): (&BusConfig, &T),
) -> impl Iterator<Item = &'static str> {
    let (translated, metadata) = (config.translates(trace), trace.metadata());
    let common = metadata.processor_areas.is_none() && !metadata.processes.is_empty();
    let mixed = (splitter.is_mixed() && translated).then_some(MIXED);
    mixed.into_iter().chain((common && !translated).then_some(COMMON))
}

/// Note on a trace that looks like one of a whole system.
const MIXED: &str = "threads of the trace run several processes, as processors of a whole system \
                     do: if its addresses are of physical memory, say --addresses trace";

/// Note on a whole system whose per-processor areas are unknown.
const COMMON: &str = "the trace does not say where the kernel has data of each processor: \
                      references go to those of the processors that were recorded, whoever makes \
                      them";

fn push(clocks: &mut [BusClock], all: &[ThreadStreams]) -> Result<(), SimError> {
    let push = |clock: &mut BusClock| all.iter().try_for_each(|streams| clock.push(streams));
    let done: Vec<Result<(), ClockError>> = clocks.par_iter_mut().map(push).collect();
    Ok(done.into_iter().collect::<Result<(), _>>()?)
}

/// The timing parameters of one configuration.
fn setup(
    plan: &BusPlan,
    point: &PlannedPoint,
    (config, processes): (&BusConfig, usize),
) -> BusClockSetup {
    let machine = &plan.machines[point.machine];
    let scheduler = SchedulerModel { policy: point.scheduler, ..machine.scheduler };
    BusClockSetup {
        clock: ClockSetup { processor: machine.processor, scheduler, seed: config.seed, processes },
        bus: machine.bus,
        cycles: point.cycles,
    }
}

/// All machines of a run have pages of the same size ([`BusPlan`] checks it).
fn page_shift(plan: &BusPlan) -> u32 {
    plan.machines.first().map_or(0, |machine| machine.page_bytes.trailing_zeros())
}

/// The splitter of the trace for a configuration. Whether PSCR treats kernel references as private
/// is decided by the engine.
fn splitter<T: TraceSource + ?Sized>(
    plan: &BusPlan,
    config: &BusConfig,
    trace: &T,
) -> Result<StreamSplitter, SimError> {
    let Some(point) = plan.points.first() else {
        return Err(SimError::Config { problem: "there is nothing to simulate".to_owned() });
    };
    let pages = config.translates(trace).then(|| PageNumbers::new(page_shift(plan)));
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
