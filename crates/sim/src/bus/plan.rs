//! The combinations to simulate, checked before the trace is read.

use std::ops::Range;

use homenode_base::{BlockSize, ReferenceFilter};
use homenode_machine::{BusCycles, CacheShape, CachedMachine, Dispatch, KernelModel, MachineKind};
use homenode_snoop::{BusSetup, ProtocolSpec, ProtocolTable, TABLE};

use super::config::{AddressSpace, BusConfig, USUAL_PROTOCOL};
use crate::caches::{cache_shapes, check_frames, frames, private_areas, resized};
use crate::error::{SimResult, check_given, config_error};
use crate::pass::{TraceSource, check_threads, processor_counts, processors};
use crate::references::data;
use crate::timed::ReferenceOrder;

pub(super) const CAPTURED: &str = "the trace has the kernel's references already: leave out \
                                   --kernel-model";

pub(crate) struct PlannedPoint {
    pub(super) machine: usize,
    /// The protocol as the user writes it.
    pub(super) protocol: String,
    pub(super) scheduler: Dispatch,
    pub(crate) setup: BusSetup,
    pub(super) table: ProtocolTable,
    /// Cycles of transactions; `None` without a bus.
    pub(super) cycles: Option<BusCycles>,
}

struct PointChoice<'a> {
    machine: usize,
    protocol: &'a ProtocolSpec,
    cache: CacheShape,
    processors: u16,
    scheduler: Option<Dispatch>,
}

pub(crate) struct BusPlan {
    pub(crate) machines: Vec<CachedMachine>,
    pub(crate) points: Vec<PlannedPoint>,
    pub(crate) processors: Vec<u16>,
    /// Whether addresses of the trace are mapped to frames of memory.
    pub(super) translates: bool,
    pub(super) config: BusConfig,
    private_areas: Vec<Range<u64>>,
}

impl BusPlan {
    pub(super) fn checked(config: &BusConfig, trace: &dyn TraceSource) -> SimResult<Self> {
        check_threads(config.threads)?;
        let mut plan = Self {
            config: config.clone(),
            machines: Vec::new(),
            points: Vec::new(),
            processors: Vec::new(),
            translates: false,
            private_areas: private_areas(&config.private_ranges)?,
        };
        if config.points.is_empty() {
            plan.combine(config, trace)?;
        } else {
            plan.select(config, trace)?;
        }
        plan.check_kinds()?;
        plan.translates = plan.translates_addresses(config, trace);
        plan.check_memory()?;
        if config.order == ReferenceOrder::Clock {
            plan.check_pages()?;
        }
        if config.kernel_model {
            plan.check_kernel(config, trace)?;
        }
        Ok(plan)
    }

    fn combine(&mut self, config: &BusConfig, trace: &dyn TraceSource) -> SimResult<()> {
        check_given(&[("machine", config.machines.len())])?;
        let machines = config.machines.iter().map(|machine| CachedMachine::parse(machine));
        self.machines = machines.collect::<Result<_, _>>()?;
        self.processors = processor_counts(config.processors, &config.scaling, trace)?;
        for machine in 0..self.machines.len() {
            let all: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
            let given: Vec<&str> = config.protocols.iter().map(String::as_str).collect();
            let protocols = match (given.is_empty(), self.machines[machine].bus()) {
                (false, _) => given,
                (true, Some(_)) => all,
                (true, None) => vec![USUAL_PROTOCOL],
            };
            for protocol in protocols {
                self.add(config, machine, &ProtocolSpec::parse(protocol)?)?;
            }
        }
        Ok(())
    }

    fn select(&mut self, config: &BusConfig, trace: &dyn TraceSource) -> SimResult<()> {
        let mut named: Vec<&str> = Vec::new();
        for point in &config.points {
            let known = named.iter().position(|&name| name == point.machine);
            let machine = known.unwrap_or(named.len());
            if known.is_none() {
                named.push(&point.machine);
                self.machines.push(CachedMachine::parse(&point.machine)?);
            }
            let own = self.machines[machine].cache;
            let cache = resized(own, point.cache_size, point.associativity, point.block_size);
            let protocol = ProtocolSpec::parse(&point.protocol)?;
            let requested = point.processors.or(config.processors);
            let processors = processors(requested, trace)?;
            self.processors.push(processors);
            let scheduler = point.scheduler;
            let protocol = &protocol;
            self.push(config, PointChoice { machine, protocol, cache, processors, scheduler })?;
        }
        self.processors.sort_unstable();
        self.processors.dedup();
        Ok(())
    }

    fn add(
        &mut self,
        config: &BusConfig,
        machine: usize,
        protocol: &ProtocolSpec,
    ) -> SimResult<()> {
        let own = self.machines[machine].cache;
        let BusConfig { cache_sizes, associativities, block_sizes, .. } = config;
        for cache in cache_shapes(own, cache_sizes, associativities, block_sizes) {
            for processors in self.processors.clone() {
                self.push(
                    config,
                    PointChoice { machine, protocol, cache, processors, scheduler: None },
                )?;
            }
        }
        Ok(())
    }

