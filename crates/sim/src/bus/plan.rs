//! What is to be simulated, checked before the trace is read.

use homenode_base::BlockSize;
use homenode_machine::{BusCycles, BusMachine, CacheShape, Dispatch};
use homenode_placement::Synchronisation;
use homenode_snoop::{MissRule, ProtocolSpec, Reading, Setup, Table};
use serde::{Deserialize, Serialize};

use super::clock::check_pages;
use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::placement::plan::{processors, worker_threads};

/// Bytes that the caches of all configurations together may take.
const MEMORY_MAX_BYTES: u64 = 8 << 30;
/// Bytes that are kept for a frame.
const FRAME_BYTES: u64 = 64;

/// Machines, protocols and caches to simulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusConfig {
    /// Machines: names or TOML files.
    pub machines: Vec<String>,
    /// Protocols: `name` or `name:parameter=yes`.
    pub protocols: Vec<String>,
    /// Only these combinations, in this order; all if empty.
    #[serde(default)]
    pub points: Vec<BusPoint>,
    /// Sizes of each processor's cache in bytes; the machine's if empty.
    #[serde(default)]
    pub cache_sizes: Vec<u64>,
    /// Blocks in a set, `null` for all in one; the machine's if empty.
    #[serde(default)]
    pub associativities: Vec<Option<u64>>,
    /// Block sizes in bytes; the machine's if empty.
    #[serde(default)]
    pub block_sizes: Vec<u64>,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// Several numbers of processors, each simulated; [`Self::processors`] if empty.
    #[serde(default)]
    pub scaling: Vec<u16>,
    /// In which order references take place.
    #[serde(default)]
    pub order: Order,
    /// Which ready process a processor takes; the machine's policy if absent.
    #[serde(default)]
    pub scheduler: Option<Dispatch>,
    /// For what the scheduler and the translation of addresses leave to chance.
    #[serde(default = "one")]
    pub seed: u64,
    /// What the addresses of the trace are.
    #[serde(default)]
    pub addresses: Addresses,
    /// Whether what a kernel refers to is made up, by the machine's model, for a trace without one.
    #[serde(default)]
    pub kernel_model: bool,
    /// Private areas beside those of the trace: first byte, and one past the last.
    #[serde(default)]
    pub private_ranges: Vec<(u64, u64)>,
    /// What the trace's private references are.
    #[serde(default)]
    pub private: Areas,
    /// What to do with synchronisation references.
    #[serde(default = "counted")]
    pub sync: Synchronisation,
    /// What to do with instruction fetches.
    #[serde(default)]
    pub fetches: Included,
    /// When an invalidation miss is true sharing.
    #[serde(default)]
    pub miss_rule: MissRule,
    /// Whether every read is checked to return what was written last.
    #[serde(default)]
    pub check: bool,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
}

fn one() -> u64 {
    1
}

fn counted() -> Synchronisation {
    Synchronisation::Include
}

/// One combination by name. What is absent is the machine's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusPoint {
    /// The machine: a name or TOML file.
    pub machine: String,
    /// The protocol: `name` or `name:parameter=yes`.
    pub protocol: String,
    /// Bytes in each processor's cache.
    #[serde(default)]
    pub cache_size: Option<u64>,
    /// Blocks in a set.
    #[serde(default)]
    pub associativity: Option<u64>,
    /// Bytes in a block.
    #[serde(default)]
    pub block_size: Option<u64>,
    /// Processors; the trace's thread count if absent.
    #[serde(default)]
    pub processors: Option<u16>,
    /// Which ready process a processor takes.
    #[serde(default)]
    pub scheduler: Option<Dispatch>,
}

/// In which order references take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// That which comes about in cycles, on processors that a scheduler gives to processes.
    #[default]
    Clock,
    /// That of the trace: each completes before the next begins, and there is no time.
    Trace,
}

/// What the addresses of a trace are. In the order of the trace they are those of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// Those of memory if the trace is of a whole system, else in pages.
    #[default]
    Auto,
    /// Those of processes, whose pages are put into frames.
    Pages,
    /// Those of memory.
    Trace,
}

