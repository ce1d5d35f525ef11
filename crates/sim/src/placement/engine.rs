//! The engine of machines with prices.

use homenode_machine::MachineKind;

use super::config::SimConfig;
use super::run::run;
use crate::engine::{Engine, EngineResult, configuration};
use crate::results::json;
use crate::schema::schema;

/// Machines with prices of references, or of page-coherence events.
pub(crate) const ENGINE: Engine = Engine {
    name: "simulate",
    kinds: &[MachineKind::Placement, MachineKind::PageCoherence],
    machines: "machines with prices of references",
    default_machine: "spr-2s",
    columns: &[],
    schema: schema::<SimConfig>,
    simulate: |config, _, trace, progress| {
        let simulation = run(&configuration(config)?, trace, progress)?;
        Ok(EngineResult { json: json(&simulation), uses: Vec::new() })
    },
    prepare_run: None,
};
