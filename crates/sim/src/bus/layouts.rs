//! One pass over the trace for several layouts of its data, on one machine with links.

use homenode_advise::Layout;
use homenode_clock::streams::{OpKind, Operation, PROCESSOR_RELATIVE};
use homenode_clock::streams::{Portion, PortionPool, ThreadStreams};
use homenode_trace::TraceReader;
use rayon::prelude::*;

use super::clock::{CachedClock, PointResult, splitter};
use super::config::BusConfig;
use super::plan::BusPlan;
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, for_each_stream_window};

/// A layout of the data, and by how many cycles every latency is longer than the machine's.
#[derive(Clone, Copy)]
pub(crate) struct LayoutVariant<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) slower_by: u64,
}

impl<'a> LayoutVariant<'a> {
    /// A layout on the machine itself.
    pub(crate) fn of(layout: &'a Layout) -> Self {
        Self { layout, slower_by: 0 }
    }
}

/// A layout while the trace is simulated under it.
struct LayoutLane<'a> {
    layout: &'a Layout,
    portions: PortionPool,
    clock: CachedClock,
}

impl LayoutLane<'_> {
    fn push(&mut self, all: &[ThreadStreams]) -> Result<(), SimError> {
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
            self.clock.push(&ThreadStreams { operations, closed })?;
        }
        Ok(())
    }
}

/// Operations at their new addresses; those given, if none of them moves. A reference that the
/// layout splits becomes several. Locks and barriers are known by any address of their own.
fn moved(layout: &Layout, operations: &Portion, portions: &mut PortionPool) -> Portion {
    let moves = |operation: &Operation| {
        let relative = operation.kind != OpKind::Fetch && operation.flags & PROCESSOR_RELATIVE == 0;
        let data = operation.kind.is_reference() && relative;
        data && layout.may_move((operation.addr, operation.size))
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
        layout.parts((operation.addr, operation.size), |addr, size| {
            output.push(Operation { addr, size, count, ..operation });
            count = 0;
        });
    }
    portions.share(output)
}

/// Simulates the only point of the plan in each variant. The trace is decoded and split once for
/// all.
pub(crate) fn simulate_layouts(
    plan: &BusPlan,
    (config, trace): (&BusConfig, &TraceReader),
    variants: &[LayoutVariant<'_>],
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Vec<PointResult>, SimError> {
    let processes = usize::from(TraceSource::threads(trace));
    let Some(point) = plan.points.first() else { return Ok(Vec::new()) };
    let lane = |&LayoutVariant { layout, slower_by }| {
        Ok::<_, SimError>(LayoutLane {
            layout,
            portions: PortionPool::default(),
            clock: CachedClock::new(plan, point, (config, processes), slower_by)?,
        })
    };
    let mut lanes: Vec<LayoutLane<'_>> = variants.iter().map(lane).collect::<Result<_, _>>()?;
    let mut splitter = splitter(plan, config, trace)?;
    for_each_stream_window(pool, (trace, &mut splitter), progress, |all| {
        let pushed: Vec<Result<(), SimError>> =
            lanes.par_iter_mut().map(|lane| lane.push(all)).collect();
        pushed.into_iter().collect()
    })?;
    let finished: Vec<Result<PointResult, _>> =
        pool.install(|| lanes.into_par_iter().map(|lane| lane.clock.finish()).collect());
    Ok(finished.into_iter().collect::<Result<_, _>>()?)
}
