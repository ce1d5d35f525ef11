//! One pass over the trace for all configurations.

use super::clock::PointResult;
use super::config::{BusConfig, ReferenceOrder};
use super::outcome::{BusSimulation, assemble};
use super::plan::BusPlan;
use super::{clock, trace_order};
use crate::error::SimError;
use crate::pass::{Progress, TraceSource, WithUserAreas, thread_pool};

/// Simulates every combination of machine, protocol, cache size, associativity, block size and
/// number of processors, in this order. The trace is decoded once for all of them.
///
/// When the configuration is invalid (found before the trace is read), the trace is damaged, or,
/// with [`BusConfig::check`], a protocol violates an invariant.
pub fn simulate_bus<T: TraceSource + ?Sized>(
    config: &BusConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<BusSimulation, SimError> {
    let plan = BusPlan::new(config, trace)?;
    let pool = thread_pool(config.threads)?;
    let by_process = config.order == ReferenceOrder::Clock && plan.translates(config, trace);
    let flagged = WithUserAreas::of(&pool, trace, by_process)?;
    let (results, notes) = match config.order {
        ReferenceOrder::Trace => {
            let counts = trace_order::count(&plan, &flagged, &pool, progress)?;
            let results = counts.into_iter().map(|counts| PointResult {
                counts,
                time: None,
                bus_busy: None,
                waits: None,
            });
            (results.collect(), Vec::new())
        }
        ReferenceOrder::Clock => clock::simulate(&plan, config, &flagged, &pool, progress)?,
    };
    let mut simulation = assemble(&plan, results, config, trace);
    simulation.provenance.notes.extend(notes);
    Ok(simulation)
}
