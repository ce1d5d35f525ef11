//! The clocked simulation of one machine, repeated under layouts of the data.

use std::ops::ControlFlow;

use homenode_base::BlockSize;
use homenode_clock::streams::StreamSplitter;
use homenode_clock::{ClockTime, ProcessorTime};
use homenode_directory::{ClockedDirectoryResult, CoherenceTable, PageDemands, directory_clock};
use homenode_machine::{CachedMachine, Interconnect, MachineError, MachineKind};
use homenode_snoop::{BusCounts, BusResult, WordWaits};
use homenode_trace::TraceReader;

use super::config::LineConfig;
use super::layouts::{LayoutVariant, simulate_layouts};
use crate::bus::{BusConfig, BusPlan, clock_of, splitter};
use crate::directory::{
    DirectoryClock, DirectoryConfig, DirectoryPlan, clock_setup, marks_init_done,
};
use crate::error::SimError;
use crate::pass::TraceSource;

/// Most variants simulated at a time, because each has caches of its own.
const TOGETHER_MAX: usize = 8;

/// The result of one machine under one layout.
pub(crate) struct LineResult {
    /// Execution time.
    pub(crate) cycles: u64,
    /// Cycles of all processors together.
    pub(crate) processors: ProcessorTime,
    pub(crate) references: u64,
    /// References; a reference counts once for each block it touches.
    pub(crate) accesses: u64,
    /// Misses and waiting by word, in order.
    pub(crate) waits: WordWaits,
    /// Deadlocks of processes that were broken by releasing one; the recorded run had none.
    pub(crate) deadlocks_broken: u64,
}

impl LineResult {
    /// Cycles for which processors had a process.
    pub(crate) fn processor_cycles(&self) -> u64 {
        self.processors.busy + self.processors.delay
    }

    fn of(time: &ClockTime, references: u64, accesses: u64, waits: Option<WordWaits>) -> Self {
        let sum = |part: fn(&ProcessorTime) -> u64| time.processors.iter().map(part).sum();
        Self {
            cycles: time.cycles,
            processors: ProcessorTime {
                busy: sum(|p| p.busy),
                delay: sum(|p| p.delay),
                idle: sum(|p| p.idle),
            },
            references,
            accesses,
            waits: waits.unwrap_or_default(),
            deadlocks_broken: time.deadlocks_broken,
        }
    }
}

impl From<BusResult> for LineResult {
    fn from(result: BusResult) -> Self {
        let BusCounts { references, block_references, .. } = result.counts;
        Self::of(&result.time, references, block_references, result.waits)
    }
}

impl From<ClockedDirectoryResult> for LineResult {
    fn from(result: ClockedDirectoryResult) -> Self {
        let references = result.counts.references;
        Self::of(&result.time, references, result.block_references, result.waits)
    }
}

/// A machine with a clock, checked before the trace is read.
enum PlannedMachine {
    Links(Box<(BusPlan, BusConfig)>),
    Directory(Box<DirectoryReplay>),
}

/// A machine, a protocol and a trace, ready to simulate.
pub(crate) struct LineReplay<'a> {
    machine: CachedMachine,
    planned: PlannedMachine,
    pub(crate) processors: u16,
    pub(crate) protocol: String,
    /// The home policy; `None` without a directory.
    pub(crate) home: Option<String>,
    pub(crate) config: &'a LineConfig,
    pub(crate) block: BlockSize,
    trace: &'a TraceReader,
    pub(crate) pool: &'a rayon::ThreadPool,
}

