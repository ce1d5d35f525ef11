//! One pass over a trace for all combinations, and one before it where homes are chosen with
//! hindsight.

use homenode_clock::streams::{StreamSplitter, ThreadStreams};
use homenode_snoop::{CheckError, ClockError};
use homenode_trace::Batch;
use rayon::prelude::*;

use super::order::ReferenceOrder;
use super::plan::{ClockVariant, TimedClock, TimedConfig, TimedPlan};
use crate::error::SimResult;
use crate::pass::{
    Progress, ReadPiece, TraceSource, WithUserAreas, for_each_stream_window, for_each_window,
    forecast, thread_pool,
};

type PointResults<R> = (Vec<R>, Vec<String>);

/// Simulates every combination. The trace is decoded once for all of them.
pub(crate) fn simulate<P: TimedPlan>(
    config: &P::Config,
    trace: &dyn TraceSource,
    progress: Progress<'_>,
) -> SimResult<P::Study> {
    let mut plan = P::new(config, trace)?;
    let pool = thread_pool(config.timed().threads)?;
    let (total, passes) = (trace.references(), if plan.needs_first_run() { 2 } else { 1 });
    let mut watch = |pass: u64, done: u64| progress(pass * total + done, Some(passes * total));
    plan.prepare(trace, &pool, &mut |done, _| watch(0, done))?;
    let mut watch = |done, _| watch(passes - 1, done);
    let (results, notes) = match plan.user_areas() {
        Some(by_process) => {
            let flagged = WithUserAreas::of(&pool, trace, by_process)?;
            simulate_all(&plan, &flagged, &pool, &mut watch)?
        }
        None => simulate_all(&plan, trace, &pool, &mut watch)?,
    };
    Ok(plan.assemble(results, notes, trace))
}

fn simulate_all<P: TimedPlan>(
    plan: &P,
    trace: &dyn TraceSource,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<PointResults<P::Result>> {
    match plan.config().timed().order {
        ReferenceOrder::Clock => in_cycles(plan, trace, pool, progress),
        ReferenceOrder::Trace => Ok((plan.in_trace_order(trace, pool, progress)?, Vec::new())),
    }
}

/// Simulates all combinations with a clock. The trace is split into the streams of its processes
/// once for all of them.
fn in_cycles<P: TimedPlan>(
    plan: &P,
    trace: &dyn TraceSource,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<PointResults<P::Result>> {
    let processes = usize::from(trace.threads());
    let variant = ClockVariant { processes, slower_by: 0, collect_waits: false };
    let clock = |point| {
        let mut clock = plan.clock(point, variant)?;
        if let Some(areas) = &trace.metadata().processor_areas {
            clock.set_areas(areas);
        }
        Ok(clock)
    };
    let clocks = (0..plan.count()).map(clock);
    let mut clocks: Vec<TimedClock<P::Result>> = clocks.collect::<SimResult<_>>()?;
    let mut splitter = splitter(plan, trace)?;
    let push = |all: &[ThreadStreams]| {
        let push = |clock: &mut TimedClock<P::Result>| {
            all.iter().try_for_each(|streams| clock.push(streams))
        };
        // Every result is collected, so that the first error is the same on any number of threads.
        let done: Vec<Result<(), ClockError>> = clocks.par_iter_mut().map(push).collect();
        Ok(done.into_iter().collect::<Result<(), _>>()?)
    };
    for_each_stream_window(pool, trace, &mut splitter, progress, push)?;
    let notes = plan.notes(&splitter, trace)?;
    let done: Vec<Result<_, ClockError>> =
        pool.install(|| clocks.into_par_iter().map(|clock| clock.finish()).collect());
    Ok((done.into_iter().collect::<Result<_, _>>()?, notes))
}

pub(crate) fn splitter<P: TimedPlan>(
    plan: &P,
    trace: &dyn TraceSource,
) -> SimResult<StreamSplitter> {
    Ok(plan.splitter(trace)?.with_forecast(forecast(trace)?))
}

/// Reads the trace into several simulations in its order; `read` reads a piece with or without its
/// events.
pub(crate) fn in_trace_order<S: Send>(
    mut simulations: Vec<S>,
    push: impl Fn(&mut S, &Batch) -> Result<(), CheckError> + Sync + Send,
    read: ReadPiece<'_>,
    trace: &dyn TraceSource,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<Vec<S>> {
    for_each_window(pool, trace, read, progress, trace.references(), |batches| {
        let push = |one: &mut S| batches.iter().try_for_each(|batch| push(one, batch));
        // Every result is collected, so that the first error is the same on any number of threads.
        let done: Vec<_> = simulations.par_iter_mut().map(push).collect();
        Ok(done.into_iter().collect::<Result<(), _>>()?)
    })?;
    Ok(simulations)
}
