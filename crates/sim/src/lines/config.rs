//! Options of `lines`.

use homenode_machine::{CachedMachine, NetworkContention};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bus::{BusConfig, Contention};
use crate::directory::{DirectoryConfig, PageMapping};
use crate::error::{SimResult, config_error};
use crate::references::{Inclusion, PrivateReferences};

/// Options of a simulation that reports where processors wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LineConfig {
    /// The machine: one with cores and caches (`homenode list machines`), or a TOML file.
    #[schemars(extend("x-flag" = "--machine"))]
    pub machine: String,
    /// The coherence protocol (`homenode list protocols`).
    #[schemars(extend("x-default" = "mesi; dash with a directory"))]
    pub protocol: Option<String>,
    /// Home policy of pages on a machine with a directory (`homenode list homes`).
    #[schemars(extend("x-default" = "first-touch"))]
    pub home: Option<String>,
    /// Processors; thread i runs on processor i modulo this number.
    #[schemars(range(min = 1), extend("x-default" = "the trace's threads"))]
    pub processors: Option<u16>,
    /// Bytes in a line.
    #[schemars(range(min = 1), extend("x-default" = "the machine's"))]
    pub block_size: Option<u64>,
    /// How to treat references that the trace flags as private.
    pub private: PrivateReferences,
    /// How to treat references to synchronisation variables; a cache treats a lock like any other
    /// word.
    pub sync: Inclusion,
    /// Contention at memories and between sockets.
    #[schemars(extend("x-default" = "the machine's"))]
    pub contention: Option<Contention>,
    /// How many objects to list.
    #[schemars(range(min = 0), extend("x-flag" = "--top"))]
    pub count: usize,
    /// Cores to use; the result does not depend on it.
    #[schemars(range(min = 1), extend("x-default" = "all"))]
    pub threads: Option<usize>,
}

impl Default for LineConfig {
    fn default() -> Self {
        Self {
            machine: "spr-2s-lines".to_owned(),
            protocol: None,
            home: None,
            processors: None,
            block_size: None,
            private: PrivateReferences::default(),
            sync: Inclusion::Include,
            contention: None,
            count: 20,
            threads: None,
        }
    }
}

impl LineConfig {
    pub(super) fn simulation(&self, protocol: &str) -> BusConfig {
        BusConfig {
            machines: vec![self.machine.clone()],
            protocols: vec![protocol.to_owned()],
            block_sizes: self.block_size.into_iter().collect(),
            processors: self.processors,
            private: self.private,
            sync: self.sync,
            fetches: Inclusion::Exclude,
            contention: self.contention,
            threads: self.threads,
            ..BusConfig::default()
        }
    }

    pub(super) fn directory(&self, protocol: &str, home: &str) -> DirectoryConfig {
        let contention = |requested| match requested {
            Contention::Modelled => NetworkContention::Links,
            Contention::None => NetworkContention::None,
        };
        DirectoryConfig {
            machines: vec![self.machine.clone()],
            protocols: vec![protocol.to_owned()],
            homes: vec![home.to_owned()],
            block_sizes: self.block_size.into_iter().collect(),
            processors: self.processors,
            private: self.private,
            sync: self.sync,
            network_contention: self.contention.map(contention),
            threads: self.threads,
            // Mapping a page is not waiting for a line.
            page_mapping: PageMapping::Free,
            ..DirectoryConfig::default()
        }
    }

    pub(super) fn protocol_for(&self, machine: &CachedMachine) -> String {
        let usual = if machine.directory().is_some() { "dash" } else { "mesi" };
        self.protocol.clone().unwrap_or_else(|| usual.to_owned())
    }

    pub(super) fn home_for(&self, machine: &CachedMachine) -> SimResult<Option<String>> {
        match (&self.home, machine.directory()) {
            (None, None) => Ok(None),
            (home, Some(_)) => Ok(Some(home.clone().unwrap_or_else(|| "first-touch".to_owned()))),
            (Some(home), None) => Err(config_error(format!(
                "--home {home}: on {} each page is where it is fetched first; homes are for \
                     machines with a directory (homenode list machines)",
                machine.name()
            ))),
        }
    }
}
