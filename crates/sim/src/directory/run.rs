//! How the combinations of a plan are simulated.

use homenode_clock::ClockSetup;
use homenode_clock::streams::StreamSplitter;
use homenode_directory::{
    ClockedDirectoryResult, CoherenceTable, DirectoryClockSetup, DirectoryResult,
    DirectorySetupError, DirectorySimulation, HomePolicy, HomeSetup, ListClockSetup,
    directory_clock, linked_clock,
};
use homenode_machine::{CachedMachine, ControllerMachine, DirectoryMachine, ProcessorModel};

use super::allocations;
use super::config::{Consistency, DirectoryConfig, MeasuredFrom, PageMapping};
use super::first_run;
use super::outcome::{DirectoryStudy, assemble};
use super::plan::{DirectoryPlan, NodeModel, PlannedDirectory};
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, TraceSource};
use crate::timed::{ClockVariant, LiveTiming, TimedClock, TimedPlan};

impl TimedPlan for DirectoryPlan {
    type Config = DirectoryConfig;
    type Result = ClockedDirectoryResult;
    type Study = DirectoryStudy;

    fn new(config: &DirectoryConfig, trace: &dyn TraceSource) -> SimResult<Self> {
        Self::checked(config, trace)
    }

    fn config(&self) -> &DirectoryConfig {
        &self.config
    }

    fn count(&self) -> usize {
        self.points.len()
    }

    fn needs_first_run(&self) -> bool {
        self.points.iter().any(first_run::is_needed)
    }

    fn prepare(
        &mut self,
        trace: &dyn TraceSource,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> SimResult<()> {
        self.marks_init_done = first_run::marks_init_done(trace)?;
        self.allocations = allocations::allocations(self, trace)?;
        self.first_runs = first_run::first_runs(self, trace, pool, progress)?;
        Ok(())
    }

    fn clock(
        &self,
        point: usize,
        variant: ClockVariant,
    ) -> SimResult<TimedClock<ClockedDirectoryResult>> {
        let point = &self.points[point];
        let (homes, table) = (self.homes(point)?, point.table.clone());
        Ok(match (point.model, table) {
            (NodeModel::Controllers(machine), CoherenceTable::Linked(table)) => {
                let setup = self.linked_setup(point, machine, variant);
                linked_clock(&point.setup, table, homes, &setup)?
            }
            (NodeModel::Directory(model), table) => {
                let setup = self.clock_setup(point, model, variant);
                directory_clock(&point.setup, table, homes, &setup)?
            }
            (NodeModel::Controllers(_), _) => return Err(DirectorySetupError::NoControllers.into()),
        })
    }

    fn splitter(&self, trace: &dyn TraceSource) -> SimResult<StreamSplitter> {
        let point = self.first()?;
        let (filter, private) = (point.setup.filter, &point.setup.private);
        Ok(StreamSplitter::new(usize::from(trace.threads()), filter, private, None)
            .with_marks()
            .with_gap(self.config.gap))
    }

    fn in_trace_order(
        &self,
        trace: &dyn TraceSource,
        pool: &rayon::ThreadPool,
        progress: Progress<'_>,
    ) -> SimResult<Vec<ClockedDirectoryResult>> {
        let simulations = self.points.iter().map(|point| {
            let table = first_run::block_table(&point.table);
            Ok(DirectorySimulation::new(&point.setup, table, self.homes(point)?)?)
        });
        let simulations = simulations.collect::<SimResult<Vec<_>>>()?;
        let result = |DirectoryResult { counts, uses, notes, .. }| ClockedDirectoryResult {
            counts,
            uses,
            notes,
            ..ClockedDirectoryResult::default()
        };
        let done = first_run::pass(simulations, trace, pool, progress)?;
        Ok(done.into_iter().map(result).collect())
    }

    fn prepare_live(&mut self) -> SimResult<LiveTiming> {
        self.marks_init_done = self.config.measure_from == MeasuredFrom::InitDone;
        let point = self.first()?;
        if first_run::is_needed(point) {
            let name = &point.home.text;
            return Err(config_error(format!(
                "--home {name} is chosen with hindsight: record the program and simulate the \
                 trace, or say --home first-touch"
            )));
        }
        if allocations::are_needed(point) {
            let name = &point.home.text;
            return Err(config_error(format!(
                "--home {name} goes by all allocations of a trace: record the program and simulate \
                 the trace, or say --home first-touch"
            )));
        }
        let (least_latency, cycles_per_ms) = match point.model {
            // A message without data over one link.
            NodeModel::Directory(model) => {
                let network = model.network;
                let leaves = network.path_cycles(network.header_bytes);
                (leaves + network.routing_cycles + network.link_cycles, model.cycles_per_ms)
            }
            NodeModel::Controllers(model) => (model.network.short_cycles, model.cycles_per_ms),
        };
        let processor = self.machines[point.machine].processor;
        // Instructions before each reference take time as well.
        let gap = u64::from(self.config.gap) * processor.instruction_cycles;
        let reference_cycles = processor.operation_cycles + gap;
        Ok(LiveTiming { least_latency, reference_cycles, cycles_per_ms: Some(cycles_per_ms) })
    }

    fn assemble(
        &self,
        results: Vec<ClockedDirectoryResult>,
        _: Vec<String>,
        trace: &dyn TraceSource,
    ) -> DirectoryStudy {
        assemble(self, results, trace)
    }
}

impl DirectoryPlan {
    fn homes(&self, point: &PlannedDirectory) -> SimResult<Box<dyn HomePolicy>> {
        let known = first_run::run_of(self, point).map(|run| &run.demands);
        let allocators =
            allocations::are_needed(point).then(|| point.allocators(&self.allocations));
        let setup = point.homes(self.config.seed, self.marks_init_done, known);
        Ok(point.home.build(&HomeSetup { allocators: allocators.as_ref(), ..setup })?)
    }

    fn linked_setup(
        &self,
        point: &PlannedDirectory,
        machine: ControllerMachine,
        variant: ClockVariant,
    ) -> ListClockSetup {
        let (config, processes) = (&self.config, variant.processes);
        let CachedMachine { processor, scheduler, .. } = self.machines[point.machine];
        ListClockSetup {
            clock: ClockSetup { processor, scheduler, seed: config.seed, processes },
            machine,
            phase_change: config.phase_change,
            from_init_done: config.measure_from == MeasuredFrom::InitDone,
            proxies: point.choice.proxies.1.clone(),
            buffer_reads: point.choice.buffers.1,
        }
    }

    fn clock_setup(
        &self,
        point: &PlannedDirectory,
        mut model: DirectoryMachine,
        variant: ClockVariant,
    ) -> DirectoryClockSetup {
        let (config, processes) = (&self.config, variant.processes);
        let machine = &self.machines[point.machine];
        let sequential = config.consistency == Consistency::Sc;
        let blocking = machine.processor.blocking || sequential;
        let processor = ProcessorModel { blocking, ..machine.processor };
        let scheduler = machine.scheduler;
        let clock = ClockSetup { processor, scheduler, seed: config.seed, processes };
        // If software keeps pages coherent, mapping them is part of the protocol.
        let free = config.page_mapping == PageMapping::Free
            && matches!(point.table, CoherenceTable::Blocks(_));
        if free {
            (model.system.page_fault_cycles, model.system.page_table_cycles) = (0, 0);
        }
        DirectoryClockSetup {
            clock,
            machine: model.slower_by(variant.slower_by),
            sequential,
            phase_change: config.phase_change,
            replication: point.replication.1,
            from_init_done: config.measure_from == MeasuredFrom::InitDone,
            collect_waits: variant.collect_waits,
        }
    }
}
