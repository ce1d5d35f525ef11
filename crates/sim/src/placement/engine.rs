//! The engine of machines with prices.

use homenode_machine::MachineKind;
use homenode_trace::TraceReader;
use serde_json::Value;

use super::config::SimConfig;
use super::run::run;
use crate::engine::{Engine, EngineResult, configuration};
use crate::error::SimError;
use crate::pass::Progress;
use crate::results::json;
use crate::schema::schema;

/// Machines with prices of references, or of page-coherence events.
pub(crate) struct PricedMachines;

impl Engine for PricedMachines {
    fn name(&self) -> &'static str {
        "simulate"
    }

    fn kinds(&self) -> &'static [MachineKind] {
        &[MachineKind::Placement, MachineKind::PageCoherence]
    }

    fn machines(&self) -> &'static str {
        "machines with prices of references"
    }

    fn schema(&self) -> Value {
        schema::<SimConfig>()
    }

    fn default_machine(&self) -> &'static str {
        "spr-2s"
    }

    fn simulate(
        &self,
        config: &str,
        _: bool,
        trace: &TraceReader,
        progress: Progress<'_>,
    ) -> Result<EngineResult, SimError> {
        let simulation = run(&configuration(config)?, trace, progress)?;
        Ok(EngineResult { json: json(&simulation), uses: Vec::new() })
    }
}
