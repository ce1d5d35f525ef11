//! One pass over the trace for several layouts of its data, on one machine with links.

use homenode_advise::Layout;
use homenode_clock::streams::StreamSplitter;
use homenode_trace::{Batch, TraceReader};
use rayon::prelude::*;

use super::clock::{CachedClock, PointResult, splitter};
use super::config::BusConfig;
use super::plan::BusPlan;
use crate::error::SimError;
use crate::layout::LayoutApplier;
use crate::pass::{TraceSource, WindowReader, part_of};

/// A layout while the trace is simulated under it.
struct LayoutLane<'a> {
    layout: &'a Layout,
    applier: LayoutApplier,
    moved: Batch,
    splitter: StreamSplitter,
    clock: CachedClock,
}

impl LayoutLane<'_> {
    fn push(
        &mut self,
        (batches, first): (&[Batch], usize),
        ends: &[Option<usize>],
    ) -> Result<(), SimError> {
        for (piece, batch) in (first..).zip(batches) {
            let mut streams = if self.layout.is_empty() {
                self.splitter.split(batch)
            } else {
                self.applier.batch(self.layout, batch, &mut self.moved);
                self.splitter.split(&self.moved)
            };
            let over = ends.iter().enumerate().filter(|&(_, &end)| end == Some(piece));
            streams.closed = over.map(|(process, _)| process).collect();
            streams.closed.iter().for_each(|&process| self.splitter.close(process));
            self.clock.push(&streams)?;
        }
        Ok(())
    }
}

/// Simulates the only point of the plan under each layout. The trace is decoded once for all.
pub(crate) fn simulate_layouts(
    plan: &BusPlan,
    (config, trace): (&BusConfig, &TraceReader),
    layouts: &[&Layout],
    pool: &rayon::ThreadPool,
    tick: &mut dyn FnMut(f64) -> Result<(), SimError>,
) -> Result<Vec<PointResult>, SimError> {
    let processes = usize::from(TraceSource::threads(trace));
    let Some(point) = plan.points.first() else { return Ok(Vec::new()) };
    let lane = |&layout| {
        Ok::<_, SimError>(LayoutLane {
            layout,
            applier: LayoutApplier::default(),
            moved: Batch::default(),
            splitter: splitter(plan, config, trace)?,
            clock: CachedClock::new(plan, point, (config, processes))?,
        })
    };
    let mut lanes: Vec<LayoutLane<'_>> = layouts.iter().map(lane).collect::<Result<_, _>>()?;
    let ends = TraceSource::ends(trace);
    let read = |index, batch: &mut Batch| trace.read_all(index, batch);
    let mut windows = WindowReader::new(pool, trace, &read);
    let mut done = 0;
    let mut push = |batches: &[Batch]| {
        let all: Vec<Result<(), SimError>> =
            lanes.par_iter_mut().map(|lane| lane.push((batches, done), &ends)).collect();
        done += batches.len();
        all.into_iter().collect::<Result<(), SimError>>().map(|()| done)
    };
    while let Some(pieces) = windows.next(&mut push)? {
        tick(part_of(pieces?, trace.pieces()))?;
    }
    let finished: Vec<Result<PointResult, _>> =
        pool.install(|| lanes.into_par_iter().map(|lane| lane.clock.finish()).collect());
    Ok(finished.into_iter().collect::<Result<_, _>>()?)
}