/// What the references that the trace calls private are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Areas {
    /// References to private areas.
    #[default]
    Local,
    /// References like all others.
    Shared,
    /// Left out.
    Exclude,
}

/// Whether something is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Included {
    /// It is.
    #[default]
    Include,
    /// It is left out.
    Exclude,
}

/// Why no kernel is made up.
pub(super) const CAPTURED: &str = "the trace has the kernel's references already: leave out the \
                                   kernel model";

/// One combination.
pub(super) struct Point {
    /// Position of the machine.
    pub(super) machine: usize,
    /// The protocol as the user writes it.
    pub(super) protocol: String,
    /// Which ready process a processor takes.
    pub(super) scheduler: Dispatch,
    pub(super) setup: Setup,
    pub(super) table: Table,
    pub(super) cycles: BusCycles,
}

/// All combinations.
pub(super) struct Plan {
    pub(super) machines: Vec<BusMachine>,
    pub(super) points: Vec<Point>,
    /// Numbers of processors.
    pub(super) processors: Vec<u16>,
}

impl Plan {
    pub(super) fn new<T: TraceSource + ?Sized>(
        config: &BusConfig,
        trace: &T,
    ) -> Result<Self, SimError> {
        worker_threads(config.threads)?;
        let mut plan = Self { machines: Vec::new(), points: Vec::new(), processors: Vec::new() };
        for &(low, high) in &config.private_ranges {
            if low >= high {
                let problem = format!(
                    "private range {low:#x}-{high:#x}: expected the first byte and, after it, one \
                     past the last"
                );
                return Err(SimError::Config { problem });
            }
        }
        if config.points.is_empty() {
            plan.combine(config, trace)?;
        } else {
            plan.select(config, trace)?;
        }
        plan.check_memory()?;
        if config.order == Order::Clock {
            check_pages(&plan)?;
        }
        if config.kernel_model {
            plan.check_kernel(config, trace)?;
        }
        Ok(plan)
    }

    /// All combinations.
    fn combine<T: TraceSource + ?Sized>(
        &mut self,
        config: &BusConfig,
        trace: &T,
    ) -> Result<(), SimError> {
        for (what, none) in
            [("machine", config.machines.is_empty()), ("protocol", config.protocols.is_empty())]
        {
            if none {
                let problem = format!("no {what} is given: name at least one");
                return Err(SimError::Config { problem });
            }
        }
        let machines = config.machines.iter().map(|machine| BusMachine::parse(machine));
        self.machines = machines.collect::<Result<_, _>>()?;
        self.processors = vec![processors(config.processors, trace)?];
        if !config.scaling.is_empty() {
            let asked = config.scaling.iter().map(|&count| processors(Some(count), trace));
            self.processors = asked.collect::<Result<_, _>>()?;
        }
        for machine in 0..self.machines.len() {
            for protocol in &config.protocols {
                self.add(config, machine, &ProtocolSpec::parse(protocol)?)?;
            }
        }
        Ok(())
    }

    /// The combinations that are named.
    fn select<T: TraceSource + ?Sized>(
        &mut self,
        config: &BusConfig,
        trace: &T,
    ) -> Result<(), SimError> {
        let mut named: Vec<&str> = Vec::new();
        for point in &config.points {
            let known = named.iter().position(|&name| name == point.machine);
            let machine = known.unwrap_or(named.len());
            if known.is_none() {
                named.push(&point.machine);
                self.machines.push(BusMachine::parse(&point.machine)?);
            }
            let own = self.machines[machine].cache;
            let cache = CacheShape {
                size_bytes: point.cache_size.unwrap_or(own.size_bytes),
                block_size_bytes: point.block_size.unwrap_or(own.block_size_bytes),
                associativity: point.associativity.unwrap_or(own.associativity),
            };
            let protocol = ProtocolSpec::parse(&point.protocol)?;
            let asked = point.processors.or(config.processors);
            let processors = processors(asked, trace)?;
            self.processors.push(processors);
            self.push(config, (machine, &protocol), (cache, processors, point.scheduler))?;
        }
        self.processors.sort_unstable();
        self.processors.dedup();
        Ok(())
    }

