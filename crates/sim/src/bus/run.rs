//! How the combinations of a plan are simulated.

use homenode_clock::ClockSetup;
use homenode_clock::pages::{PageNumbers, PageTable};
use homenode_clock::streams::StreamSplitter;
use homenode_machine::{Interconnect, MachineKind, SchedulerModel};
use homenode_multicore::{LinkClockSetup, link_clock};
use homenode_snoop::{BusClockSetup, BusResult, TraceOrderSimulation, bus_clock};
use homenode_trace::Batch;

use super::config::{BusConfig, Contention};
use super::outcome::{BusSimulation, assemble};
use super::plan::{BusPlan, CAPTURED};
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, TraceSource};
use crate::timed::{
    ClockVariant, LiveTiming, ReferenceOrder, TimedClock, TimedPlan, in_trace_order,
};

/// Seed offset that separates the random numbers of page frames from those of the scheduler.
const FRAMES: u64 = 0x6672_616d_6573;
/// Seed offset of the kernel model's random numbers.
const KERNEL: u64 = 0x6b65_726e_656c;

const MIXED: &str = "threads of the trace run several processes, as processors of a whole system \
                     do: if its addresses are of physical memory, say --addresses trace";

const COMMON: &str = "the trace does not say where the kernel has data of each processor: \
                      references go to those of the processors that were recorded, whichever makes \
                      them";

impl TimedPlan for BusPlan {
    type Config = BusConfig;
    type Result = BusResult;
    type Study = BusSimulation;

    fn new(config: &BusConfig, trace: &dyn TraceSource) -> SimResult<Self> {
        Self::checked(config, trace)
    }

    fn config(&self) -> &BusConfig {
        &self.config
    }

    fn count(&self) -> usize {
        self.points.len()
    }

    fn user_areas(&self) -> Option<bool> {
        Some(self.config.order == ReferenceOrder::Clock && self.translates)
    }

    fn clock(&self, point: usize, variant: ClockVariant) -> SimResult<TimedClock<BusResult>> {
        let (config, point) = (&self.config, &self.points[point]);
        let machine = &self.machines[point.machine];
        let restart = config.restart || machine.scheduler.restart;
        let scheduler = SchedulerModel { policy: point.scheduler, restart, ..machine.scheduler };
        let (processor, processes) = (machine.processor, variant.processes);
        let clock = ClockSetup { processor, scheduler, seed: config.seed, processes };
        let table = point.table.clone();
        let mut clock = match &machine.interconnect {
            Interconnect::Bus(bus) => {
                let cycles = point.cycles.unwrap_or_default();
                bus_clock(&point.setup, table, &BusClockSetup { clock, bus: bus.model, cycles })?
            }
            Interconnect::Links(links) => {
                let contention = config.contention.map(|asked| asked == Contention::Modelled);
                let links = links.with_contention(contention).slower_by(variant.slower_by);
                let page_bytes = machine.page_bytes;
                link_clock(&point.setup, table, &LinkClockSetup { clock, links, page_bytes })?
            }
            Interconnect::Directory(_) | Interconnect::Controllers(_) => {
                return Err(machine.is_not(MachineKind::Bus).into());
            }
        };
        if let Some(model) = self.kernel_model() {
            clock.set_kernel(&model, point.setup.filter);
        }
        Ok(clock)
    }

    /// The engine decides whether PSCR treats kernel references as private.
    fn splitter(&self, trace: &dyn TraceSource) -> SimResult<StreamSplitter> {
        let Some(point) = self.points.first() else {
            return Err(config_error("there is nothing to simulate"));
        };
        // All machines of a run have one page size.
        let page_shift = self.machines.first().map_or(0, |it| it.page_bytes.trailing_zeros());
        let pages = self.translates.then(|| PageNumbers::new(page_shift));
        let (filter, private) = (point.setup.filter, &point.setup.private);
        let processes = usize::from(trace.threads());
        let mut splitter = StreamSplitter::new(processes, filter, private, pages);
        if let Some(areas) = &trace.metadata().processor_areas {
            splitter = splitter.with_areas(areas);
        }
        let seed = self.config.seed;
        if let Some(model) = self.kernel_model() {
            splitter = splitter.with_kernel(&model, seed ^ KERNEL);
        }
        if self.translates {
            splitter = splitter.with_page_table(PageTable::shuffled(page_shift, seed ^ FRAMES));
        }
        Ok(splitter)
    }

    fn in_trace_order(
        &self,
        trace: &dyn TraceSource,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> SimResult<Vec<BusResult>> {
        let counters = self
            .points
            .iter()
            .map(|point| TraceOrderSimulation::new(&point.setup, point.table.clone()));
        let counters = counters.collect::<Result<_, _>>()?;
        let read = |index, batch: &mut Batch| trace.read(index, batch);
        let push = TraceOrderSimulation::push;
        let done = in_trace_order(counters, push, &read, trace, pool, progress)?;
        let result = |counter: TraceOrderSimulation| BusResult {
            counts: counter.finish(),
            ..BusResult::default()
        };
        Ok(done.into_iter().map(result).collect())
    }

    fn notes(&self, splitter: &StreamSplitter, trace: &dyn TraceSource) -> SimResult<Vec<String>> {
        if splitter.has_kernel() && self.config.kernel_model {
            return Err(config_error(CAPTURED));
        }
        let metadata = trace.metadata();
        let common = metadata.processor_areas.is_none() && !metadata.processes.is_empty();
        let mixed = (splitter.is_mixed() && self.translates).then_some(MIXED);
        let common = (common && !self.translates).then_some(COMMON);
        Ok(mixed.into_iter().chain(common).map(str::to_owned).collect())
    }

    fn prepare_live(&mut self) -> SimResult<LiveTiming> {
        let point = &self.points[0];
        let machine = &self.machines[point.machine];
        let links = match &machine.interconnect {
            Interconnect::Links(links) => Some(links),
            Interconnect::Bus(_) | Interconnect::Directory(_) | Interconnect::Controllers(_) => {
                None
            }
        };
        let transactions = point.cycles.iter().flat_map(|cycles| cycles.named().map(|(_, it)| it));
        let latencies = transactions
            .filter(|&cycles| cycles > 0)
            .chain(links.map(|links| links.latency.same_last_level));
        Ok(LiveTiming {
            least_latency: latencies.min().unwrap_or(0),
            reference_cycles: machine.processor.operation_cycles,
            cycles_per_ms: links.map(|links| links.cycles_per_ms),
        })
    }

    fn assemble(
        &self,
        results: Vec<BusResult>,
        notes: Vec<String>,
        trace: &dyn TraceSource,
    ) -> BusSimulation {
        assemble(self, results, notes, trace)
    }
}
