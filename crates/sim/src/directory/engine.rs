//! The engine of machines with a directory, with and without controllers.

use homenode_machine::MachineKind;
use homenode_trace::TraceReader;
use serde_json::Value;

use super::config::DirectoryConfig;
use super::outcome::DirectoryStudy;
use super::plan::DirectoryPlan;
use crate::engine::{Engine, EngineResult, configuration};
use crate::error::SimError;
use crate::live::{LiveRun, RunConfig};
use crate::pass::{Progress, TraceSource};
use crate::results::json;
use crate::schema::schema;
use crate::timed::{prepare_run, simulate};

/// Machines whose nodes each have a directory for their part of memory.
pub(crate) struct DirectoryMachines;

impl Engine for DirectoryMachines {
    fn name(&self) -> &'static str {
        "directory"
    }

    fn kinds(&self) -> &'static [MachineKind] {
        &[MachineKind::Directory, MachineKind::Controllers]
    }

    fn machines(&self) -> &'static str {
        "machines with a directory"
    }

    fn schema(&self) -> Value {
        schema::<DirectoryConfig>()
    }

    fn default_machine(&self) -> &'static str {
        "dash-mesh"
    }

    fn simulate(
        &self,
        config: &str,
        collect_uses: bool,
        trace: &TraceReader,
        progress: Progress<'_>,
    ) -> Result<EngineResult, SimError> {
        let config = DirectoryConfig { collect_uses, ..configuration(config)? };
        let mut study = simulate_directory(&config, trace, progress)?;
        let uses = std::mem::take(&mut study.uses);
        Ok(EngineResult { json: json(&study), uses })
    }

    fn prepare_run(&self, config: &str, run: &RunConfig) -> Result<Box<dyn LiveRun>, SimError> {
        prepare_run::<DirectoryPlan>(&configuration(config)?, run)
    }
}

/// Simulates every combination of machine, protocol, home, cache and number of nodes, in this
/// order. Where homes are chosen with hindsight, the trace is read twice.
///
/// # Errors
/// As [`Engine::simulate`].
pub fn simulate_directory<T: TraceSource + ?Sized>(
    config: &DirectoryConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<DirectoryStudy, SimError> {
    simulate::<DirectoryPlan, T>(config, trace, progress)
}
