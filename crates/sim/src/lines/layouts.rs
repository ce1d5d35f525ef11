//! One pass over the trace for several layouts of its data, on one machine with a clock.

use homenode_advise::Layout;
use homenode_clock::streams::{OpKind, Operation, PROCESSOR_RELATIVE};
use homenode_clock::streams::{Portion, PortionPool, ThreadStreams};
use homenode_trace::TraceReader;
use rayon::prelude::*;

use super::replay::LineResult;
use crate::error::{SimError, SimResult};
use crate::pass::{Progress, TraceSource, for_each_stream_window};
use crate::timed::{ClockVariant, TimedClock, TimedPlan, splitter};

/// A layout of the data, and the number of cycles by which every latency exceeds the machine's.
#[derive(Clone, Copy)]
pub(crate) struct LayoutVariant<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) slower_by: u64,
}

impl<'a> LayoutVariant<'a> {
    pub(crate) fn of(layout: &'a Layout) -> Self {
        Self { layout, slower_by: 0 }
    }
}

struct LayoutLane<'a, R> {
    layout: &'a Layout,
    portions: PortionPool,
    clock: TimedClock<R>,
}

impl<R> LayoutLane<'_, R> {
    fn push(&mut self, all: &[ThreadStreams]) -> SimResult<()> {
        for streams in all {
            if self.layout.is_empty() {
                self.clock.push(streams)?;
                continue;
            }
            self.portions.reclaim();
            let moved = streams.operations.iter().map(|(process, operations)| {
                (*process, moved(self.layout, operations, &mut self.portions))
            });
            let (operations, closed) = (moved.collect(), streams.closed.clone());
            let moved = ThreadStreams { operations, closed, ..ThreadStreams::default() };
            self.clock.push(&moved)?;
        }
        Ok(())
    }
}

/// Operations at their new addresses, or those given if none of them moves. A reference that the
/// layout splits becomes several. A lock or barrier is identified by its new address.
fn moved(layout: &Layout, operations: &Portion, portions: &mut PortionPool) -> Portion {
    let moves = |operation: &Operation| {
        let relative = operation.kind != OpKind::Fetch && operation.flags & PROCESSOR_RELATIVE == 0;
        let data = operation.kind.is_reference() && relative;
        data && layout.may_move(operation.addr, operation.size)
    };
    let Some(first) = operations.iter().position(moves) else { return Portion::clone(operations) };
    let mut output = portions.buffer();
    output.extend_from_slice(&operations[..first]);
    for &operation in &operations[first..] {
        if !moves(&operation) {
            output.push(operation);
            continue;
        }
        let mut count = operation.count;
        layout.parts(operation.addr, operation.size, |addr, size| {
            output.push(Operation { addr, size, count, ..operation });
            count = 0;
        });
    }
    portions.share(output)
}

/// Simulates the first combination of a plan in each variant. The trace is decoded and split once
/// for all of them.
pub(super) fn simulate_layouts<P: TimedPlan<Result: Into<LineResult>>>(
    plan: &P,
    trace: &TraceReader,
    variants: &[LayoutVariant<'_>],
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> SimResult<Vec<LineResult>> {
    let processes = usize::from(TraceSource::threads(trace));
    let mut splitter = splitter(plan, trace)?;
    let lane = |&LayoutVariant { layout, slower_by }| {
        let portions = PortionPool::default();
        let variant = ClockVariant { processes, slower_by, collect_waits: true };
        Ok::<_, SimError>(LayoutLane { layout, portions, clock: plan.clock(0, variant)? })
    };
    let mut lanes: Vec<LayoutLane<'_, P::Result>> =
        variants.iter().map(lane).collect::<Result<_, _>>()?;
    for_each_stream_window(pool, trace, &mut splitter, progress, |all| {
        let pushed: Vec<SimResult<()>> = lanes.par_iter_mut().map(|lane| lane.push(all)).collect();
        pushed.into_iter().collect()
    })?;
    let finished: Vec<Result<LineResult, _>> = pool.install(|| {
        lanes.into_par_iter().map(|lane| lane.clock.finish().map(P::Result::into)).collect()
    });
    Ok(finished.into_iter().collect::<Result<_, _>>()?)
}
