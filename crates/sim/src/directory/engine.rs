//! The engine of machines with a directory, with and without controllers.

use homenode_machine::MachineKind;

use super::config::DirectoryConfig;
use super::plan::DirectoryPlan;
use crate::engine::{Engine, EngineResult, configuration};
use crate::results::json;
use crate::schema::schema;
use crate::timed::{prepare_run, simulate};

/// Machines whose nodes each have a directory for their part of memory. Combinations are in order
/// of machine, protocol, home, cache and number of nodes. Where homes are chosen with hindsight,
/// the trace is read twice.
pub(crate) const ENGINE: Engine = Engine {
    name: "directory",
    kinds: &[MachineKind::Directory, MachineKind::Controllers],
    machines: "machines with a directory",
    default_machine: "dash-mesh",
    columns: &[],
    schema: schema::<DirectoryConfig>,
    simulate: |config, collect_uses, trace, progress| {
        let config = DirectoryConfig { collect_uses, ..configuration(config)? };
        let mut study = simulate::<DirectoryPlan>(&config, trace, progress)?;
        let uses = std::mem::take(&mut study.uses);
        Ok(EngineResult { json: json(&study), uses })
    },
    prepare_run: Some(|config, run| prepare_run::<DirectoryPlan>(&configuration(config)?, run)),
};