impl<'a> LineReplay<'a> {
    /// Checks the options.
    pub(crate) fn new(
        config: &'a LineConfig,
        trace: &'a TraceReader,
        pool: &'a rayon::ThreadPool,
    ) -> Result<Self, SimError> {
        let machine = CachedMachine::parse(&config.machine)?;
        let (protocol, home) = (config.protocol_for(&machine), config.home_for(&machine)?);
        let (planned, processors, bytes) = match machine.interconnect {
            Interconnect::Bus(_) => {
                let (kind, wanted) = (machine.kind(), MachineKind::Multicore);
                let machine = machine.name().to_owned();
                return Err(MachineError::OtherKind { machine, kind, wanted }.into());
            }
            Interconnect::Links(_) => {
                let config = config.simulation(&protocol);
                let plan = BusPlan::new(&config, trace)?;
                let bytes = plan.points.first().map(|point| point.setup.cache.block_size_bytes);
                let processors = plan.processors.first().copied();
                (PlannedMachine::Links(Box::new((plan, config))), processors, bytes)
            }
            Interconnect::Controllers(_) => {
                let problem = format!(
                    "machine {}: lines requires a machine without controllers in its nodes, such \
                     as spr-2s-lines or dash-mesh; simulate this one with homenode simulate \
                     --machine {} --protocol sdd",
                    config.machine, config.machine
                );
                return Err(SimError::Config { problem });
            }
            Interconnect::Directory(_) => {
                let home = home.clone().unwrap_or_default();
                let replay = DirectoryReplay::new(config.directory(&protocol, &home), trace)?;
                let (processors, bytes) =
                    (replay.plan.nodes.first().copied(), replay.block_bytes());
                (PlannedMachine::Directory(Box::new(replay)), processors, Some(bytes))
            }
        };
        let (processors, block) = (processors.unwrap_or(0), BlockSize::new(bytes.unwrap_or(0))?);
        Ok(Self { machine, planned, processors, protocol, home, config, block, trace, pool })
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &CachedMachine {
        &self.machine
    }

    /// Simulates the trace in each variant.
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
        let processes = usize::from(TraceSource::threads(self.trace));
        let mut results = Vec::with_capacity(variants.len());
        for some in variants.chunks(TOGETHER_MAX) {
            let found = match &self.planned {
                PlannedMachine::Links(planned) => {
                    let (plan, config) = &**planned;
                    let Some(point) = plan.points.first() else { continue };
                    let splitter = splitter(plan, config, self.trace)?;
                    let clock = |slower_by| clock_of(plan, point, config, processes, slower_by);
                    simulate_layouts(clock, splitter, self.trace, some, self.pool, &mut progress)
                }
                PlannedMachine::Directory(replay) => {
                    let splitter = replay.splitter(self.trace)?;
                    let clock = |slower_by| replay.clock(processes, slower_by);
                    simulate_layouts(clock, splitter, self.trace, some, self.pool, &mut progress)
                }
            };
            results.extend(found?);
        }
        Ok(results)
    }
}

/// One machine with a directory, checked before the trace is read.
pub(super) struct DirectoryReplay {
    pub(super) plan: DirectoryPlan,
    config: DirectoryConfig,
    /// Whether the trace marks the end of initialisation.
    marks_init_done: bool,
}

impl DirectoryReplay {
    pub(super) fn new(config: DirectoryConfig, trace: &TraceReader) -> Result<Self, SimError> {
        let plan = DirectoryPlan::new(&config, trace)?;
        let point = plan.first()?;
        let name = &point.home.text;
        let problem = if point.home.entry().needs_first_run {
            format!("--home {name}: it is chosen by a first run; say --home first-touch")
        } else if matches!(point.table, CoherenceTable::Pages(_)) {
            format!(
                "--protocol {}: it keeps pages coherent, so that no line is waited for; say \
                 --protocol dash",
                config.protocols.join(",")
            )
        } else {
            return Ok(Self { plan, config, marks_init_done: marks_init_done(trace)? });
        };
        Err(SimError::Config { problem })
    }

    pub(super) fn block_bytes(&self) -> u64 {
        self.plan.points.first().map_or(0, |point| point.setup.cache.block_size_bytes)
    }

    pub(super) fn splitter(&self, trace: &TraceReader) -> Result<StreamSplitter, SimError> {
        crate::directory::splitter(&self.plan, &self.config, trace)
    }

    /// A clock with latencies `slower_by` cycles longer.
    pub(super) fn clock(
        &self,
        processes: usize,
        slower_by: u64,
    ) -> Result<DirectoryClock, SimError> {
        let point = self.plan.first()?;
        let model = point.model.without_controllers()?;
        let mut timed = clock_setup(&self.plan, model, point, &self.config, processes);
        timed.collect_waits = true;
        timed.machine = timed.machine.slower_by(slower_by);
        let known = point.homes(self.config.seed, self.marks_init_done, None::<&PageDemands>);
        let homes = point.home.build(&known)?;
        Ok(directory_clock(&point.setup, point.table.clone(), homes, &timed)?)
    }
}
