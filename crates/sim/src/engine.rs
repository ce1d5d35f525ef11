//! What an engine is: it simulates machines of some kinds, from a configuration and a trace.

use homenode_machine::MachineKind;
use homenode_trace::TraceReader;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{SimError, config_error};
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

/// Simulates machines of some kinds.
pub trait Engine: Sync {
    /// Its name, which is also that of its options ([`crate::study_schema`]).
    fn name(&self) -> &'static str;

    /// The kinds of its machines.
    fn kinds(&self) -> &'static [MachineKind];

    /// Its machines in a sentence: `machines with a directory`.
    fn machines(&self) -> &'static str;

    /// The JSON schema of its options.
    fn schema(&self) -> Value;

    /// The machine that it simulates unless another one is given.
    fn default_machine(&self) -> &'static str;

    /// The columns of its table; none if the command line has a table made for it.
    fn columns(&self) -> &'static [Column] {
        &[]
    }

    /// Simulates every combination of a configuration, which is JSON, in one pass over the trace.
    /// `collect_uses` collects the use of pages by nodes where pages have homes.
    ///
    /// # Errors
    /// When the configuration is invalid (found before the trace is read), the trace is damaged,
    /// or, with the option `check`, a protocol violates an invariant.
    fn simulate(
        &self,
        config: &str,
        collect_uses: bool,
        trace: &TraceReader,
        progress: Progress<'_>,
    ) -> Result<EngineResult, SimError>;

    /// Checks the configuration of a live program, and prepares its machine.
    ///
    /// # Errors
    /// When the configuration is invalid, or, by default, as the machines have no clock.
    fn prepare_run(&self, config: &str, run: &RunConfig) -> Result<Box<dyn LiveRun>, SimError> {
        let _ = (config, run);
        Err(config_error(format!(
            "{} have no clock: a program runs on machines such as bus-smp, spr-2s-lines, \
             dash-mesh or alite",
            self.machines()
        )))
    }
}

/// A configuration from JSON.
pub(crate) fn configuration<C: DeserializeOwned>(json: &str) -> Result<C, SimError> {
    serde_json::from_str(json)
        .map_err(|error| config_error(format!("the configuration cannot be read: {error}")))
}
