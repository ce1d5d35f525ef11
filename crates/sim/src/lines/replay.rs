//! The clocked simulation of one machine, repeated under layouts of the data.

use std::ops::ControlFlow;

use homenode_base::BlockSize;
use homenode_clock::ProcessorTime;
use homenode_machine::MachineKind;
use homenode_snoop::BusCounts;
use homenode_snoop::WordWaits;
use homenode_trace::TraceReader;

use super::config::LineConfig;
use crate::bus::{BusConfig, BusPlan, LayoutVariant, PointResult, simulate_layouts};
use crate::error::SimError;

/// Most variants simulated at a time: each takes caches of its own.
const TOGETHER_MAX: usize = 8;

/// What a machine does under one layout.
pub(crate) struct LineResult {
    /// Execution time.
    pub(crate) cycles: u64,
    /// Of all processors together.
    pub(crate) processors: ProcessorTime,
    pub(crate) counts: BusCounts,
    /// Misses and waiting by word, in order.
    pub(crate) waits: WordWaits,
    /// How often processes waited for each other in a ring, which is not what was recorded.
    pub(crate) deadlocks_broken: u64,
}

impl LineResult {
    /// Cycles for which processors had a process.
    pub(crate) fn processor_cycles(&self) -> u64 {
        self.processors.busy + self.processors.delay
    }

    fn of(result: PointResult) -> Self {
        let time = result.time.unwrap_or_default();
        let sum = |part: fn(&ProcessorTime) -> u64| time.processors.iter().map(part).sum();
        Self {
            cycles: time.cycles,
            processors: ProcessorTime {
                busy: sum(|p| p.busy),
                delay: sum(|p| p.delay),
                idle: sum(|p| p.idle),
            },
            counts: result.counts,
            waits: result.waits.unwrap_or_default(),
            deadlocks_broken: time.deadlocks_broken,
        }
    }
}

/// A machine with links, a protocol and a trace.
pub(crate) struct LineReplay<'a> {
    pub(crate) plan: BusPlan,
    pub(crate) config: BusConfig,
    pub(crate) block: BlockSize,
    trace: &'a TraceReader,
    pub(crate) pool: &'a rayon::ThreadPool,
}

impl<'a> LineReplay<'a> {
    /// Checks the choices.
    pub(crate) fn new(
        config: &LineConfig,
        trace: &'a TraceReader,
        pool: &'a rayon::ThreadPool,
    ) -> Result<Self, SimError> {
        let config = config.simulation();
        let plan = BusPlan::new(&config, trace)?;
        let of_other_kind = plan.machines.iter().find(|machine| machine.bus().is_some());
        if let Some(machine) = of_other_kind {
            let (kind, wanted) = (machine.kind(), MachineKind::Multicore);
            let machine = machine.name().to_owned();
            return Err(homenode_machine::MachineError::OtherKind { machine, kind, wanted }.into());
        }
        let bytes = plan.points.first().map_or(0, |point| point.setup.cache.block_size_bytes);
        Ok(Self { block: BlockSize::new(bytes)?, plan, config, trace, pool })
    }

    /// The trace in each variant.
    pub(crate) fn simulate(
        &self,
        variants: &[LayoutVariant<'_>],
        tick: &mut dyn FnMut(f64) -> Result<(), SimError>,
    ) -> Result<Vec<LineResult>, SimError> {
        let mut progress = |done: u64, all: Option<u64>| {
            #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
            let part = done as f64 / all.unwrap_or(done).max(1) as f64;
            match tick(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let work = (&self.config, self.trace);
        let mut results = Vec::with_capacity(variants.len());
        for some in variants.chunks(TOGETHER_MAX) {
            let all = simulate_layouts(&self.plan, work, some, self.pool, &mut progress)?;
            results.extend(all.into_iter().map(LineResult::of));
        }
        Ok(results)
    }
}
