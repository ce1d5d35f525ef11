//! The engine of machines with caches on a bus or with links.

use homenode_machine::MachineKind;
use homenode_trace::TraceReader;
use serde_json::Value;

use super::config::BusConfig;
use super::outcome::BusSimulation;
use super::plan::BusPlan;
use crate::engine::{Engine, EngineResult, configuration};
use crate::error::SimError;
use crate::live::{LiveRun, RunConfig};
use crate::pass::{Progress, TraceSource};
use crate::results::json;
use crate::schema::schema;
use crate::timed::{prepare_run, simulate};

/// Machines whose processors have coherent caches on a bus or with links.
pub(crate) struct CachedMachines;

impl Engine for CachedMachines {
    fn name(&self) -> &'static str {
        "bus"
    }

    fn kinds(&self) -> &'static [MachineKind] {
        &[MachineKind::Bus, MachineKind::Multicore]
    }

    fn machines(&self) -> &'static str {
        "machines with caches"
    }

    fn schema(&self) -> Value {
        schema::<BusConfig>()
    }

    fn default_machine(&self) -> &'static str {
        "bus-smp"
    }

    fn simulate(
        &self,
        config: &str,
        _: bool,
        trace: &TraceReader,
        progress: Progress<'_>,
    ) -> Result<EngineResult, SimError> {
        let study = simulate_bus(&configuration(config)?, trace, progress)?;
        Ok(EngineResult { json: json(&study), uses: Vec::new() })
    }

    fn prepare_run(&self, config: &str, run: &RunConfig) -> Result<Box<dyn LiveRun>, SimError> {
        prepare_run::<BusPlan>(&configuration(config)?, run)
    }
}

/// Simulates every combination of machine, protocol, cache size, associativity, block size and
/// number of processors, in this order.
///
/// # Errors
/// As [`Engine::simulate`].
pub fn simulate_bus<T: TraceSource + ?Sized>(
    config: &BusConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<BusSimulation, SimError> {
    simulate::<BusPlan, T>(config, trace, progress)
}
