//! The off-line optimum in detail: moves block by block, the placement itself, its certificate, and
//! the whole curve of its cost against one price.

mod moves;
mod placement;
mod report;

use std::io::Write;

use homenode_machine::PriceList;
use homenode_optimal::{Axis, Curve, CurveError, CurveSolver, Interval, Optimum, certify};
use homenode_placement::{Block, Cost, Histories, Setup, Shard, Tally};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub use moves::{MoveBin, Moves};
pub use placement::Format;
pub use report::{Certified, CurvePiece, CurveReport, OptimalReport, OptimalRow};

use crate::Progress;
use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::pass::windows::pass;
use crate::placement::config::SimConfig;
use crate::placement::plan::{MEMORY_BUDGET_BYTES, Plan, Size};
use crate::placement::run::{Meter, SizeCounts, pool, ranges};

/// Faults of a placement that are told; the others are counted.
const FAULTS_MAX: usize = 10;

/// What to find out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimalConfig {
    /// Machines, block sizes and so on; the policies must be off-line ones.
    pub simulation: SimConfig,
    /// The price that varies and from where to where, as in `R=59..400`; no curve if absent.
    #[serde(default)]
    pub curve: Option<String>,
    /// Whether to replay every placement through equations 4.1 and 4.2.
    #[serde(default)]
    pub certify: bool,
}

/// A placement to be written down.
pub struct Output<'a> {
    /// Where to.
    pub sink: &'a mut dyn Write,
    /// How.
    pub format: Format,
}

/// What one job finds out about some blocks.
#[derive(Clone, Debug, Default)]
struct Found {
    tally: Tally,
    moves: Moves,
    curve: Curve,
    certified: Certified,
    text: Vec<u8>,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.tally += &other.tally;
        self.moves += &other.moves;
        self.curve += other.curve;
        self.certified.add(other.certified);
    }
}

/// What is asked of each block, apart from the counts.
#[derive(Clone, Copy)]
struct Wanted {
    curve: Option<Interval>,
    certify: bool,
    placement: Option<Format>,
}

/// Finds the optimum of every machine and block size of the configuration.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read), the trace is, or the output
/// cannot be written.
pub fn optimal<T: TraceSource + ?Sized>(
    config: &OptimalConfig,
    trace: &T,
    mut output: Option<Output<'_>>,
    progress: Progress<'_>,
) -> Result<OptimalReport, SimError> {
    let plan = Plan::new(&config.simulation, trace)?;
    if let Some(policy) = plan.policies.iter().find(|p| replicates(p.entry.name).is_none()) {
        let problem = format!(
            "{} is no optimum; the policies can be optimal and optimal-no-replication",
            policy.text
        );
        return Err(SimError::Config { problem });
    }
    let curve = config.curve.as_deref().map(interval).transpose()?;
    let placement = output.as_ref().map(|o| o.format);
    let wanted = Wanted { curve, certify: config.certify, placement };
    if let Some(interval) = curve {
        for job in plan.sizes.iter().flat_map(|size| &size.jobs) {
            curve_solver(&plan, job.policy, &job.setup, interval)?;
        }
    }
    if let Some(output) = &mut output {
        placement::head(output)?;
    }
    let threads = pool(config.simulation.threads)?;
    let jobs = plan.sizes.iter().map(|s| s.jobs.len() + 1).sum::<usize>();
    let total = trace.references().saturating_mul(u64::try_from(jobs).unwrap_or(1));
    let mut meter = Meter { progress, done: 0, total };
    let budget = config.simulation.memory_budget_bytes.unwrap_or(MEMORY_BUDGET_BYTES);
    let mut found = Vec::new();
    let mut counts = Vec::new();
    for size in &plan.sizes {
        let mut jobs = vec![Found::default(); size.jobs.len()];
        let mut counted = SizeCounts::default();
        let mut pending = vec![Shard::default()];
        while let Some(shard) = pending.pop() {
            let mut builders = [plan.builder(size, shard, budget)];
            pass(&threads, trace, &mut builders, &mut meter)?;
            let [builder] = builders;
            let (histories, given_up) = builder.finish();
            pending.extend(given_up);
            counted.references += histories.references();
            counted.outside += histories.outside();
            counted.outside_references += histories.outside_references();
            let walk = Walk { plan: &plan, size, wanted, pool: &threads };
            walk.all(&histories, &mut jobs, (&mut output, &mut meter))?;
        }
        counted.jobs = jobs.iter().map(|job| job.tally).collect();
        counts.push(counted);
        found.push(jobs);
    }
    meter.done = meter.total;
    meter.add(0)?;
    Ok(report::assemble(&plan, &counts, &found, (wanted, trace)))
}

