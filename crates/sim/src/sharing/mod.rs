//! Chapter 7: what false sharing costs at every block size on every machine, and who shares what.

use std::ops::ControlFlow;

use homenode_analysis::sharing::{
    Collected, Collection, Collector, Components, Estimate, Examiner, Findings, Questions, Shares,
    SharingCounts, SizeCounted, WhoShares, estimate, report,
};
use homenode_analysis::{ByClass, Names};
use homenode_base::BlockSize;
use homenode_machine::{Breakdown, PriceParts};
use homenode_placement::{Amount, Shard};
use homenode_trace::{Batch, Columns, TraceError, TraceReader, Want};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::SimError;
use crate::placement::config::SimConfig;
use crate::placement::outcome::{Outcome, Provenance};
use crate::placement::plan::{MEMORY_BUDGET_BYTES, Plan};
use crate::{Progress, run};

/// Largest block that sharing is looked for in: a huge page and its neighbour.
const BLOCK_BYTES_MAX: u64 = 4 << 20;

/// Regions that one task examines.
const TASK_REGIONS: usize = 64;

/// What to find out about a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharingConfig {
    /// Machines, block sizes and the treatment of references; the only policy is the optimum.
    pub simulation: SimConfig,
    /// The block size at which objects, blocks and source lines are named; absent: none.
    #[serde(default)]
    pub detail: Option<u64>,
    /// How many objects, blocks and lines to name.
    #[serde(default)]
    pub count: usize,
    /// What merging at the end of a false sharing interval costs, in block moves; at least 1.
    #[serde(default = "one")]
    pub merge_transfers: u64,
}

fn one() -> u64 {
    1
}

/// The counts at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct SizeRow {
    /// Bytes in a block.
    pub block_size: u64,
    /// What was counted, the same for every machine.
    pub counts: SharingCounts,
    /// The bounds on false sharing as shares of all transfers, the same for every machine.
    pub shares: Shares,
}

/// The cost on one machine at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct CostRow {
    /// The machine.
    pub machine: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// Accesses to blocks.
    pub accesses: u64,
    /// Cost of the machine's optimal placement.
    pub total_cost: Amount,
    /// Mean cost per reference of it.
    pub mcpr: Option<f64>,
    /// The same in components (figures 7.2 to 7.5); `null` if it is infinite.
    pub components: Option<Components>,
    /// Chapter 7's estimates on this machine without remote reference and global memory; `null` if
    /// it cannot move blocks.
    pub estimate: Option<Estimate>,
}

/// Everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct SharingReport {
    /// Name of the trace.
    pub trace: String,
    /// Processors of the machines.
    pub processors: u16,
    /// Data references taken into account.
    pub references: u64,
    /// Words referenced, by class.
    pub words: ByClass,
    /// Transfers of the optimal placement at one-word blocks, Phi_1.
    pub word_transfers: u64,
    /// What a merge was charged, in block moves.
    pub merge_transfers: u64,
    /// One for each block size.
    pub sizes: Vec<SizeRow>,
    /// One for each machine and block size.
    pub costs: Vec<CostRow>,
    /// Who shares, at the block size asked for.
    pub detail: Option<WhoShares>,
    /// What everything follows from.
    pub provenance: Provenance,
}

/// Counts, prices and names false sharing.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn sharing(
    config: &SharingConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<SharingReport, SimError> {
    let mut simulation = config.simulation.clone();
    simulation.policies = vec!["optimal".to_owned()];
    let plan = Plan::new(&simulation, trace)?;
    let questions = questions(config, &plan)?;
    let mut total = 0;
    let outcome = run(&simulation, trace, &mut |done, all| {
        // The second half of the work is to look at words.
        total = all.unwrap_or(0);
        progress(done, Some(2 * total))
    })?;
    let names = Names::new(trace.metadata());
    let work = Work { config, plan: &plan, questions: &questions, names: &names, total };
    let findings = work.examine(trace, progress)?;
    let counted = |(size, counts): (&BlockSize, &SharingCounts)| SizeCounted {
        block: *size,
        counts: *counts,
    };
    let sizes: Vec<SizeCounted> =
        questions.sizes.iter().zip(&findings.counts).map(counted).collect();
    let mut costs = Vec::new();
    for (row, outcome) in outcome.outcomes.iter().enumerate() {
        let (machine, size) = (row / sizes.len(), row % sizes.len());
        let prices = plan.machines[machine].breakdown(sizes[size].block)?;
        costs.push(cost(outcome, &prices, (size, &sizes, findings.word_transfers)));
    }
    let row = |(i, size): (usize, &SizeCounted)| SizeRow {
        block_size: size.block.bytes(),
        counts: size.counts,
        shares: Shares::of(i, &sizes, findings.word_transfers),
    };
    Ok(SharingReport {
        trace: outcome.provenance.trace.clone(),
        processors: plan.processors,
        references: outcome.outcomes.first().map_or(0, |o| o.references),
        words: findings.words,
        word_transfers: findings.word_transfers,
        merge_transfers: config.merge_transfers,
        sizes: sizes.iter().enumerate().map(row).collect(),
        costs,
        detail: questions.detail.map(|size| report(&findings, &names, size, config.count)),
        provenance: outcome.provenance,
    })
}

fn cost(
    outcome: &Outcome,
    prices: &Breakdown,
    (size, sizes, words): (usize, &[SizeCounted], u64),
) -> CostRow {
    let moves = |price: PriceParts| estimate(size, sizes, words, price);
    CostRow {
        machine: outcome.machine.clone(),
        block_size: outcome.block_size,
        accesses: outcome.accesses,
        total_cost: outcome.total_cost,
        mcpr: outcome.mcpr,
        components: Components::of(&outcome.counts, prices),
        estimate: prices.remote_move.map(moves),
    }
}

