//! The clocked simulation of one machine, repeated under layouts of the data.

use std::ops::ControlFlow;

use homenode_base::BlockSize;
use homenode_clock::{ClockTime, ProcessorTime};
use homenode_directory::{ClockedDirectoryResult, CoherenceTable};
use homenode_machine::{CachedMachine, Interconnect, MachineKind};
use homenode_snoop::{BusCounts, BusResult, WordWaits};
use homenode_trace::TraceReader;

use super::config::LineConfig;
use super::layouts::{LayoutVariant, simulate_layouts};
use crate::bus::BusPlan;
use crate::directory::{DirectoryConfig, DirectoryPlan};
use crate::error::{SimResult, config_error};
use crate::timed::TimedPlan;

/// Most variants simulated at a time, because each has caches of its own.
const TOGETHER_MAX: usize = 8;

pub(crate) struct LineResult {
    pub(crate) cycles: u64,
    pub(crate) processors: ProcessorTime,
    pub(crate) references: u64,
    /// References; a reference counts once for each block it touches.
    pub(crate) accesses: u64,
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

enum PlannedMachine {
    Links(Box<BusPlan>),
    Directory(Box<DirectoryPlan>),
}

pub(crate) struct LineReplay<'a> {
    pub(crate) machine: CachedMachine,
    planned: PlannedMachine,
    pub(crate) processors: u16,
    pub(crate) protocol: String,
    pub(crate) home: Option<String>,
    pub(crate) config: &'a LineConfig,
    pub(crate) block: BlockSize,
    trace: &'a TraceReader,
    pub(crate) pool: &'a rayon::ThreadPool,
}

impl<'a> LineReplay<'a> {
    pub(crate) fn new(
        config: &'a LineConfig,
        trace: &'a TraceReader,
        pool: &'a rayon::ThreadPool,
    ) -> SimResult<Self> {
        let machine = CachedMachine::parse(&config.machine)?;
        let (protocol, home) = (config.protocol_for(&machine), config.home_for(&machine)?);
        let (planned, processors, bytes) = match machine.interconnect {
            Interconnect::Bus(_) => {
                return Err(machine.is_not(MachineKind::Multicore).into());
            }
            Interconnect::Links(_) => {
                let plan = BusPlan::new(&config.simulation(&protocol), trace)?;
                let bytes = plan.points.first().map(|point| point.setup.cache.block_size_bytes);
                let processors = plan.processors.first().copied();
                (PlannedMachine::Links(Box::new(plan)), processors, bytes)
            }
            Interconnect::Controllers(_) => {
                return Err(config_error(format!(
                    "machine {}: where nodes have controllers, waits are not split by cause; \
                     choose another machine, such as spr-2s-lines or dash-mesh, or simulate this \
                     one with homenode simulate --machine {} --protocol sdd",
                    config.machine, config.machine
                )));
            }
            Interconnect::Directory(_) => {
                let home = home.clone().unwrap_or_default();
                let plan = directory_plan(&config.directory(&protocol, &home), trace, pool)?;
                let bytes = plan.points.first().map(|point| point.setup.cache.block_size_bytes);
                let processors = plan.nodes.first().copied();
                (PlannedMachine::Directory(Box::new(plan)), processors, bytes)
            }
        };
        let (processors, block) = (processors.unwrap_or(0), BlockSize::new(bytes.unwrap_or(0))?);
        Ok(Self { machine, planned, processors, protocol, home, config, block, trace, pool })
    }

    pub(crate) fn simulate(
        &self,
        variants: &[LayoutVariant<'_>],
        tick: &mut dyn FnMut(f64) -> SimResult<()>,
    ) -> SimResult<Vec<LineResult>> {
        let mut progress = |done: u64, all: Option<u64>| {
            #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
            let part = done as f64 / all.unwrap_or(done).max(1) as f64;
            match tick(part) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let mut results = Vec::with_capacity(variants.len());
        for some in variants.chunks(TOGETHER_MAX) {
            let (trace, pool) = (self.trace, self.pool);
            let found = match &self.planned {
                PlannedMachine::Links(plan) => {
                    simulate_layouts(&**plan, trace, some, pool, &mut progress)
                }
                PlannedMachine::Directory(plan) => {
                    simulate_layouts(&**plan, trace, some, pool, &mut progress)
                }
            };
            results.extend(found?);
        }
        Ok(results)
    }
}

fn directory_plan(
    config: &DirectoryConfig,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
) -> SimResult<DirectoryPlan> {
    let mut plan = DirectoryPlan::new(config, trace)?;
    let point = plan.first()?;
    let name = &point.home.text;
    if point.home.entry().needs_first_run {
        return Err(config_error(format!(
            "--home {name}: it is chosen by a first run; say --home first-touch"
        )));
    }
    if point.home.entry().needs_allocations {
        return Err(config_error(format!(
            "--home {name}: its pages go by allocations, which a change of data moves; say --home \
             first-touch"
        )));
    }
    if matches!(point.table, CoherenceTable::Pages(_)) {
        return Err(config_error(format!(
            "--protocol {}: it keeps pages coherent, so that no line is waited for; say \
             --protocol dash",
            config.protocols.join(",")
        )));
    }
    plan.prepare(trace, pool, &mut |_, _| ControlFlow::Continue(()))?;
    Ok(plan)
}
