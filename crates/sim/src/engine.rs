//! What an engine is: it simulates machines of some kinds, from a configuration and a trace.

use homenode_machine::MachineKind;
use homenode_trace::TraceReader;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{SimResult, config_error};
use crate::live::{LiveRun, RunConfig};
use crate::page_use::PageUseColumns;
use crate::pass::Progress;

/// The results of a simulation.
#[derive(Debug, Default)]
pub struct EngineResult {
    /// Outcomes and their provenance: `{"outcomes": [...], "provenance": {...}}`.
    pub json: String,
    /// Page use, one for each outcome; empty unless collected.
    pub uses: Vec<PageUseColumns>,
}

/// A column of the table that the command line prints for an engine without a table of its own.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its heading.
    pub heading: &'static str,
    /// The field of an outcome.
    pub field: &'static str,
}

/// Simulates the combinations of a configuration; see [`Engine::simulate`].
pub type Simulate = fn(&str, bool, &TraceReader, Progress<'_>) -> SimResult<EngineResult>;

pub(crate) type PrepareRun = fn(&str, &RunConfig) -> SimResult<Box<dyn LiveRun>>;

/// Simulates machines of some kinds.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Its name, which is also that of its options ([`crate::study_schema`]).
    pub name: &'static str,
    /// The kinds of its machines.
    pub kinds: &'static [MachineKind],
    /// Its machines in words: `machines with a directory`.
    pub machines: &'static str,
    /// The machine that it simulates unless another one is given.
    pub default_machine: &'static str,
    /// The columns of its table; none if the command line has a table made for it.
    pub columns: &'static [Column],
    /// The JSON schema of its options.
    pub schema: fn() -> Value,
    /// Simulates every combination of a configuration, which is JSON, in one pass over the trace.
    /// The second argument says whether the use of pages by nodes is collected where pages have
    /// homes. Fails when the configuration is invalid (found before the trace is read), the trace
    /// is damaged, or, with the option `check`, a protocol violates an invariant.
    pub simulate: Simulate,
    pub(crate) prepare_run: Option<PrepareRun>,
}

impl Engine {
    /// Checks the configuration of a live program, and prepares its machine.
    ///
    /// # Errors
    /// When the configuration is invalid, or the machines have no clock.
    pub fn prepare_run(&self, config: &str, run: &RunConfig) -> SimResult<Box<dyn LiveRun>> {
        match self.prepare_run {
            Some(prepare) => prepare(config, run),
            None => Err(config_error(format!(
                "{} have no clock: a program runs on machines such as bus-smp, spr-2s-lines, \
                 dash-mesh or alite",
                self.machines
            ))),
        }
    }
}

pub(crate) fn configuration<C: DeserializeOwned>(json: &str) -> SimResult<C> {
    serde_json::from_str(json)
        .map_err(|error| config_error(format!("the configuration cannot be read: {error}")))
}
