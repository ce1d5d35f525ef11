//! What is to be simulated, checked before the trace is read.

use homenode_base::ReferenceFilter;
use homenode_directory::{
    CoherenceTable, DemandCollection, DirectoryProtocol, DirectorySetup, DirectoryTable,
    DistanceCost, HomeCost, HomeSetup, HomeSpec, MessageCost, PageDemands, PageReplication,
};
use homenode_machine::{CacheShape, CachedMachine, DirectoryMachine, MachineKind, MemoryTopology};

use super::config::DirectoryConfig;
use crate::bus::ReferenceOrder;
use crate::caches::{cache_shapes, check_frames, frames, private_areas};
use crate::error::{SimError, nothing_given};
use crate::pass::{TraceSource, check_threads, processor_counts};
use crate::references::data;

/// A policy of replication as the user writes it, and what that means.
type NamedReplication = (String, PageReplication);

/// One combination.
pub(crate) struct PlannedDirectory {
    /// Position of the machine.
    pub(super) machine: usize,
    /// The protocol as the user writes it.
    pub(super) protocol: String,
    pub(crate) table: CoherenceTable,
    pub(crate) home: HomeSpec,
    /// When pages are copied, as the user writes it, and what that means.
    pub(super) replication: NamedReplication,
    pub(crate) setup: DirectorySetup,
    /// What parts of the machine take.
    pub(super) model: DirectoryMachine,
    cost: PlannedCost,
}

/// What fills and write-backs cost.
enum PlannedCost {
    Messages(MessageCost),
    Distance(Box<DistanceCost>),
}

/// All combinations.
pub(crate) struct DirectoryPlan {
    pub(crate) machines: Vec<CachedMachine>,
    pub(crate) points: Vec<PlannedDirectory>,
    /// Numbers of processors.
    pub(crate) nodes: Vec<u16>,
}

impl DirectoryPlan {
    /// The first combination.
    pub(crate) fn first(&self) -> Result<&PlannedDirectory, SimError> {
        self.points.first().ok_or_else(|| {
            let problem = "there is nothing to simulate".to_owned();
            SimError::Config { problem }
        })
    }

    pub(crate) fn new<T: TraceSource + ?Sized>(
        config: &DirectoryConfig,
        trace: &T,
    ) -> Result<Self, SimError> {
        check_threads(config.threads)?;
        for (what, none) in [
            ("machine", config.machines.is_empty()),
            ("protocol", config.protocols.is_empty()),
            ("home", config.homes.is_empty()),
            ("replication", config.replications.is_empty()),
        ] {
            if none {
                return Err(SimError::Config { problem: nothing_given(what) });
            }
        }
        let machines = config.machines.iter().map(|machine| CachedMachine::parse(machine));
        let nodes = processor_counts((config.processors, &config.scaling), trace)?;
        let mut plan =
            Self { machines: machines.collect::<Result<_, _>>()?, points: Vec::new(), nodes };
        for machine in 0..plan.machines.len() {
            plan.add(config, machine)?;
        }
        plan.check_memory()?;
        Ok(plan)
    }

    /// All combinations of one machine.
    fn add(&mut self, config: &DirectoryConfig, machine: usize) -> Result<(), SimError> {
        let found = &self.machines[machine];
        let Some(model) = found.directory() else {
            let (kind, wanted) = (found.kind(), MachineKind::Directory);
            let machine = found.name().to_owned();
            return Err(homenode_machine::MachineError::OtherKind { machine, kind, wanted }.into());
        };
        let mut model = *model;
        let asked_for = config.network_contention;
        model.network.contention = asked_for.unwrap_or(model.network.contention);
        let page_bytes = found.page_bytes;
        let asked = (&config.cache_sizes[..], &config.associativities[..], &config.block_sizes[..]);
        let shapes = cache_shapes(found.cache, asked);
        for protocol in &config.protocols {
            let protocol = DirectoryProtocol::parse(protocol)?;
            let table = protocol.table();
            check_topology(found, (&protocol.text, &table), config.order)?;
            if config.order == ReferenceOrder::Trace {
                block_table(&protocol)?;
            }
            for (home, replication) in choices(config, &protocol)? {
                for &cache in &shapes {
                    for &nodes in &self.nodes {
                        let setup = setup(config, (&protocol, cache), (nodes, page_bytes, &model))?;
                        setup.geometry()?;
                        let point = PlannedDirectory {
                            machine,
                            protocol: protocol.text.clone(),
                            table: table.clone(),
                            home: home.clone(),
                            replication: replication.clone(),
                            cost: cost(config.order, (model, &setup)),
                            setup,
                            model,
                        };
                        // A home that cannot be is found before the trace is read.
                        point.home.build(
                            &point.homes((config.seed, false), Some(&PageDemands::default())),
                        )?;
                        self.points.push(point);
                    }
                }
            }
        }
        Ok(())
    }

