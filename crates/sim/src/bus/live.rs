//! A live program on a machine with a bus or with links.

use homenode_machine::Interconnect;
use homenode_trace::LiveProgram;

use super::clock::{clock_of, live_splitter, with_frames};
use super::config::{BusConfig, ReferenceOrder};
use super::outcome::{BusSimulation, assemble};
use super::plan::{BusPlan, PlannedPoint};
use crate::live::{LiveEnd, LiveSource, Pace, RunConfig, RunError, check_config, drive, processes};

/// Runs a program on one machine. `start` starts the program after the configuration has been
/// checked, and receives the slack in cycles; `end` is called when the program has ended.
///
/// # Errors
/// When the configuration is invalid, the program cannot be run, or, with [`BusConfig::check`], a
/// protocol violates an invariant.
pub fn run_bus<P: LiveProgram>(
    config: &BusConfig,
    run: &RunConfig,
    start: impl FnOnce(u64) -> Result<P, P::Error>,
    end: impl FnOnce(P) -> Result<LiveEnd, P::Error>,
) -> Result<BusSimulation, RunError<P::Error>> {
    let (processors, threads) = processes(run, config.processors);
    let config = &BusConfig { processors: Some(processors), ..config.clone() };
    let source = LiveSource::new(threads);
    let plan = BusPlan::new(config, &source)?;
    let scaling = !config.scaling.is_empty();
    let in_cycles = config.order == ReferenceOrder::Clock;
    check_config(in_cycles, plan.points.len(), config.restart, scaling)?;
    let point = &plan.points[0];
    let slack = run.slack.unwrap_or_else(|| least_latency(&plan, point));
    let machine = &plan.machines[point.machine];
    let cycles_per_ms = match &machine.interconnect {
        Interconnect::Links(links) => Some(links.cycles_per_ms),
        Interconnect::Bus(_) | Interconnect::Directory(_) | Interconnect::Controllers(_) => None,
    };
    let pace = Pace::new(slack, machine.processor.operation_cycles, cycles_per_ms);
    let mut clock = clock_of(&plan, point, config, usize::from(threads), 0)?;
    let splitter = live_splitter(&plan, config, &source)?;
    let mut splitter = with_frames(splitter, &plan, config).for_live(pace.mhz);
    let mut program = start(slack).map_err(RunError::Program)?;
    drive(clock.live(), &mut splitter, &mut program, pace)?;
    let result = clock.finish()?;
    let ended = LiveSource::ended(end(program).map_err(RunError::Program)?);
    Ok(assemble(&plan, vec![result], config, &ended))
}

/// The least number of cycles after which one processor can affect another.
fn least_latency(plan: &BusPlan, point: &PlannedPoint) -> u64 {
    let transactions = point.cycles.iter().flat_map(|cycles| cycles.named().map(|(_, it)| it));
    let links = match &plan.machines[point.machine].interconnect {
        Interconnect::Links(links) => Some(links.latency.same_last_level),
        Interconnect::Bus(_) | Interconnect::Directory(_) | Interconnect::Controllers(_) => None,
    };
    transactions.filter(|&cycles| cycles > 0).chain(links).min().unwrap_or(0)
}
