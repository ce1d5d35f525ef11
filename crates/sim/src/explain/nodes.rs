//! Nodes with a directory and the homes of pages, as the user asks for them: blocks and pages are
//! kept coherent on the same machine.

use homenode_base::ReferenceFilter;
use homenode_directory::{
    DemandCollection, DirectorySetup, HomePolicy, HomeSetup, HomeSpec, MessageCost, MissRule,
    PageDemands,
};
use homenode_machine::{CachedMachine, DirectoryMachine, MachineError, MachineKind};

use super::config::ExplainConfig;
use super::outcome::ExplainedDirectoryMachine;
use super::subject::ExplainSubject;
use crate::caches::private_areas;
use crate::error::SimError;
use crate::pass::TraceSource;

/// The machine whose prices are used unless the user names another.
const MACHINE: &str = "dash-mesh";
/// The homes unless the user names others.
const HOME: &str = "first-touch";
/// The homes of a first run, by which others are chosen.
const FIRST_RUN_HOME: &str = "round-robin";
/// What random homes begin with.
const SEED: u64 = 1;

/// A machine with a directory, and the homes on it.
pub(super) struct WalkedNodes {
    pub(super) machine: CachedMachine,
    /// Its directory and network.
    pub(super) model: DirectoryMachine,
    pub(super) setup: DirectorySetup,
    home: HomeSpec,
}

impl WalkedNodes {
    /// What the user asks for, checked before the trace is read.
    pub(super) fn new<T: TraceSource + ?Sized>(
        config: &ExplainConfig,
        (subject, trace): (&ExplainSubject, Option<&T>),
    ) -> Result<Self, SimError> {
        let machine = CachedMachine::parse(config.machine.as_deref().unwrap_or(MACHINE))?;
        let home = HomeSpec::parse(config.home.as_deref().unwrap_or(HOME))?;
        let Some(&model) = machine.directory() else {
            let (kind, wanted) = (machine.kind(), MachineKind::Directory);
            let machine = machine.name().to_owned();
            return Err(MachineError::OtherKind { machine, kind, wanted }.into());
        };
        let setup = DirectorySetup {
            nodes: subject.processors(config, trace)?,
            cache: subject.cache(config, machine.cache),
            page_bytes: machine.page_bytes,
            pointers: None,
            header_bytes: model.network.header_bytes,
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
