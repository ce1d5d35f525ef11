//! The combinations to simulate, checked before the trace is read.

use homenode_base::ReferenceFilter;
use homenode_directory::{
    CoherenceTable, DemandCollection, DirectoryProtocol, DirectorySetup, DirectoryTable,
    DistanceCost, HomeCost, HomeSetup, HomeSpec, ListLatency, MessageCost, PageDemands,
    PageReplication,
};
use homenode_machine::{
    CacheShape, CachedMachine, ControllerMachine, DirectoryMachine, MachineKind, MemoryTopology,
};

use super::allocations::AllocatedMemory;
use super::config::DirectoryConfig;
use super::controllers::ControllerChoice;
use crate::caches::{cache_shapes, check_frames, frames, private_areas};
use crate::error::{SimResult, check_given, config_error};
use crate::pass::{TraceSource, check_threads, processor_counts};
use crate::references::data;
use crate::timed::ReferenceOrder;

/// A replication policy as the user writes it, and as the engine takes it.
type NamedReplication = (String, PageReplication);

pub(crate) struct PlannedDirectory {
    pub(super) machine: usize,
    /// The protocol as the user writes it.
    pub(super) protocol: String,
    pub(crate) table: CoherenceTable,
    pub(crate) home: HomeSpec,
    pub(super) replication: NamedReplication,
    pub(crate) setup: DirectorySetup,
    pub(crate) model: NodeModel,
    pub(super) choice: ControllerChoice,
    cost: PlannedCost,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeModel {
    /// Nodes that look up, access memory and send in parallel.
    Directory(DirectoryMachine),
    /// Nodes whose controller does one thing at a time.
    Controllers(ControllerMachine),
}

impl NodeModel {
    pub(super) fn topology(&self) -> MemoryTopology {
        match self {
            Self::Directory(model) => model.topology,
            Self::Controllers(_) => MemoryTopology::PerProcessor,
        }
    }

    fn header_bytes(&self) -> u64 {
        match self {
            Self::Directory(model) => model.network.header_bytes,
            Self::Controllers(model) => model.network.header_bytes,
        }
    }
}

/// Costs of fills and write-backs, for home policies.
enum PlannedCost {
    Messages(MessageCost),
    Distance(Box<DistanceCost>),
    Controllers(ListLatency),
}

pub(crate) struct DirectoryPlan {
    pub(crate) machines: Vec<CachedMachine>,
    pub(crate) points: Vec<PlannedDirectory>,
    pub(crate) nodes: Vec<u16>,
    pub(super) config: DirectoryConfig,
    pub(super) marks_init_done: bool,
    /// Allocations of the trace, if homes go by them.
    pub(super) allocations: Vec<AllocatedMemory>,
    /// Page use on the machines of points whose homes are chosen with hindsight.
    pub(super) first_runs: Vec<FirstRun>,
}

/// Page use on a machine, found by a run before the simulation.
pub(super) struct FirstRun {
    pub(super) setup: DirectorySetup,
    pub(super) demands: PageDemands,
}

impl DirectoryPlan {
    /// The first combination; all have the same filter and private areas.
    pub(crate) fn first(&self) -> SimResult<&PlannedDirectory> {
        self.points.first().ok_or_else(|| config_error("there is nothing to simulate"))
    }

    pub(super) fn checked(config: &DirectoryConfig, trace: &dyn TraceSource) -> SimResult<Self> {
        check_threads(config.threads)?;
        check_given(&[
            ("machine", config.machines.len()),
            ("home", config.homes.len()),
            ("replication", config.replications.len()),
            ("way of proxies", config.proxies.len()),
            ("buffer", config.buffers.len()),
        ])?;
        let machines = config.machines.iter().map(|machine| CachedMachine::parse(machine));
        let nodes = processor_counts(config.processors, &config.scaling, trace)?;
        let mut plan = Self {
            machines: machines.collect::<Result<_, _>>()?,
            points: Vec::new(),
            nodes,
            config: config.clone(),
            marks_init_done: false,
            allocations: Vec::new(),
            first_runs: Vec::new(),
        };
        for machine in 0..plan.machines.len() {
            plan.add(config, trace, machine)?;
        }
        plan.check_memory()?;
        Ok(plan)
    }

