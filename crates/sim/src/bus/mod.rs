//! Machines whose processors share a bus: one pass over the trace for all configurations.

mod clock;
mod outcome;
mod plan;

use homenode_machine::{BUS_TABLE, BusMachine};
use homenode_snoop::{CheckReport, Counter, Counts, ProtocolSpec, TABLE, check};
use rayon::prelude::*;
use serde::Serialize;

pub use homenode_snoop::critical_point;
pub use outcome::{
    BusMachineRecord, BusOutcome, BusProvenance, BusSimulation, KernelActivity, Scalability, Work,
};
pub use plan::{Addresses, Areas, BusConfig, BusPoint, Included, Order};

use crate::Progress;
use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::pass::windows::windows;

/// Simulates every combination of machine, protocol, cache size, associativity, block size and
/// number of processors, in this order. The trace is decoded once for all of them.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read), the trace is, or, with
/// [`BusConfig::check`], a protocol breaks a promise.
pub fn simulate_bus<T: TraceSource + ?Sized>(
    config: &BusConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<BusSimulation, SimError> {
    let plan = plan::Plan::new(config, trace)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(config.threads.unwrap_or(0))
        .build()
        .map_err(|e| SimError::Config { problem: format!("worker threads: {e}; use fewer") })?;
    let (results, notes) = match config.order {
        Order::Trace => {
            let counts = count(&plan, trace, &pool, progress)?;
            (counts.into_iter().map(|counts| (counts, None)).collect(), Vec::new())
        }
        Order::Clock => {
            let (timed, notes) = clock::simulate(&plan, (config, trace), &pool, progress)?;
            (timed.into_iter().map(|(counts, timing)| (counts, Some(timing))).collect(), notes)
        }
    };
    let mut simulation = outcome::assemble(&plan, results, (config, trace));
    simulation.provenance.notes.extend(notes);
    Ok(simulation)
}

/// Counts in the order of the trace.
fn count<T: TraceSource + ?Sized>(
    plan: &plan::Plan,
    trace: &T,
    pool: &rayon::ThreadPool,
    progress: Progress<'_>,
) -> Result<Vec<Counts>, SimError> {
    let counters = plan.points.iter().map(|point| Counter::new(&point.setup, point.table.clone()));
    let mut counters: Vec<Counter> = counters.collect::<Result<_, _>>()?;
    let total = trace.references();
    windows(pool, (trace, T::read), (progress, total), &mut |batches| {
        let push = |counter: &mut Counter| batches.iter().try_for_each(|b| counter.push(b));
        // All of them are asked: the first one's error is reported on any number of threads.
        let done: Vec<_> = counters.par_iter_mut().map(push).collect();
        Ok(done.into_iter().collect::<Result<(), _>>()?)
    })?;
    Ok(counters.into_iter().map(Counter::finish).collect())
}

/// Whether machines as users write them are all on a bus (`true`), or none of them is (`false`).
///
/// # Errors
/// When they are of both kinds.
pub fn are_on_bus<S: AsRef<str>>(machines: &[S]) -> Result<bool, SimError> {
    let on_bus = |machine: &S| BusMachine::is_named_by(machine.as_ref());
    match machines.iter().filter(|machine| on_bus(machine)).count() {
        0 => Ok(false),
        n if n == machines.len() => Ok(true),
        _ => {
            let problem = "machines on a bus and machines with prices of references have nothing \
                           to compare: simulate them one kind at a time";
            Err(SimError::Config { problem: problem.to_owned() })
        }
    }
}

/// What the model checker says about a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolReport {
    /// The protocol.
    pub protocol: &'static str,
    /// What was explored and found.
    #[serde(flatten)]
    pub report: CheckReport,
}

/// Checks some protocols, all if none is named.
///
/// # Errors
/// When there is no such protocol.
pub fn check_protocols<S: AsRef<str>>(names: &[S]) -> Result<Vec<ProtocolReport>, SimError> {
    let all: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
    let named: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let names = if named.is_empty() { all } else { named };
    let specs = names.iter().map(|name| ProtocolSpec::parse(name));
    let specs: Vec<ProtocolSpec> = specs.collect::<Result<_, _>>()?;
    let report = |spec: &ProtocolSpec| ProtocolReport {
        protocol: spec.entry.name,
        report: check(&spec.table()),
    };
    Ok(specs.iter().map(report).collect())
}

/// One line of the list of protocols.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// States of a copy.
    pub states: Vec<&'static str>,
    /// What can be set after the colon.
    pub parameters: Vec<ProtocolParameter>,
}

/// A switch of a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolParameter {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Value when nothing is said.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// All protocols.
#[must_use]
pub fn protocol_rows() -> Vec<ProtocolRow> {
    let parameter = |p: &homenode_snoop::Parameter| ProtocolParameter {
        name: p.name,
        default: "no",
        doc: p.doc,
    };
    let row = |entry: &homenode_snoop::Entry| ProtocolRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        states: (entry.build)().states().iter().map(|label| label.name).collect(),
        parameters: entry.params.iter().map(parameter).collect(),
    };
    TABLE.iter().map(row).collect()
}

/// Names of the machines on a bus that come with the program.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUS_TABLE.iter().map(|preset| preset.name)
}
