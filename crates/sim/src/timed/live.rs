//! A live program on one machine with a clock.

use homenode_clock::streams::StreamSplitter;

use super::order::ReferenceOrder;
use super::plan::{ClockVariant, LiveTiming, TimedClock, TimedConfig, TimedOptions, TimedPlan};
use crate::error::{SimResult, config_error};
use crate::live::{LiveEnd, LiveParts, LiveRun, LiveSource, Pace, RunConfig, processes};
use crate::results::json;

struct TimedRun<P: TimedPlan> {
    plan: P,
    clock: Option<TimedClock<P::Result>>,
    results: Vec<P::Result>,
    splitter: StreamSplitter,
    pace: Pace,
    slack: u64,
}

pub(crate) fn prepare_run<P: TimedPlan + 'static>(
    config: &P::Config,
    run: &RunConfig,
) -> SimResult<Box<dyn LiveRun>> {
    let (processors, threads) = processes(run, config.timed().processors);
    let mut config = config.clone();
    config.prepare_run(processors);
    let source = LiveSource::new(threads);
    let mut plan = P::new(&config, &source)?;
    check_config(config.timed(), plan.count())?;
    let LiveTiming { least_latency, reference_cycles, cycles_per_ms } = plan.prepare_live()?;
    let slack = run.slack.unwrap_or(least_latency);
    let pace = Pace::new(slack, reference_cycles, cycles_per_ms);
    let processes = usize::from(threads);
    let variant = ClockVariant { processes, slower_by: 0, collect_waits: false };
    let clock = Some(plan.clock(0, variant)?);
    let splitter = plan.splitter(&source)?.for_live(pace.mhz);
    Ok(Box::new(TimedRun { plan, clock, results: Vec::new(), splitter, pace, slack }))
}

/// Rejects options that require a trace: a known length, or an order of references.
fn check_config(options: TimedOptions, points: usize) -> SimResult<()> {
    Err(config_error(if options.order == ReferenceOrder::Trace {
        "--order: a live program has no order of a trace; leave it out".to_owned()
    } else if options.scales {
        "--scaling: a live program runs on one machine; say --processors".to_owned()
    } else if options.restarts {
        "--restart requires a trace, whose end is known".to_owned()
    } else if points != 1 {
        format!(
            "a live program runs on one machine, and {points} combinations are given: say one \
             --machine, --protocol and cache"
        )
    } else {
        return Ok(());
    }))
}

impl<P: TimedPlan> LiveRun for TimedRun<P> {
    fn slack(&self) -> u64 {
        self.slack
    }

    fn parts(&mut self) -> Option<LiveParts<'_>> {
        let Self { clock, splitter, pace, .. } = self;
        clock.as_mut().map(|clock| LiveParts { clock: clock.live(), splitter, pace: *pace })
    }

    fn complete(&mut self) -> SimResult<()> {
        if let Some(clock) = self.clock.take() {
            self.results.push(clock.finish()?);
        }
        Ok(())
    }

    fn study(self: Box<Self>, end: LiveEnd) -> String {
        json(&self.plan.assemble(self.results, Vec::new(), &LiveSource::ended(end)))
    }
}