    fn add(
        &mut self,
        config: &DirectoryConfig,
        trace: &dyn TraceSource,
        machine: usize,
    ) -> SimResult<()> {
        let found = &self.machines[machine];
        let model = node_model(found, config)?;
        let controllers = match model {
            NodeModel::Controllers(_) => ControllerChoice::all(config, trace)?,
            NodeModel::Directory(_) => {
                ControllerChoice::refuse(config, found.name())?;
                vec![ControllerChoice::none()]
            }
        };
        let page_bytes = found.page_bytes;
        let DirectoryConfig { cache_sizes, associativities, block_sizes, .. } = config;
        let shapes = cache_shapes(found.cache, cache_sizes, associativities, block_sizes);
        let mut points = Vec::new();
        let usual = [match model {
            NodeModel::Directory(_) => "dash".to_owned(),
            NodeModel::Controllers(_) => "sdd".to_owned(),
        }];
        let protocols = if config.protocols.is_empty() { &usual[..] } else { &config.protocols };
        for protocol in protocols {
            let protocol = DirectoryProtocol::parse(protocol)?;
            let table = protocol.table();
            check_machine(found, &protocol.text, &table, config)?;
            for (home, replication) in choices(config, &protocol)? {
                for choice in &controllers {
                    for &cache in &shapes {
                        for &nodes in &self.nodes {
                            let setup = setup(config, &protocol, &model, page_bytes, cache, nodes)?;
                            setup.geometry()?;
                            choice.proxies.1.cache(cache.block_size_bytes)?;
                            points.push(PlannedDirectory {
                                machine,
                                protocol: protocol.text.clone(),
                                table: table.clone(),
                                home: home.clone(),
                                replication: replication.clone(),
                                choice: choice.clone(),
                                cost: cost(config.order, model, &setup),
                                setup,
                                model,
                            });
                        }
                    }
                }
            }
        }
        // An invalid home policy is found before the trace is read.
        for point in &points {
            let (demands, allocators) = (PageDemands::default(), point.allocators(&[]));
            let known = point.homes(config.seed, false, Some(&demands));
            point.home.build(&HomeSetup { allocators: Some(&allocators), ..known })?;
        }
        self.points.extend(points);
        Ok(())
    }

    fn check_memory(&self) -> SimResult<()> {
        let all = |point: &PlannedDirectory| {
            let of_node = frames(point.setup.cache) + point.proxy_frames();
            of_node * u64::from(point.setup.nodes)
        };
        check_frames(self.points.iter().map(all).sum())
    }
}

impl PlannedDirectory {
    pub(crate) fn homes<'a>(
        &'a self,
        seed: u64,
        marks_init_done: bool,
        first_run: Option<&'a PageDemands>,
    ) -> HomeSetup<'a> {
        let cost: &dyn HomeCost = match &self.cost {
            PlannedCost::Messages(cost) => cost,
            PlannedCost::Distance(cost) => &**cost,
            PlannedCost::Controllers(cost) => cost,
        };
        let nodes = self.memories();
        HomeSetup { nodes, seed, marks_init_done, first_run, allocators: None, cost }
    }

    /// Cache frames of a node for copies that proxies alone use.
    fn proxy_frames(&self) -> u64 {
        let cache = self.choice.proxies.1.cache(self.setup.cache.block_size_bytes);
        cache.ok().flatten().map_or(0, |geometry| geometry.sets as u64)
    }

    pub(super) fn memories(&self) -> u16 {
        self.model.topology().memories(self.setup.nodes)
    }

    pub(super) fn by_memory(&self, demands: PageDemands) -> PageDemands {
        let (topology, nodes) = (self.model.topology(), self.setup.nodes);
        demands.by_memory(|node| topology.memory_of(node, nodes))
    }
}

fn node_model(machine: &CachedMachine, config: &DirectoryConfig) -> SimResult<NodeModel> {
    if let Some(&model) = machine.controllers() {
        return Ok(NodeModel::Controllers(model));
    }
    let Some(&model) = machine.directory() else {
        return Err(machine.is_not(MachineKind::Directory).into());
    };
    let mut model = model;
    let asked_for = config.network_contention;
    model.network.contention = asked_for.unwrap_or(model.network.contention);
    Ok(NodeModel::Directory(model))
}

