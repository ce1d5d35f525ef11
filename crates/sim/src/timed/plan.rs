//! What a family of machines with caches gives to its simulation.

use homenode_clock::TimedSimulation;
use homenode_clock::streams::StreamSplitter;
use homenode_snoop::ClockError;
use serde::Serialize;

use super::order::ReferenceOrder;
use crate::error::SimResult;
use crate::pass::{Progress, TraceSource};

pub(crate) type TimedClock<R> = Box<dyn TimedSimulation<R, ClockError>>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockVariant {
    pub(crate) processes: usize,
    /// Cycles by which every latency exceeds the machine's.
    pub(crate) slower_by: u64,
    /// Whether misses and waiting are collected by word where that is optional.
    pub(crate) collect_waits: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveTiming {
    /// The least number of cycles after which one processor can affect another.
    pub(crate) least_latency: u64,
    pub(crate) reference_cycles: u64,
    /// Cycles of a processor in a millisecond, if the machine says so.
    pub(crate) cycles_per_ms: Option<u64>,
}

#[derive(Clone, Copy)]
pub(crate) struct TimedOptions {
    pub(crate) order: ReferenceOrder,
    /// Cores to use.
    pub(crate) threads: Option<usize>,
    pub(crate) processors: Option<u16>,
    /// Whether several numbers of processors are simulated.
    pub(crate) scales: bool,
    pub(crate) restarts: bool,
}

pub(crate) trait TimedConfig: Clone + Sync {
    fn timed(&self) -> TimedOptions;
    /// Sets the processors of a live program, and what a run takes one of.
    fn prepare_run(&mut self, processors: u16);
}

/// All combinations of a configuration, checked before the trace is read.
pub(crate) trait TimedPlan: Sized + Send + Sync {
    type Config: TimedConfig;
    type Result: Send;
    type Study: Serialize;

    fn new(config: &Self::Config, trace: &dyn TraceSource) -> SimResult<Self>;

    fn config(&self) -> &Self::Config;

    fn count(&self) -> usize;

    /// Whether private areas that are user pages are distinguished from the kernel's, and if so,
    /// whether addresses are virtual, so that each process has pages of its own.
    fn user_areas(&self) -> Option<bool> {
        None
    }

    /// Whether a pass over the trace precedes the simulation.
    fn needs_first_run(&self) -> bool {
        false
    }

    /// Finds in the trace what the simulation has to know in advance.
    fn prepare(
        &mut self,
        trace: &dyn TraceSource,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> SimResult<()> {
        let _ = (trace, pool, progress);
        Ok(())
    }

    fn clock(&self, point: usize, variant: ClockVariant) -> SimResult<TimedClock<Self::Result>>;

    /// The splitter of a trace, or of a program whose references are not known in advance, into the
    /// streams of its processes.
    fn splitter(&self, trace: &dyn TraceSource) -> SimResult<StreamSplitter>;

    /// Simulates all combinations in the order of the trace.
    fn in_trace_order(
        &self,
        trace: &dyn TraceSource,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> SimResult<Vec<Self::Result>>;

    /// Notes on a trace that was simulated in cycles.
    ///
    /// # Errors
    /// When the configuration does not apply to what the trace turned out to have.
    fn notes(&self, splitter: &StreamSplitter, trace: &dyn TraceSource) -> SimResult<Vec<String>> {
        let _ = (splitter, trace);
        Ok(Vec::new())
    }

    /// Prepares the first combination for a live program. Returns its times.
    fn prepare_live(&mut self) -> SimResult<LiveTiming>;

    fn assemble(
        &self,
        results: Vec<Self::Result>,
        notes: Vec<String>,
        trace: &dyn TraceSource,
    ) -> Self::Study;
}
