//! What to align, pad, group, split and place, with the gain simulated.

mod place;
mod point;
mod relaid;
mod report;
mod search;
mod trial;

use std::ops::ControlFlow;
use std::path::Path;

use homenode_advise::{Survey, Surveyor, false_sharing, items};
use homenode_analysis::Names;
use homenode_trace::{TraceError, TraceReader};
use serde::{Deserialize, Serialize};

use crate::Progress;
use crate::error::SimError;
use crate::placement::config::SimConfig;
use crate::placement::plan::{MEMORY_BUDGET_BYTES, Plan};
use crate::placement::run::pool;

pub use report::{AdvicePoint, AdviceReport, AdviceRow, Side};

use point::{Point, for_each_batch};
use search::search;

/// What to give advice for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdviceConfig {
    /// The machines, policies and block sizes. Advice is given for each combination by itself.
    pub simulation: SimConfig,
}

/// How far the work is: each pass goes a part of the way that is left, as nobody knows how many
/// there will be.
struct Way<'a> {
    progress: Progress<'a>,
    /// References of the trace, for the units of progress.
    total: u64,
    /// Where the present pass begins, and how much of the rest it is.
    from: f64,
    span: f64,
}

impl Way<'_> {
    /// Begins a pass that takes this part of what is left.
    fn begin(&mut self, part: f64) {
        self.from += self.span;
        self.span = (1.0 - self.from) * part;
    }

    fn tick(&mut self, done: f64) -> Result<(), SimError> {
        let at = self.from + self.span * done;
        #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let units = (at * self.total as f64) as u64;
        match (self.progress)(units.min(self.total), Some(self.total)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SimError::Interrupted),
        }
    }
}

/// Finds the layouts of objects that gain, and what they gain. With `out` also writes the trace
/// under the layout of all advice together; the configuration must name one point then.
///
/// # Errors
/// When the configuration is faulty, the trace is, or the new one cannot be written.
pub fn advise(
    config: &AdviceConfig,
    trace: &TraceReader,
    out: Option<&Path>,
    progress: Progress<'_>,
) -> Result<AdviceReport, SimError> {
    let plan = Plan::new(&config.simulation, trace)?;
    let points = plan.machines.len() * plan.policies.len() * plan.sizes.len();
    if out.is_some() && points != 1 {
        let problem = format!(
            "a trace can be laid out for one machine, policy and block size at a time, not \
             {points} combinations"
        );
        return Err(SimError::Config { problem });
    }
    if config.simulation.realign.is_some() {
        let problem = "advice is for the program as it is: leave re-alignment out".to_owned();
        return Err(SimError::Config { problem });
    }
    let pool = pool(config.simulation.threads)?;
    let budget = config.simulation.memory_budget_bytes.unwrap_or(MEMORY_BUDGET_BYTES);
    let total = trace.references();
    let mut way = Way { progress, total, from: 0.0, span: 0.0 };
    #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
    way.begin(0.5 / (1.0 + points as f64));
    let survey = look(&plan, trace, &pool, &mut |done| way.tick(done))?;
    let names = Names::new(trace.metadata());
    let items = items(&names, &survey);
    let mut found = Vec::new();
    let mut written = None;
    for machine in 0..plan.machines.len() {
        for policy in 0..plan.policies.len() {
            for size in 0..plan.sizes.len() {
                let point = Point::new(&plan, (machine, policy, size), (&pool, budget))?;
                let one = at(&point, trace, (&items, &survey), &mut way)?;
                if let Some(out) = out {
                    written = Some(write(&point, trace, &one, out)?);
                }
                found.push(one.0);
            }
        }
    }
    (way.from, way.span) = (1.0, 0.0);
    way.tick(1.0)?;
    Ok(AdviceReport {
        trace: crate::pass::source::TraceSource::name(trace),
        processors: plan.processors,
        references: survey.references(),
        objects: u64::try_from(items.len()).unwrap_or(u64::MAX),
        points: found,
        written,
        provenance: report::provenance(&plan, trace),
    })
}

/// The survey of all words.
fn look(
    plan: &Plan,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
    tick: point::Tick<'_>,
) -> Result<Survey, SimError> {
    let mut surveyor = Surveyor::new(plan.processors, plan.filter);
    for_each_batch(trace, pool, tick, |batch| surveyor.push(batch))?;
    Ok(surveyor.finish())
}

type Found = (AdvicePoint, homenode_advise::Layout);

/// Advice for one point.
fn at(
    point: &Point<'_>,
    trace: &TraceReader,
    (items, survey): (&[homenode_advise::Item], &Survey),
    way: &mut Way<'_>,
) -> Result<Found, SimError> {
    let identity = homenode_advise::Layout::default();
    way.begin(0.2);
    let before = point.price(trace, &identity, &mut |done| way.tick(done))?;
    let mut last = 1.0;
    let found = search(point, trace, (items, survey), &before, &mut |done| {
        if done <= last {
            way.begin(0.4);
        }
        last = done;
        way.tick(done)
    })?;
    way.begin(0.5);
    let layout = found.layout.clone();
    let after = if layout.is_empty() {
        None
    } else {
        Some(point.price(trace, &layout, &mut |done| way.tick(done))?)
    };
    let after = after.as_ref().unwrap_or(&before);
    let sharing = [&identity, &layout].map(|layout| false_sharing(survey, layout, point.block));
    way.begin(0.5);
    let total = after.blocks.values().map(|cost| cost.steps).sum();
    let tick = &mut |done| way.tick(done);
    let placings = place::places(point, trace, (items, survey), (&layout, total), tick)?;
    let sides = ([&before, after], sharing);
    Ok((report::assemble(point, (items, survey), (&found, &placings), sides), layout))
}

fn write(
    point: &Point<'_>,
    trace: &TraceReader,
    (found, layout): &Found,
    out: &Path,
) -> Result<homenode_trace::Summary, SimError> {
    let mut record = format!(
        "advise --machine {} --policy {} --block-size {}:",
        point.machine, found.policy, found.block_size
    );
    for row in &found.advice {
        record = format!("{record} {} {};", row.kind, row.object);
    }
    let (version, checksum) = (env!("CARGO_PKG_VERSION"), trace.checksum());
    record = format!("{record} (homenode {version}) of a trace with checksum {checksum}");
    let mut tick = |_| Ok::<(), TraceError>(());
    Ok(relaid::write(trace, (layout, point.block), (out, record), &mut tick)?)
}