/// The block sizes, checked. The one for details is looked at even if it is not among the others.
fn questions(config: &SharingConfig, plan: &Plan) -> Result<Questions, SimError> {
    if config.merge_transfers == 0 {
        let problem = "a merge cannot be free, as it moves data: charge at least 1 block move";
        return Err(SimError::Config { problem: problem.to_owned() });
    }
    let sizes: Vec<BlockSize> = plan.sizes.iter().map(|size| size.block).collect();
    let detail = config.detail.map(BlockSize::new).transpose()?;
    for size in sizes.iter().chain(&detail) {
        if size.bytes() > BLOCK_BYTES_MAX {
            let problem = format!(
                "block size {}: sharing is looked for in blocks of at most {BLOCK_BYTES_MAX} \
                 bytes; choose smaller ones",
                size.bytes()
            );
            return Err(SimError::Config { problem });
        }
    }
    if let Some(size) = detail.filter(|size| !sizes.contains(size)) {
        let problem = format!(
            "block size {} for details is none of those simulated; add it to the block sizes",
            size.bytes()
        );
        return Err(SimError::Config { problem });
    }
    let (merge_transfers, count) = (config.merge_transfers, config.count);
    Ok(Questions { sizes, merge_transfers, detail, count })
}

/// The walk over words, on several threads.
struct Work<'a> {
    config: &'a SharingConfig,
    plan: &'a Plan,
    questions: &'a Questions,
    names: &'a Names<'a>,
    /// Units of progress before and for this half of the work.
    total: u64,
}

impl Work<'_> {
    fn examine(&self, trace: &TraceReader, progress: Progress<'_>) -> Result<Findings, SimError> {
        let threads = self.config.simulation.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool
            .map_err(|e| SimError::Config { problem: format!("worker threads: {e}; use fewer") })?;
        let mut findings = Findings::new(self.questions);
        let mut pending = vec![Shard::default()];
        let mut passes = 0;
        while let Some(shard) = pending.pop() {
            passes += 1;
            // How many passes there will be is not known; each goes half of the way that is left.
            let span = self.total >> passes.min(u64::BITS - 1);
            let from = 2 * self.total - 2 * span;
            let mut tick = |part: f64| {
                #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                let done = (span as f64 * part) as u64;
                match progress(from + done, Some(2 * self.total)) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(SimError::Interrupted),
                }
            };
            let (collected, given_up) = self.collect(trace, shard, &pool, &mut tick)?;
            pending.extend(given_up);
            self.walk(&collected, &pool, (&mut findings, &mut tick))?;
        }
        match progress(2 * self.total, Some(2 * self.total)) {
            ControlFlow::Continue(()) => Ok(findings),
            ControlFlow::Break(()) => Err(SimError::Interrupted),
        }
    }

    /// One pass over the trace; the next piece is decoded meanwhile.
    fn collect(
        &self,
        trace: &TraceReader,
        shard: Shard,
        pool: &rayon::ThreadPool,
        tick: &mut dyn FnMut(f64) -> Result<(), SimError>,
    ) -> Result<(Collected, Vec<Shard>), SimError> {
        let largest = self.questions.sizes.iter().copied().max();
        let mut collector = Collector::new(Collection {
            largest: largest.unwrap_or(BlockSize::new(BlockSize::WORD_BYTES)?),
            processors: self.plan.processors,
            filter: self.plan.filter,
            shard,
            memory_budget_bytes: self
                .config
                .simulation
                .memory_budget_bytes
                .unwrap_or(MEMORY_BUDGET_BYTES),
        });
        let columns =
            Columns { pc: self.questions.detail.is_some(), flags: true, ..Columns::default() };
        let read = |index: usize, mut batch: Batch| -> Result<Batch, TraceError> {
            if index < trace.chunks().len() {
                trace.read_chunk(index, Want { columns, events: false }, &mut batch)?;
            }
            Ok(batch)
        };
        let pieces = trace.chunks().len();
        let mut ready = read(0, Batch::default())?;
        let mut spare = Batch::default();
        for index in 0..pieces {
            let next = std::mem::take(&mut spare);
            let ((), decoded) =
                pool.install(|| rayon::join(|| collector.push(&ready), || read(index + 1, next)));
            spare = std::mem::replace(&mut ready, decoded?);
            #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
            tick((index + 1) as f64 / (2 * pieces) as f64)?;
        }
        Ok(collector.finish())
    }

    fn walk(
        &self,
        collected: &Collected,
        pool: &rayon::ThreadPool,
        (findings, tick): (&mut Findings, &mut dyn FnMut(f64) -> Result<(), SimError>),
    ) -> Result<(), SimError> {
        let count = self.questions.count;
        let tasks: Vec<&[_]> = collected.regions.chunks(TASK_REGIONS).collect();
        let together = pool.current_num_threads() * 4;
        for (group, some) in tasks.chunks(together).enumerate() {
            let found: Vec<Findings> = pool.install(|| {
                let one = |regions: &&[_]| {
                    let mut examiner = Examiner::new(self.questions, self.names);
                    let mut sum = Findings::new(self.questions);
                    for region in *regions {
                        sum.merge(examiner.region(collected, region), count);
                    }
                    sum
                };
                some.par_iter().map(one).collect()
            });
            for part in found {
                findings.merge(part, count);
            }
            #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
            tick(0.5 + 0.5 * (group * together) as f64 / tasks.len() as f64)?;
        }
        Ok(())
    }
}
