//! First pass: the cost of every block, and the worst blocks.

use std::cmp::Reverse;
use std::ops::ControlFlow;

use homenode_base::{BlockSize, ReferenceFilter};
use homenode_machine::PriceList;
use homenode_placement::policy::Policy;
use homenode_placement::{Block, Cost, Histories, HistoryBuilder, HistoryOptions, Shard, Tally};
use homenode_trace::{Batch, Columns, TraceReader, Want};
use rustc_hash::FxHashMap;

use crate::objects::Names;
use crate::{AnalysisError, AnalysisProgress};

/// What to analyse: a block size, processors, references and prices.
#[derive(Clone, Debug)]
pub struct WorstQuery {
    /// The unit of placement.
    pub block_size: BlockSize,
    /// Thread i runs on processor i modulo this; at least 1.
    pub processors: u16,
    /// Which references to take into account.
    pub filter: ReferenceFilter,
    /// What the machine charges at this block size.
    pub prices: PriceList,
    /// How many of the worst blocks, and of the worst objects, to report.
    pub count: usize,
    /// Bytes that histories may take at a time.
    pub memory_budget_bytes: u64,
}

/// Steps of cost; `None` is infinite.
pub(crate) type CostSteps = Option<u128>;

pub(crate) fn add(a: CostSteps, b: CostSteps) -> CostSteps {
    Some(a?.saturating_add(b?))
}

pub(crate) fn rank_of(steps: CostSteps) -> (bool, u128) {
    (steps.is_none(), steps.unwrap_or(0))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Priced {
    pub number: u64,
    pub tally: Tally,
    pub cost: CostSteps,
    pub extra: CostSteps,
}

pub(crate) struct Ranking {
    /// The blocks with the greatest extra cost, greatest first, then by number.
    pub worst: Vec<Priced>,
    /// Cost and extra cost of each object, from blocks that hold no other object.
    pub groups: Vec<(CostSteps, CostSteps)>,
    /// Cost and extra cost of the blocks that hold several objects.
    pub mixed: FxHashMap<u64, (CostSteps, CostSteps)>,
    pub blocks: u64,
    pub tally: Tally,
    pub cost: CostSteps,
    pub extra: CostSteps,
}

/// Reads the trace chunk by chunk; `done` is out of the references of two passes.
pub(crate) fn for_each_batch(
    trace: &TraceReader,
    want: Want,
    progress: AnalysisProgress<'_>,
    done: &mut u64,
    mut take: impl FnMut(&Batch),
) -> Result<(), AnalysisError> {
    let mut batch = Batch::default();
    let total = trace.references().saturating_mul(2);
    for (index, chunk) in trace.chunks().iter().enumerate() {
        trace.read_chunk(index, want, &mut batch)?;
        take(&batch);
        *done = (*done + u64::from(chunk.references)).min(total);
        if let ControlFlow::Break(()) = progress(*done, Some(total)) {
            return Err(AnalysisError::Interrupted);
        }
    }
    Ok(())
}

pub(crate) fn rank(
    trace: &TraceReader,
    query: &WorstQuery,
    policy: &mut dyn Policy,
    names: &Names<'_>,
    progress: &mut AnalysisProgress<'_>,
    done: &mut u64,
) -> Result<Ranking, AnalysisError> {
    let mut ranking = Ranking {
        worst: Vec::new(),
        groups: vec![(Some(0), Some(0)); names.len()],
        mixed: FxHashMap::default(),
        blocks: 0,
        tally: Tally::default(),
        cost: Some(0),
        extra: Some(0),
    };
    let columns = Columns { flags: true, ..Columns::default() };
    let want = Want { columns, events: false };
    let mut pending = vec![Shard::default()];
    while let Some(shard) = pending.pop() {
        let mut builder = HistoryBuilder::new(HistoryOptions {
            block_size: query.block_size,
            processors: query.processors,
            filter: query.filter,
            split_periods: policy.split_period().into_iter().collect(),
            shard,
            memory_budget_bytes: query.memory_budget_bytes,
        })
        .with_times(policy.times());
        for_each_batch(trace, want, &mut **progress, done, |batch| builder.push(batch))?;
        let (histories, given_up) = builder.finish();
        pending.extend(given_up);
        ranking.walk(&histories, query, policy, names);
    }
    ranking.keep_worst(query.count);
    Ok(ranking)
}

impl Ranking {
    fn walk(
        &mut self,
        histories: &Histories,
        query: &WorstQuery,
        policy: &mut dyn Policy,
        names: &Names<'_>,
    ) {
        for block in histories.blocks() {
            let priced = price(block, query, policy);
            self.blocks += 1;
            self.tally += &priced.tally;
            self.cost = add(self.cost, priced.cost);
            self.extra = add(self.extra, priced.extra);
            let first = block.number.saturating_mul(query.block_size.bytes());
            let last = first.saturating_add(query.block_size.bytes() - 1);
            if let Some(group) = names.only_group(first, last) {
                let (cost, extra) = &mut self.groups[group];
                *cost = add(*cost, priced.cost);
                *extra = add(*extra, priced.extra);
            } else {
                self.mixed.insert(block.number, (priced.cost, priced.extra));
            }
            self.worst.push(priced);
            if self.worst.len() > 2 * query.count + 1024 {
                self.keep_worst(query.count);
            }
        }
    }

    fn keep_worst(&mut self, count: usize) {
        self.worst.sort_by_key(|block| (Reverse(rank_of(block.extra)), block.number));
        self.worst.truncate(count);
    }
}

fn price(block: Block<'_>, query: &WorstQuery, policy: &mut dyn Policy) -> Priced {
    let mut tally = Tally::default();
    policy.block(block, &mut tally);
    let cost = Cost::on(&tally, &query.prices).total().steps;
    let local = u128::from(tally.accesses()) * u128::from(query.prices.local());
    let extra = cost.map(|steps| steps.saturating_sub(local));
    Priced { number: block.number, tally, cost, extra }
}
