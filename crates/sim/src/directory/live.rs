//! A live program on a machine with a directory.

use homenode_trace::LiveProgram;

use super::clock::{clock_of, live_splitter};
use super::config::{DirectoryConfig, MeasuredFrom};
use super::outcome::{DirectoryStudy, assemble};
use super::plan::{DirectoryPlan, NodeModel, PlannedDirectory};
use crate::bus::ReferenceOrder;
use crate::error::SimError;
use crate::live::{LiveEnd, LiveSource, Pace, RunConfig, RunError, check_config, drive, processes};

/// Runs a program on one machine; see [`crate::run_bus`].
///
/// # Errors
/// When the configuration is invalid, the program cannot be run, or, with
/// [`DirectoryConfig::check`], a protocol violates an invariant.
pub fn run_directory<P: LiveProgram>(
    config: &DirectoryConfig,
    run: &RunConfig,
    start: impl FnOnce(u64) -> Result<P, P::Error>,
    end: impl FnOnce(P) -> Result<LiveEnd, P::Error>,
) -> Result<DirectoryStudy, RunError<P::Error>> {
    let (processors, threads) = processes(run, config.processors);
    let config = &DirectoryConfig { processors: Some(processors), ..config.clone() };
    let plan = DirectoryPlan::new(config, &LiveSource::new(threads))?;
    let scaling = !config.scaling.is_empty();
    check_config(config.order == ReferenceOrder::Clock, plan.points.len(), false, scaling)?;
    let point = plan.first()?;
    let name = &point.home.text;
    if point.home.entry().needs_first_run {
        let problem = format!(
            "--home {name} is chosen with hindsight: record the program and simulate the trace, or \
             say --home first-touch"
        );
        return Err(SimError::Config { problem }.into());
    }
    let marks = config.measure_from == MeasuredFrom::InitDone;
    let homes = point.home.build(&point.homes(config.seed, marks, None))?;
    let slack = run.slack.unwrap_or_else(|| least_latency(point));
    let processor = plan.machines[point.machine].processor;
    let cycles_per_ms = match point.model {
        NodeModel::Directory(model) => model.cycles_per_ms,
        NodeModel::Controllers(model) => model.cycles_per_ms,
    };
    // Instructions before each reference take time as well.
    let gap = u64::from(config.gap) * processor.instruction_cycles;
    let pace = Pace::new(slack, processor.operation_cycles + gap, Some(cycles_per_ms));
    let mut clock = clock_of(&plan, point, homes, config, usize::from(threads))?;
    let mut splitter = live_splitter(&plan, config, threads)?.for_live(pace.mhz);
    let mut program = start(slack).map_err(RunError::Program)?;
    drive(clock.live(), &mut splitter, &mut program, pace)?;
    let result = clock.finish()?;
    let ended = LiveSource::ended(end(program).map_err(RunError::Program)?);
    Ok(assemble(&plan, vec![result], config, &ended))
}

/// The least number of cycles after which one node can affect another: a message without data over
/// one link.
fn least_latency(point: &PlannedDirectory) -> u64 {
    match point.model {
        NodeModel::Directory(model) => {
            let network = model.network;
            let leaves = (network.header_bytes * 8).div_ceil(network.path_bits.max(1));
            leaves + network.routing_cycles + network.link_cycles
        }
        NodeModel::Controllers(model) => model.network.short_cycles,
    }
}
