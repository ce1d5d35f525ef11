//! A live program on one machine with a clock.

use homenode_clock::streams::StreamSplitter;

use super::order::ReferenceOrder;
use super::plan::{ClockVariant, LiveTiming, TimedClock, TimedConfig, TimedPlan};
use crate::error::SimError;
use crate::live::{
    LiveEnd, LiveParts, LiveRun, LiveSource, Pace, RunConfig, check_config, processes,
};
use crate::results::json;

/// A machine, ready to run a program.
struct TimedRun<P: TimedPlan> {
    plan: P,
    clock: Option<TimedClock<P::Result>>,
    results: Vec<P::Result>,
    splitter: StreamSplitter,
    pace: Pace,
    slack: u64,
}

/// Checks the configuration of a run, and prepares the machine.
///
/// # Errors
/// When the configuration is invalid.
pub(crate) fn prepare_run<P: TimedPlan + 'static>(
    config: &P::Config,
    run: &RunConfig,
) -> Result<Box<dyn LiveRun>, SimError> {
    let (processors, threads) = processes(run, config.processors());
    let mut config = config.clone();
    config.prepare_run(processors);
    let source = LiveSource::new(threads);
    let mut plan = P::new(&config, &source)?;
    let in_cycles = config.order() == ReferenceOrder::Clock;
    check_config(in_cycles, plan.count(), config.restarts(), config.scales())?;
    let LiveTiming { least_latency, reference_cycles, cycles_per_ms } = plan.prepare_live()?;
    let slack = run.slack.unwrap_or(least_latency);
    let pace = Pace::new(slack, reference_cycles, cycles_per_ms);
    let processes = usize::from(threads);
    let variant = ClockVariant { processes, slower_by: 0, collect_waits: false };
    let clock = Some(plan.clock(0, variant)?);
    let splitter = plan.splitter(&source)?.for_live(pace.mhz);
    Ok(Box::new(TimedRun { plan, clock, results: Vec::new(), splitter, pace, slack }))
}

impl<P: TimedPlan> LiveRun for TimedRun<P> {
    fn slack(&self) -> u64 {
        self.slack
    }

    fn parts(&mut self) -> Option<LiveParts<'_>> {
        let Self { clock, splitter, pace, .. } = self;
        clock.as_mut().map(|clock| LiveParts { clock: clock.live(), splitter, pace: *pace })
    }

    fn complete(&mut self) -> Result<(), SimError> {
        if let Some(clock) = self.clock.take() {
            self.results.push(clock.finish()?);
        }
        Ok(())
    }

    fn study(self: Box<Self>, end: LiveEnd) -> String {
        json(&self.plan.assemble(self.results, Vec::new(), &LiveSource::ended(end)))
    }
}