    /// All caches of one machine under one protocol.
    fn add(
        &mut self,
        config: &BusConfig,
        machine: usize,
        protocol: &ProtocolSpec,
    ) -> Result<(), SimError> {
        let own = self.machines[machine].cache;
        let or_own = |given: &[u64], own| if given.is_empty() { vec![own] } else { given.to_vec() };
        let ways = match &config.associativities[..] {
            [] => vec![Some(own.associativity)],
            given => given.to_vec(),
        };
        for size_bytes in or_own(&config.cache_sizes, own.size_bytes) {
            for &ways in &ways {
                for block_size_bytes in or_own(&config.block_sizes, own.block_size_bytes) {
                    let full = size_bytes / block_size_bytes.max(1);
                    let associativity = ways.unwrap_or(full);
                    let cache = CacheShape { size_bytes, block_size_bytes, associativity };
                    for processors in self.processors.clone() {
                        self.push(config, (machine, protocol), (cache, processors, None))?;
                    }
                }
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        config: &BusConfig,
        (machine, protocol): (usize, &ProtocolSpec),
        (cache, processors, scheduler): (CacheShape, u16, Option<Dispatch>),
    ) -> Result<(), SimError> {
        let own = self.machines[machine].scheduler.policy;
        let block_size_bytes = cache.block_size_bytes;
        let instructions = self.machines[machine].instructions;
        if instructions.is_some() && config.fetches == Included::Exclude {
            let problem = format!(
                "machine {} has instruction caches of its own, and --fetches exclude would leave \
                 them empty: include fetches, or take a machine without cache.split",
                self.machines[machine].name
            );
            return Err(SimError::Config { problem });
        }
        let setup = Setup {
            processors,
            cache,
            // Blocks are of one size on one bus.
            instructions: instructions.map(|own| CacheShape { block_size_bytes, ..own }),
            private: config.private_ranges.iter().map(|&(low, high)| low..high).collect(),
            reading: Reading {
                private: config.private != Areas::Exclude,
                private_areas: config.private != Areas::Shared,
                synchronisation: config.sync == Synchronisation::Include,
                fetches: config.fetches == Included::Include,
                private_kernel: protocol.private_kernel,
            },
            rule: config.miss_rule,
            check: config.check,
        };
        setup.geometry()?;
        let block = BlockSize::new(block_size_bytes)?;
        self.points.push(Point {
            machine,
            protocol: protocol.text.clone(),
            scheduler: scheduler.or(config.scheduler).unwrap_or(own),
            cycles: self.machines[machine].cycles(block)?,
            table: protocol.table(),
            setup,
        });
        Ok(())
    }

    /// A kernel is made up where there is none, with a clock, and the same in all machines.
    fn check_kernel<T: TraceSource + ?Sized>(
        &self,
        config: &BusConfig,
        trace: &T,
    ) -> Result<(), SimError> {
        let fail = |problem| Err(SimError::Config { problem });
        if config.order == Order::Trace {
            return fail("the kernel model needs a clock: leave out --order trace".to_owned());
        }
        if !trace.metadata().processes.is_empty() {
            return fail(CAPTURED.to_owned());
        }
        let first = self.machines.first().and_then(|machine| machine.kernel);
        for machine in &self.machines {
            let name = &machine.name;
            if machine.kernel.is_none() {
                return fail(format!("machine {name} has no kernel model: it lacks [kernel]"));
            }
            if machine.kernel != first {
                return fail(format!(
                    "machine {name} has another kernel model: all machines of one run have the same"
                ));
            }
        }
        Ok(())
    }

    fn check_memory(&self) -> Result<(), SimError> {
        let bytes = |point: &Point| {
            let frames = |cache: CacheShape| cache.size_bytes / cache.block_size_bytes;
            let instructions = point.setup.instructions.map_or(0, frames);
            let each = frames(point.setup.cache) + instructions;
            each * FRAME_BYTES * u64::from(point.setup.processors)
        };
        if self.points.iter().map(bytes).sum::<u64>() <= MEMORY_MAX_BYTES {
            return Ok(());
        }
        let problem = "the caches of all configurations together would take more than 8 GiB: \
                       simulate fewer at a time, or smaller caches";
        Err(SimError::Config { problem: problem.to_owned() })
    }
}
