//! The engine of machines with a directory, with and without controllers.

use homenode_machine::MachineKind;

use super::config::DirectoryConfig;
use super::plan::DirectoryPlan;
use crate::engine::{Engine, EngineResult, configuration};
use crate::error::config_error;
use crate::pass::UpToMark;
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
        let mut study = match &config.measure_until {
            Some(mark) => {
                let part = UpToMark::find(trace, mark)?;
                simulate::<DirectoryPlan>(&config, &part, progress)?
            }
            None => simulate::<DirectoryPlan>(&config, trace, progress)?,
        };
        let uses = std::mem::take(&mut study.uses);
        Ok(EngineResult { json: json(&study), uses })
    },
    prepare_run: Some(|config, run| {
        let config: DirectoryConfig = configuration(config)?;
        if config.measure_until.is_some() {
            return Err(config_error(
                "--measure-until is for traces: record the program, or keep the trace of the run \
                 (--trace), and simulate that"
                    .to_owned(),
            ));
        }
        prepare_run::<DirectoryPlan>(&config, run)
    }),
};
