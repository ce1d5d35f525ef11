//! Nodes with a directory and homes of pages, as selected by the options. Protocols of blocks and
//! of pages share this machine.

use homenode_base::ReferenceFilter;
use homenode_directory::{
    DirectoryProtocol, DirectorySetup, DirectorySheet, HomePolicy, HomeSetup, HomeSpec, PageDemands,
};
use homenode_machine::{CachedMachine, ControllerMachine, DirectoryMachine, MachineKind};

use super::config::ExplainConfig;
use super::outcome::{DirectoryExplanation, ExplainedDirectoryMachine, ExplainedDirectoryProtocol};
use super::references::{BlockFilter, WalkedRows};
use super::subject::{ExplainSubject, WalkedSteps};
use crate::caches::private_areas;
use crate::error::{SimResult, config_error};
use crate::pass::{Progress, TraceSource};

const HOME: &str = "first-touch";
/// The homes of a first run that finds page use for other policies.
const FIRST_RUN_HOME: &str = "round-robin";
/// Seed of random homes.
const SEED: u64 = 1;

pub(super) trait WalkedModel: Copy {
    const MACHINE: &str;

    fn of(machine: &CachedMachine) -> Option<Self>;
    /// Bytes of a message in addition to the block.
    fn header_bytes(&self) -> u64;
}

impl WalkedModel for DirectoryMachine {
    const MACHINE: &str = "dash-mesh";

    fn of(machine: &CachedMachine) -> Option<Self> {
        machine.directory().copied()
    }

    fn header_bytes(&self) -> u64 {
        self.network.header_bytes
    }
}

impl WalkedModel for ControllerMachine {
    const MACHINE: &str = "alite";

    fn of(machine: &CachedMachine) -> Option<Self> {
        machine.controllers().copied()
    }

    fn header_bytes(&self) -> u64 {
        self.network.header_bytes
    }
}

pub(super) struct WalkRequest<'a> {
    pub(super) config: &'a ExplainConfig,
    pub(super) subject: ExplainSubject,
    pub(super) trace: Option<&'a dyn TraceSource>,
}

pub(super) struct WalkedNodes<M> {
    pub(super) machine: CachedMachine,
    pub(super) model: M,
    pub(super) setup: DirectorySetup,
    home: HomeSpec,
}

impl<M: WalkedModel> WalkedNodes<M> {
    pub(super) fn new(request: &WalkRequest<'_>) -> SimResult<Self> {
        let WalkRequest { config, subject, trace } = request;
        let trace = *trace;
        let machine = CachedMachine::parse(config.machine.as_deref().unwrap_or(M::MACHINE))?;
        let home = HomeSpec::parse(config.home.as_deref().unwrap_or(HOME))?;
        let Some(model) = M::of(&machine) else {
            if machine.directory().is_none() && machine.controllers().is_none() {
                return Err(machine.is_not(MachineKind::Directory).into());
            }
            let (name, named) = (machine.name(), config.protocols.join(", "));
            return Err(config_error(format!(
                "{named} is not for the nodes of {name}; say --machine {}",
                M::MACHINE
            )));
        };
        let (nodes, cache) =
            (subject.processors(config, trace)?, subject.cache(config, machine.cache));
        let setup = DirectorySetup {
            header_bytes: model.header_bytes(),
            private: private_areas(&config.private_ranges)?,
            filter: ReferenceFilter { fetches: false, ..ReferenceFilter::ALL },
            check: true,
            ..DirectorySetup::new(nodes, cache, machine.page_bytes)
        };
        setup.geometry()?;
        let nodes = Self { machine, model, setup, home };
        nodes.home.build(&nodes.home_setup(Some(&PageDemands::default())))?;
        Ok(nodes)
    }

    /// Walks through the same steps under protocols that can take these rows of a trace. `walk`
    /// gives the tables of one, and a walk through the steps.
    pub(super) fn explain<W>(
        &self,
        protocols: &[DirectoryProtocol],
        request: WalkRequest<'_>,
        rows: WalkedRows,
        progress: Progress<'_>,
        walk: impl Fn(&DirectoryProtocol, &WalkedSteps) -> SimResult<(DirectorySheet, W)>,
    ) -> SimResult<DirectoryExplanation<W>> {
        let (nodes, block) = (self.setup.nodes, self.setup.cache.block_size_bytes);
        let WalkRequest { config, subject, trace } = request;
        let filter = || BlockFilter::new(config, nodes, block, rows);
        let steps = subject.steps(filter, trace, progress)?;
        let mut explained = Vec::new();
        for protocol in protocols {
            let (table, walk) = walk(protocol, &steps)?;
            let (summary, source) = (protocol.entry.summary, protocol.entry.source);
            let name = protocol.text.clone();
            explained.push(ExplainedDirectoryProtocol { name, summary, source, table, walk });
        }
        Ok(DirectoryExplanation {
            machine: self.shown(),
            coherent: (rows == WalkedRows::Synchronised).then_some("pages"),
            example: steps.example,
            trace: steps.trace,
            protocols: explained,
        })
    }

    /// A walk with these homes; those with hindsight use the demands on pages that a first walk
    /// finds.
    pub(super) fn walk<W>(
        &self,
        walk: impl Fn(Box<dyn HomePolicy>) -> SimResult<(W, PageDemands)>,
    ) -> SimResult<W> {
        let mut homes = self.home_setup(None);
        let found;
        if self.home.entry().needs_first_run {
            found = walk(HomeSpec::parse(FIRST_RUN_HOME)?.build(&homes)?)?.1;
            homes = self.home_setup(Some(&found));
        }
        Ok(walk(self.home.build(&homes)?)?.0)
    }

    fn home_setup<'d>(&self, first_run: Option<&'d PageDemands>) -> HomeSetup<'d> {
        HomeSetup { seed: SEED, first_run, ..HomeSetup::new(self.setup.nodes) }
    }

    fn shown(&self) -> ExplainedDirectoryMachine {
        let (machine, setup) = (&self.machine, &self.setup);
        ExplainedDirectoryMachine {
            version: env!("CARGO_PKG_VERSION"),
            kind: MachineKind::Directory,
            machine: machine.name().to_owned(),
            processors: setup.nodes,
            cache_size: setup.cache.size_bytes,
            block_size: setup.cache.block_size_bytes,
            associativity: setup.cache.associativity,
            page_size: setup.page_bytes,
            header_bytes: setup.header_bytes,
            home: self.home.text.clone(),
        }
    }
}
