//! What a family of machines with caches gives to its simulation.

use homenode_clock::TimedSimulation;
use homenode_clock::streams::StreamSplitter;
use homenode_snoop::ClockError;
use serde::Serialize;

use super::order::ReferenceOrder;
use crate::error::SimError;
use crate::pass::{Progress, TraceSource};

/// A timed simulation of a machine with this result.
pub(crate) type TimedClock<R> = Box<dyn TimedSimulation<R, ClockError>>;

/// What may differ between clocks of one combination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockVariant {
    /// Processes, numbered from 0.
    pub(crate) processes: usize,
    /// Cycles by which every latency exceeds the machine's.
    pub(crate) slower_by: u64,
    /// Whether misses and waiting are collected by word where that is optional.
    pub(crate) collect_waits: bool,
}

/// Times of a machine that the driver of a live program needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveTiming {
    /// The least number of cycles after which one processor can affect another.
    pub(crate) least_latency: u64,
    /// The least number of cycles of a reference.
    pub(crate) reference_cycles: u64,
    /// Cycles of a processor in a millisecond, if the machine says so.
    pub(crate) cycles_per_ms: Option<u64>,
}

/// Options that all families have.
#[derive(Clone, Copy)]
pub(crate) struct TimedOptions {
    pub(crate) order: ReferenceOrder,
    /// Cores to use.
    pub(crate) threads: Option<usize>,
    /// Processors of the simulated machine.
    pub(crate) processors: Option<u16>,
    /// Whether several numbers of processors are simulated.
    pub(crate) scales: bool,
    /// Whether processes restart when they end.
    pub(crate) restarts: bool,
}

/// The options of a family.
pub(crate) trait TimedConfig: Clone + Sync {
    fn timed(&self) -> TimedOptions;
    /// Sets the processors of a live program, and what a run takes one of.
    fn prepare_run(&mut self, processors: u16);
}

/// All combinations of a configuration, checked before the trace is read.
pub(crate) trait TimedPlan: Sized + Send + Sync {
    type Config: TimedConfig;
    /// The result of one combination.
    type Result: Send;
    /// The results of all combinations, with their provenance.
    type Study: Serialize;

    /// # Errors
    /// When the configuration is invalid.
    fn new<T: TraceSource + ?Sized>(config: &Self::Config, trace: &T) -> Result<Self, SimError>;

    fn config(&self) -> &Self::Config;

    /// The number of combinations.
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
    ///
    /// # Errors
    /// When the trace is damaged.
    fn prepare<T: TraceSource + ?Sized>(
        &mut self,
        trace: &T,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> Result<(), SimError> {
        let _ = (trace, pool, progress);
        Ok(())
    }

    /// The clock of a combination.
    ///
    /// # Errors
    /// When the configuration is invalid.
    fn clock(
        &self,
        point: usize,
        variant: ClockVariant,
    ) -> Result<TimedClock<Self::Result>, SimError>;

    /// The splitter of a trace, or of a program whose references are not known in advance, into the
    /// streams of its processes.
    ///
    /// # Errors
    /// When there is nothing to simulate.
    fn splitter<T: TraceSource + ?Sized>(&self, trace: &T) -> Result<StreamSplitter, SimError>;

    /// Simulates all combinations in the order of the trace.
    ///
    /// # Errors
    /// When the trace is damaged, or a protocol violates an invariant.
    fn in_trace_order<T: TraceSource + ?Sized>(
        &self,
        trace: &T,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> Result<Vec<Self::Result>, SimError>;

    /// Notes on a trace that was simulated in cycles.
    ///
    /// # Errors
    /// When the configuration does not apply to what the trace turned out to have.
    fn notes<T: TraceSource + ?Sized>(
        &self,
        splitter: &StreamSplitter,
        trace: &T,
    ) -> Result<Vec<String>, SimError> {
        let _ = (splitter, trace);
        Ok(Vec::new())
    }

    /// Prepares the first combination for a live program. Returns its times.
    ///
    /// # Errors
    /// When no live program can run on it.
    fn prepare_live(&mut self) -> Result<LiveTiming, SimError>;

    /// Assembles the results of all combinations.
    fn assemble<T: TraceSource + ?Sized>(
        &self,
        results: Vec<Self::Result>,
        notes: Vec<String>,
        trace: &T,
    ) -> Self::Study;
}
