//! The engine of machines with caches on a bus or with links.

use homenode_machine::MachineKind;

use super::config::BusConfig;
use super::outcome::BusSimulation;
use super::plan::BusPlan;
use crate::engine::{Engine, EngineResult, configuration};
use crate::error::SimResult;
use crate::pass::{Progress, TraceSource};
use crate::results::json;
use crate::schema::schema;
use crate::timed::{prepare_run, simulate};

/// Machines whose processors have coherent caches on a bus or with links.
pub(crate) const ENGINE: Engine = Engine {
    name: "bus",
    kinds: &[MachineKind::Bus, MachineKind::Multicore],
    machines: "machines with caches",
    default_machine: "bus-smp",
    columns: &[],
    schema: schema::<BusConfig>,
    simulate: |config, _, trace, progress| {
        let study = simulate_bus(&configuration(config)?, trace, progress)?;
        Ok(EngineResult { json: json(&study), uses: Vec::new() })
    },
    prepare_run: Some(|config, run| prepare_run::<BusPlan>(&configuration(config)?, run)),
};

/// Simulates every combination of machine, protocol, cache size, associativity, block size and
/// number of processors, in this order.
///
/// # Errors
/// As [`Engine::simulate`].
pub fn simulate_bus(
    config: &BusConfig,
    trace: &dyn TraceSource,
    progress: Progress<'_>,
) -> SimResult<BusSimulation> {
    simulate::<BusPlan>(config, trace, progress)
}