/// Checks options that require controllers, or a memory at each node.
fn check_machine(
    machine: &CachedMachine,
    protocol: &str,
    table: &CoherenceTable,
    config: &DirectoryConfig,
) -> SimResult<()> {
    let (controllers, name) = (machine.controllers().is_some(), machine.name());
    Err(config_error(match (controllers, matches!(table, CoherenceTable::Linked(_))) {
        (true, false) => format!(
            "--protocol {protocol}: the nodes of {name} have controllers that keep lists of \
             copies; say --protocol sdd, or --machine dash-mesh"
        ),
        (false, true) => format!(
            "--protocol {protocol}: the nodes of {name} have no controllers that could keep lists \
             of copies; say --machine alite"
        ),
        (true, true) if config.network_contention.is_some() => format!(
            "--network-contention: on {name} messages always contend where they leave and enter a \
             node"
        ),
        _ if config.order == ReferenceOrder::Trace => {
            block_table_of(protocol, table)?;
            return check_topology(machine, protocol, table, config.order);
        }
        _ => return check_topology(machine, protocol, table, config.order),
    }))
}

/// Checks options that require a memory at each node.
fn check_topology(
    machine: &CachedMachine,
    protocol: &str,
    table: &CoherenceTable,
    order: ReferenceOrder,
) -> SimResult<()> {
    let shared = machine.directory().is_some_and(|it| it.topology != MemoryTopology::PerProcessor);
    let name = machine.name();
    Err(config_error(match (shared, order) {
        (true, ReferenceOrder::Trace) => format!(
            "--order trace: on {name} processors share memories, and without a clock only messages \
             between nodes with a memory each are counted; say --order clock, or --machine \
             dash-mesh"
        ),
        (true, ReferenceOrder::Clock) if matches!(table, CoherenceTable::Pages(_)) => format!(
            "--protocol {protocol}: on {name} processors share memories, which hardware keeps \
             coherent; software does so for nodes with a memory each: say --machine dash-mesh"
        ),
        (_, ReferenceOrder::Clock) | (false, ReferenceOrder::Trace) => return Ok(()),
    }))
}

/// Costs of fills and write-backs; without a clock the number of messages.
fn cost(order: ReferenceOrder, model: NodeModel, setup: &DirectorySetup) -> PlannedCost {
    let bytes = setup.cache.block_size_bytes;
    match (order, model) {
        (ReferenceOrder::Trace, _) => PlannedCost::Messages(MessageCost),
        (ReferenceOrder::Clock, NodeModel::Directory(model)) => {
            PlannedCost::Distance(Box::new(DistanceCost::new(model, setup.nodes, bytes)))
        }
        (ReferenceOrder::Clock, NodeModel::Controllers(model)) => {
            PlannedCost::Controllers(ListLatency::new(model))
        }
    }
}

fn choices(
    config: &DirectoryConfig,
    protocol: &DirectoryProtocol,
) -> SimResult<Vec<(HomeSpec, NamedReplication)>> {
    let mut choices = Vec::new();
    for home in &config.homes {
        let home = HomeSpec::parse(home)?;
        for text in &config.replications {
            let replication = PageReplication::parse(text)?;
            let pages = matches!(protocol.table(), CoherenceTable::Pages(_));
            if replication != PageReplication::None && !pages {
                return Err(config_error(format!(
                    "--replication {text}: {} keeps blocks coherent, not pages; say --protocol lrc",
                    protocol.entry.name
                )));
            }
            choices.push((home.clone(), (text.clone(), replication)));
        }
    }
    Ok(choices)
}

fn block_table_of(name: &str, table: &CoherenceTable) -> SimResult<DirectoryTable> {
    let why = match table {
        CoherenceTable::Blocks(table) => return Ok(table.clone()),
        CoherenceTable::Pages(_) => {
            "it keeps pages coherent at acquires and releases, which the order of the trace does \
             not simulate"
        }
        CoherenceTable::Linked(_) => {
            "positions in a list depend on the order of messages, which the order of the trace \
             does not determine"
        }
    };
    Err(config_error(format!("--protocol {name} needs --order clock: {why}")))
}

fn setup(
    config: &DirectoryConfig,
    protocol: &DirectoryProtocol,
    model: &NodeModel,
    page_bytes: u64,
    cache: CacheShape,
    nodes: u16,
) -> SimResult<DirectorySetup> {
    Ok(DirectorySetup {
        nodes,
        cache,
        page_bytes,
        pointers: protocol.pointers,
        header_bytes: model.header_bytes(),
        private: private_areas(&config.private_ranges)?,
        filter: ReferenceFilter { fetches: false, ..data(config.private, config.sync) },
        rule: config.miss_rule,
        check: config.check,
        collect_demands: DemandCollection::Off,
        collect_uses: config.collect_uses,
    })
}