/// Whether an off-line policy replicates; `None` for the others.
fn replicates(name: &str) -> Option<bool> {
    match name {
        "optimal" => Some(true),
        "optimal-no-replication" => Some(false),
        _ => None,
    }
}

fn curve_solver(
    plan: &Plan,
    policy: usize,
    setup: &Setup,
    interval: Interval,
) -> Result<CurveSolver, SimError> {
    let replicate = replicates(plan.policies[policy].entry.name).unwrap_or(true);
    Ok(CurveSolver::new(setup, replicate, interval)?)
}

/// Reads `R=59..400`.
fn interval(text: &str) -> Result<Interval, SimError> {
    let fail = |what: String| SimError::Config {
        problem: format!(
            "curve {text:?}: {what}; write it as in R=59..400, r=2..100/3 or g=1.5..4"
        ),
    };
    let (letter, ends) =
        text.split_once('=').ok_or_else(|| fail("there is no = in it".to_owned()))?;
    let axis = Axis::ALL.iter().find(|(_, known)| *known == letter.trim());
    let (axis, _) = axis.ok_or_else(|| fail(format!("{letter:?} is none of r, R, g, G")))?;
    let (from, to) =
        ends.split_once("..").ok_or_else(|| fail("there is no .. in it".to_owned()))?;
    let number = |end: &str| end.trim().parse().map_err(|e| fail(format!("{e}")));
    Ok(Interval { axis: *axis, from: number(from)?, to: number(to)? })
}

/// The jobs of one block size over some histories.
struct Walk<'a> {
    plan: &'a Plan,
    size: &'a Size,
    wanted: Wanted,
    pool: &'a rayon::ThreadPool,
}

impl Walk<'_> {
    fn all(
        &self,
        histories: &Histories,
        found: &mut [Found],
        (output, meter): (&mut Option<Output<'_>>, &mut Meter<'_>),
    ) -> Result<(), SimError> {
        let ranges = ranges(histories);
        for (job, sum) in found.iter_mut().enumerate() {
            for some in ranges.chunks(self.pool.current_num_threads() * 4) {
                let parts: Result<Vec<Found>, SimError> = self.pool.install(|| {
                    let each = some.par_iter();
                    each.map(|blocks| self.blocks(job, histories, blocks.clone())).collect()
                });
                let mut work = 0;
                for part in parts? {
                    work += part.tally.accesses();
                    if let Some(output) = output {
                        output.sink.write_all(&part.text).map_err(SimError::Output)?;
                    }
                    sum.add(part);
                }
                meter.add(work)?;
            }
        }
        Ok(())
    }

    fn blocks(
        &self,
        job: usize,
        histories: &Histories,
        blocks: std::ops::Range<usize>,
    ) -> Result<Found, SimError> {
        let job = &self.size.jobs[job];
        let spec = &self.plan.policies[job.policy];
        let mut optimum = Optimum::new(&job.setup, replicates(spec.entry.name).unwrap_or(true))?;
        let curve = self.wanted.curve;
        let mut curve = curve
            .map(|interval| curve_solver(self.plan, job.policy, &job.setup, interval))
            .transpose()?;
        let mut found = Found::default();
        for block in blocks.map(|i| histories.block(i)) {
            let tally = optimum.tally(block);
            found.moves.add(tally.remote_moves + tally.global_moves);
            found.tally += &tally;
            if let Some(solver) = &mut curve {
                found.curve += solver.block(block)?;
            }
            self.placement(block, &mut optimum, (&tally, &mut found), job.setup);
        }
        Ok(found)
    }

    /// Writes the placement of one block down, and checks it.
    fn placement(
        &self,
        block: Block<'_>,
        optimum: &mut Optimum,
        (tally, found): (&Tally, &mut Found),
        setup: Setup,
    ) {
        let Some(prices) = setup.prices else { return };
        if self.wanted.placement.is_none() && !self.wanted.certify {
            return;
        }
        let changes = optimum.placement(block);
        if self.wanted.certify {
            let certificate = certify(block, &changes, &prices);
            let cost = Cost::of(tally, &prices).total().steps;
            let moves = tally.remote_moves + tally.global_moves;
            found.certified.block((block.number, self.size.block), (certificate, cost, moves));
        }
        if let Some(format) = self.wanted.placement {
            let prices = PriceList::Placement(prices);
            let machine = self.size.prices.iter().position(|p| *p == prices).unwrap_or(0);
            let about = placement::About {
                machine: self.plan.machines[machine].name(),
                replicate: optimum.replicates(),
                block_size: self.size.block,
            };
            placement::write(&mut found.text, &about, (block.number, &changes), format);
        }
    }
}

impl From<CurveError> for SimError {
    fn from(error: CurveError) -> Self {
        Self::Config { problem: format!("curve: {error}") }
    }
}
