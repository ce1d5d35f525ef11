//! Nodes with a directory and the homes of pages, as the user asks for them: blocks and pages are
//! kept coherent on the same machine.

use homenode_base::ReferenceFilter;
use homenode_directory::{
    DemandCollection, DirectorySetup, HomePolicy, HomeSetup, HomeSpec, MessageCost, MissRule,
    PageDemands,
};
use homenode_machine::{
    CachedMachine, ControllerMachine, DirectoryMachine, MachineError, MachineKind,
};

use super::config::ExplainConfig;
use super::outcome::ExplainedDirectoryMachine;
use super::references::{BlockFilter, WalkedRows};
use super::subject::{ExplainSubject, WalkedSteps};
use crate::caches::private_areas;
use crate::error::{SimError, config_error};
use crate::pass::{Progress, TraceSource};

/// The homes unless the user names others.
const HOME: &str = "first-touch";
/// The homes of a first run, by which others are chosen.
const FIRST_RUN_HOME: &str = "round-robin";
/// What random homes begin with.
const SEED: u64 = 1;

/// What the nodes of a machine with a directory are made of.
pub(super) trait WalkedModel: Copy {
    /// The machine whose prices are used unless the user names another.
    const MACHINE: &str;

    /// That of a machine, if its nodes are such.
    fn of(machine: &CachedMachine) -> Option<Self>;
    /// Bytes of a message beside the block.
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

/// A machine with a directory, and the homes on it.
pub(super) struct WalkedNodes<M> {
    pub(super) machine: CachedMachine,
    /// Its directory and network.
    pub(super) model: M,
    pub(super) setup: DirectorySetup,
    home: HomeSpec,
}

impl<M: WalkedModel> WalkedNodes<M> {
    /// What the user asks for, checked before the trace is read.
    pub(super) fn new<T: TraceSource + ?Sized>(
        config: &ExplainConfig,
        (subject, trace): (&ExplainSubject, Option<&T>),
    ) -> Result<Self, SimError> {
        let machine = CachedMachine::parse(config.machine.as_deref().unwrap_or(M::MACHINE))?;
        let home = HomeSpec::parse(config.home.as_deref().unwrap_or(HOME))?;
        let Some(model) = M::of(&machine) else {
            let (kind, wanted) = (machine.kind(), MachineKind::Directory);
            let (name, named) = (machine.name().to_owned(), config.protocols.join(", "));
            return Err(if kind == wanted {
                let own = M::MACHINE;
                config_error(format!("{named} is not for the nodes of {name}; say --machine {own}"))
            } else {
                MachineError::OtherKind { machine: name, kind, wanted }.into()
            });
        };
        let setup = DirectorySetup {
            nodes: subject.processors(config, trace)?,
            cache: subject.cache(config, machine.cache),
            page_bytes: machine.page_bytes,
            pointers: None,
            header_bytes: model.header_bytes(),
            private: private_areas(&config.private_ranges)?,
            filter: ReferenceFilter { fetches: false, ..ReferenceFilter::ALL },
            rule: MissRule::Dubois,
            check: true,
            collect_demands: DemandCollection::Off,
            collect_uses: false,
        };
        setup.geometry()?;
        let nodes = Self { machine, model, setup, home };
        nodes.home.build(&nodes.home_setup(Some(&PageDemands::default())))?;
        Ok(nodes)
    }

    /// The steps to walk through, of an example or of those rows of a trace.
    pub(super) fn steps<T: TraceSource + ?Sized>(
        &self,
        (config, subject): (&ExplainConfig, ExplainSubject),
        rows: WalkedRows,
        source: (Option<&T>, Progress<'_>),
    ) -> Result<WalkedSteps, SimError> {
        let shape = (self.setup.nodes, self.setup.cache.block_size_bytes);
        subject.steps(|| BlockFilter::new(config, shape, rows), source)
    }

    /// The homes; those with hindsight know what a first run with other homes finds.
    pub(super) fn homes(
        &self,
        first_run: impl FnOnce(Box<dyn HomePolicy>) -> Result<PageDemands, SimError>,
    ) -> Result<Box<dyn HomePolicy>, SimError> {
        if !self.home.entry().needs_first_run {
            return Ok(self.home.build(&self.home_setup(None))?);
        }
        let first = HomeSpec::parse(FIRST_RUN_HOME)?.build(&self.home_setup(None))?;
        let demands = first_run(first)?;
        Ok(self.home.build(&self.home_setup(Some(&demands)))?)
    }

    fn home_setup<'d>(&self, first_run: Option<&'d PageDemands>) -> HomeSetup<'d> {
        HomeSetup {
            nodes: self.setup.nodes,
            seed: SEED,
            marks_init_done: false,
            first_run,
            cost: &MessageCost,
        }
    }

    /// The machine as it is printed.
    pub(super) fn shown(&self) -> ExplainedDirectoryMachine {
        let (machine, setup) = (&self.machine, &self.setup);
        ExplainedDirectoryMachine {
            version: env!("CARGO_PKG_VERSION"),
            kind: machine.kind(),
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