    fn push(&mut self, config: &BusConfig, choice: PointChoice<'_>) -> SimResult<()> {
        let PointChoice { machine, protocol, cache, processors, scheduler } = choice;
        let own = self.machines[machine].scheduler.policy;
        let block_size_bytes = cache.block_size_bytes;
        let instructions = self.machines[machine].instructions;
        if instructions.is_some() && !config.fetches.counts() {
            return Err(config_error(format!(
                "machine {} has instruction caches of its own, and --fetches exclude would leave \
                 them empty: say --fetches include, or take a --machine without cache.split",
                self.machines[machine].name()
            )));
        }
        let setup = BusSetup {
            processors,
            cache,
            // All caches on a bus have one block size.
            instructions: instructions.map(|own| CacheShape { block_size_bytes, ..own }),
            private: self.private_areas.clone(),
            filter: ReferenceFilter {
                fetches: config.fetches.counts(),
                ..data(config.private, config.sync)
            },
            private_kernel: protocol.private_kernel,
            rule: config.miss_rule,
            check: config.check,
        };
        setup.geometry()?;
        let block = BlockSize::new(block_size_bytes)?;
        self.points.push(PlannedPoint {
            machine,
            protocol: protocol.text.clone(),
            scheduler: scheduler.or(config.scheduler).unwrap_or(own),
            cycles: self.machines[machine].cycles(block)?,
            table: protocol.table(),
            setup,
        });
        Ok(())
    }

    /// Checks that all machines have a bus or none has: addresses are those of frames on a bus, and
    /// those of the trace with links. Machines with a directory are rejected.
    fn check_kinds(&self) -> SimResult<()> {
        if let Some(machine) = self.machines.iter().find(|machine| machine.directory().is_some()) {
            return Err(machine.is_not(MachineKind::Bus).into());
        }
        let on_bus = self.machines.iter().filter(|machine| machine.bus().is_some()).count();
        if on_bus == 0 || on_bus == self.machines.len() {
            return Ok(());
        }
        Err(config_error(
            "--machine: machines with a bus and machines with links cannot be combined in one run: \
             simulate one kind at a time",
        ))
    }

    pub(super) fn has_links(&self) -> bool {
        self.machines.iter().any(|machine| machine.bus().is_none())
    }

    /// With links addresses are not translated, because waits are reported for the program's data.
    fn translates_addresses(&self, config: &BusConfig, trace: &dyn TraceSource) -> bool {
        match config.addresses {
            AddressSpace::Auto => !self.has_links() && trace.metadata().processes.is_empty(),
            AddressSpace::Pages => true,
            AddressSpace::Trace => false,
        }
    }

    /// Checks that all machines have one page size, and that blocks fit into a page.
    fn check_pages(&self) -> SimResult<()> {
        let page = self.machines.first().map_or(0, |machine| machine.page_bytes);
        let fail = |problem: String| Err(config_error(problem));
        for machine in &self.machines {
            if machine.page_bytes != page || !page.is_power_of_two() {
                let (name, bytes) = (machine.name(), machine.page_bytes);
                return fail(format!(
                    "--machine {name} has pages of {bytes} bytes: expected a power of two, and the \
                     same of all machines of one run"
                ));
            }
        }
        let largest = self.points.iter().map(|point| point.setup.cache.block_size_bytes).max();
        match largest.filter(|&block| block > page) {
            Some(block) => fail(format!(
                "blocks of {block} bytes do not fit into pages of {page}; choose a smaller \
                 --block-size"
            )),
            None => Ok(()),
        }
    }

    /// Checks that the kernel model is used with a clock, on a trace without kernel references, and
    /// that all machines have the same one.
    fn check_kernel(&self, config: &BusConfig, trace: &dyn TraceSource) -> SimResult<()> {
        let fail = |problem: String| Err(config_error(problem));
        if config.order == ReferenceOrder::Trace {
            return fail("--kernel-model needs a clock: leave out --order trace".to_owned());
        }
        if !trace.metadata().processes.is_empty() {
            return fail(CAPTURED.to_owned());
        }
        let first = self.machines.first().and_then(|machine| machine.kernel);
        for machine in &self.machines {
            let name = machine.name();
            if machine.kernel.is_none() {
                return fail(format!(
                    "--kernel-model: machine {name} has none, as it lacks [kernel]; choose another \
                     --machine"
                ));
            }
            if machine.kernel != first {
                return fail(format!(
                    "--kernel-model: machine {name} has another one: all machines of one run have \
                     the same; simulate them one at a time"
                ));
            }
        }
        Ok(())
    }

    pub(super) fn kernel_model(&self) -> Option<KernelModel> {
        let model = self.machines.first().and_then(|machine| machine.kernel);
        model.filter(|_| self.config.kernel_model)
    }

    fn check_memory(&self) -> SimResult<()> {
        let all = |point: &PlannedPoint| {
            let instructions = point.setup.instructions.map_or(0, frames);
            (frames(point.setup.cache) + instructions) * u64::from(point.setup.processors)
        };
        check_frames(self.points.iter().map(all).sum())
    }
}