    fn check_memory(&self) -> Result<(), SimError> {
        let all =
            |point: &PlannedDirectory| frames(point.setup.cache) * u64::from(point.setup.nodes);
        check_frames(self.points.iter().map(all).sum())
    }
}

impl PlannedDirectory {
    /// What its homes may know.
    pub(crate) fn homes<'a>(
        &'a self,
        (seed, marks_init_done): (u64, bool),
        first_run: Option<&'a PageDemands>,
    ) -> HomeSetup<'a> {
        let cost: &dyn HomeCost = match &self.cost {
            PlannedCost::Messages(cost) => cost,
            PlannedCost::Distance(cost) => &**cost,
        };
        let nodes = self.memories();
        HomeSetup { nodes, seed, marks_init_done, first_run, cost }
    }

    /// How many memories there are, each of which can be the home of a page.
    pub(super) fn memories(&self) -> u16 {
        self.model.topology.memories(self.setup.nodes)
    }

    /// What a run in the order of the trace found, by memory.
    pub(super) fn by_memory(&self, demands: PageDemands) -> PageDemands {
        let (topology, nodes) = (self.model.topology, self.setup.nodes);
        demands.by_memory(|node| topology.memory_of(node, nodes))
    }
}

/// Checks what only machines have of which each node has a memory.
fn check_topology(
    machine: &CachedMachine,
    (protocol, table): (&str, &CoherenceTable),
    order: ReferenceOrder,
) -> Result<(), SimError> {
    let shared = machine.directory().is_some_and(|it| it.topology != MemoryTopology::PerProcessor);
    let name = machine.name();
    let problem = match (shared, order) {
        (true, ReferenceOrder::Trace) => format!(
            "--order trace: on {name} processors share memories, and what is counted without a \
             time are messages between nodes that have one each; say --order clock, or --machine \
             dash-mesh"
        ),
        (true, ReferenceOrder::Clock) if matches!(table, CoherenceTable::Pages(_)) => format!(
            "--protocol {protocol}: on {name} processors share memories, which hardware keeps \
             coherent; software does so for nodes with a memory each: say --machine dash-mesh"
        ),
        (_, ReferenceOrder::Clock) | (false, ReferenceOrder::Trace) => return Ok(()),
    };
    Err(SimError::Config { problem })
}

/// Where nothing has a time, messages are what fills cost.
fn cost(order: ReferenceOrder, (model, setup): (DirectoryMachine, &DirectorySetup)) -> PlannedCost {
    let bytes = setup.cache.block_size_bytes;
    match order {
        ReferenceOrder::Trace => PlannedCost::Messages(MessageCost),
        ReferenceOrder::Clock => {
            PlannedCost::Distance(Box::new(DistanceCost::new(model, setup.nodes, bytes)))
        }
    }
}

/// Every home with every replication, as far as the protocol has them.
fn choices(
    config: &DirectoryConfig,
    protocol: &DirectoryProtocol,
) -> Result<Vec<(HomeSpec, NamedReplication)>, SimError> {
    let mut choices = Vec::new();
    for home in &config.homes {
        let home = HomeSpec::parse(home)?;
        for text in &config.replications {
            let replication = PageReplication::parse(text)?;
            if replication != PageReplication::None
                && !matches!(protocol.table(), CoherenceTable::Pages(_))
            {
                let problem = format!(
                    "--replication {text}: {} keeps blocks coherent, not pages; say --protocol lrc",
                    protocol.entry.name
                );
                return Err(SimError::Config { problem });
            }
            choices.push((home.clone(), (text.clone(), replication)));
        }
    }
    Ok(choices)
}

/// The table of a protocol that the order of the trace can follow.
pub(super) fn block_table(protocol: &DirectoryProtocol) -> Result<DirectoryTable, SimError> {
    let why = match protocol.table() {
        CoherenceTable::Blocks(table) => return Ok(table),
        CoherenceTable::Pages(_) => {
            "it keeps pages coherent at acquires and releases, which do not happen in the order of \
             the trace"
        }
        CoherenceTable::Lists(_) => {
            "what its lists of copies and its proxies take depends on when messages arrive"
        }
    };
    let problem = format!("--protocol {} needs --order clock: {why}", protocol.entry.name);
    Err(SimError::Config { problem })
}

fn setup(
    config: &DirectoryConfig,
    (protocol, cache): (&DirectoryProtocol, CacheShape),
    (nodes, page_bytes, model): (u16, u64, &DirectoryMachine),
) -> Result<DirectorySetup, SimError> {
    Ok(DirectorySetup {
        nodes,
        cache,
        page_bytes,
        pointers: protocol.pointers,
        header_bytes: model.network.header_bytes,
        private: private_areas(&config.private_ranges)?,
        filter: ReferenceFilter { fetches: false, ..data(config.private, config.sync) },
        rule: config.miss_rule,
        check: config.check,
        collect_demands: DemandCollection::Off,
        collect_uses: config.collect_uses,
    })
}
