//! Walks the histories of one block size.

use homenode_machine::PriceList;
use homenode_optimal::{CurveSolver, Interval, Optimum, certify};
use homenode_placement::{Block, Cost, Histories, PlacementSetup, Tally};
use rayon::prelude::*;

use super::findings::{OptimumFindings, OptimumRequest};
use super::placement::{self, PlacementOutput};
use crate::error::{SimError, SimResult};
use crate::pass::ProgressMeter;
use crate::placement::{MatrixPlan, SizePlan, ranges};

pub(super) struct HistoryWalk<'a> {
    pub(super) plan: &'a MatrixPlan,
    pub(super) size: &'a SizePlan,
    pub(super) wanted: OptimumRequest,
    pub(super) pool: &'a rayon::ThreadPool,
}

impl HistoryWalk<'_> {
    pub(super) fn all(
        &self,
        histories: &Histories,
        found: &mut [OptimumFindings],
        output: &mut Option<PlacementOutput<'_>>,
        meter: &mut ProgressMeter<'_>,
    ) -> SimResult<()> {
        let ranges = ranges(histories);
        for (job, sum) in found.iter_mut().enumerate() {
            for some in ranges.chunks(self.pool.current_num_threads() * 4) {
                let parts: SimResult<Vec<OptimumFindings>> = self.pool.install(|| {
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
    ) -> SimResult<OptimumFindings> {
        let job = &self.size.jobs[job];
        let spec = &self.plan.policies[job.policy];
        let mut optimum = Optimum::new(&job.setup, replicates(spec.name()).unwrap_or(true))?;
        let curve = self.wanted.curve;
        let mut curve = curve
            .map(|interval| curve_solver(self.plan, job.policy, &job.setup, interval))
            .transpose()?;
        let mut found = OptimumFindings::default();
        for block in blocks.map(|i| histories.block(i)) {
            let tally = optimum.tally(block);
            found.moves.add(tally.remote_moves + tally.global_moves);
            found.tally += &tally;
            if let Some(solver) = &mut curve {
                found.curve += solver.block(block)?;
            }
            self.placement(block, &mut optimum, &tally, &mut found, job.setup);
        }
        Ok(found)
    }

    fn placement(
        &self,
        block: Block<'_>,
        optimum: &mut Optimum,
        tally: &Tally,
        found: &mut OptimumFindings,
        setup: PlacementSetup,
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
            let address = block.number.saturating_mul(self.size.block.bytes());
            found.certified.block(address, certificate, cost, moves);
        }
        if let Some(format) = self.wanted.placement {
            let prices = PriceList::Placement(prices);
            let machine = self.size.prices.iter().position(|p| *p == prices).unwrap_or(0);
            let about = placement::PlacementLabel {
                machine: self.plan.machines[machine].name(),
                replicate: optimum.replicates(),
                block_size: self.size.block,
            };
            placement::write(&mut found.text, &about, block.number, &changes, format);
        }
    }
}

/// Whether an off-line policy replicates; `None` for other policies.
pub(super) fn replicates(name: &str) -> Option<bool> {
    match name {
        "optimal" => Some(true),
        "optimal-no-replication" => Some(false),
        _ => None,
    }
}

pub(super) fn curve_solver(
    plan: &MatrixPlan,
    policy: usize,
    setup: &PlacementSetup,
    interval: Interval,
) -> SimResult<CurveSolver> {
    let replicate = replicates(plan.policies[policy].name()).unwrap_or(true);
    Ok(CurveSolver::new(setup, replicate, interval)?)
}
