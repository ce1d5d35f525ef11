//! Costs of every block under a layout, on one machine, under one policy, at one block size.

use homenode_advise::{Layout, UseSurvey};
use homenode_base::{BlockSize, ReferenceFilter, ReferenceRole};
use homenode_machine::{PriceList, PricedMachine};
use homenode_placement::{
    Cost, Histories, HistoryBuilder, HistoryOptions, PlacementSetup, PolicySpec, Shard, Tally,
    Times,
};
use homenode_trace::{Batch, TraceReader};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::error::{SimResult, config_error};
use crate::layout::LayoutApplier;
use crate::pass::{TraceSource, for_each_piece};
use crate::placement::{MatrixPlan, ranges};

/// Reports the progress of a pass, from 0 to 1.
pub(super) type ReportPart<'a> = &'a mut dyn FnMut(f64) -> SimResult<()>;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockCost {
    pub(super) steps: u128,
    /// The part of the cost above that of the same number of local references.
    pub(super) extra: u128,
    pub(super) runs: u64,
}

#[derive(Debug, Default)]
pub(super) struct PricedTrace {
    pub(super) blocks: FxHashMap<u64, BlockCost>,
    /// Counts of all blocks, and of references without a history.
    pub(super) tally: Tally,
    pub(super) references: u64,
}

pub(super) struct PricedReferences<'a> {
    /// The whole trace.
    pub(super) trace: &'a TraceReader,
    /// The references that reach memory: the whole trace if there are no caches.
    pub(super) misses: &'a TraceReader,
    pub(super) survey: &'a UseSurvey,
    pub(super) survey_of_misses: &'a UseSurvey,
    /// Words fetched by one reference to memory.
    pub(super) unit_words: u64,
}

pub(super) struct LayoutEvaluator<'a> {
    pub(super) machine: &'a str,
    pub(super) priced: &'a PricedMachine,
    pub(super) spec: &'a PolicySpec,
    pub(super) setup: PlacementSetup,
    pub(super) block: BlockSize,
    pub(super) prices: PriceList,
    pub(super) filter: ReferenceFilter,
    pub(super) processors: u16,
    pub(super) budget: u64,
    pub(super) pool: &'a rayon::ThreadPool,
    split_periods: Vec<u64>,
    times: Times,
}

impl<'a> LayoutEvaluator<'a> {
    pub(super) fn new(
        plan: &'a MatrixPlan,
        machine: usize,
        policy: usize,
        size: usize,
        pool: &'a rayon::ThreadPool,
        budget: u64,
    ) -> SimResult<Self> {
        let sized = &plan.sizes[size];
        let (spec, setup) = (&plan.policies[policy], sized.jobs[sized.job[machine][policy]].setup);
        let instance = spec.build(&setup)?;
        let prices = sized.prices[machine];
        let machine = &plan.machines[machine];
        Ok(Self {
            machine: machine.name(),
            priced: machine,
            spec,
            setup,
            block: sized.block,
            prices,
            filter: ReferenceFilter { private: plan.private(machine).role(), ..plan.filter },
            processors: plan.processors,
            budget,
            pool,
            split_periods: instance.split_period().into_iter().collect(),
            times: instance.times(),
        })
    }

    pub(super) fn builder(&self, shard: Shard) -> HistoryBuilder {
        HistoryBuilder::new(HistoryOptions {
            block_size: self.block,
            processors: self.processors,
            filter: self.filter,
            split_periods: self.split_periods.clone(),
            shard,
            memory_budget_bytes: self.budget,
        })
        .with_times(self.times)
    }

    /// The histories of a shard under a layout, and the shards given up for lack of memory.
    pub(super) fn histories(
        &self,
        trace: &TraceReader,
        layout: &Layout,
        shard: Shard,
        tick: ReportPart<'_>,
    ) -> SimResult<(Histories, Vec<Shard>)> {
        let mut builder = self.builder(shard);
        let (mut applier, mut moved) = (LayoutApplier::default(), Batch::default());
        let read = |index, batch: &mut Batch| TraceSource::read(trace, index, batch);
        for_each_piece(self.pool, trace, &read, tick, |batch| {
            if layout.is_empty() {
                builder.push(batch);
            } else {
                applier.batch(layout, batch, &mut moved);
                builder.push(&moved);
            }
        })?;
        Ok(builder.finish())
    }

    pub(super) fn price(
        &self,
        trace: &TraceReader,
        layout: &Layout,
        tick: ReportPart<'_>,
    ) -> SimResult<PricedTrace> {
        let mut priced = PricedTrace::default();
        let mut pending = vec![Shard::default()];
        while let Some(shard) = pending.pop() {
            let (histories, given_up) = self.histories(trace, layout, shard, tick)?;
            pending.extend(given_up);
            priced.references += histories.totals.references;
            if self.filter.private == ReferenceRole::Private {
                priced.tally += &histories.totals.outside;
            }
            self.walk(&histories, |number, cost, tally| {
                priced.blocks.insert(number, cost);
                priced.tally += tally;
            })?;
        }
        Ok(priced)
    }

    /// Runs the policy over all blocks and calls `take` for each, in order.
    pub(super) fn walk(
        &self,
        histories: &Histories,
        mut take: impl FnMut(u64, BlockCost, &Tally),
    ) -> SimResult<()> {
        let one = |range: &std::ops::Range<usize>| -> SimResult<Vec<_>> {
            let mut policy = self.spec.build(&self.setup)?;
            let blocks = range.clone().map(|i| histories.block(i));
            let price = |block: homenode_placement::Block<'_>| {
                let mut tally = Tally::default();
                policy.block(block, &mut tally);
                let runs = u64::try_from(block.runs.len()).unwrap_or(u64::MAX);
                Ok((block.number, self.cost(&tally, runs)?, tally))
            };
            blocks.map(price).collect()
        };
        for some in ranges(histories).chunks(self.pool.current_num_threads() * 4) {
            let found: SimResult<Vec<Vec<_>>> =
                self.pool.install(|| some.par_iter().map(one).collect());
            for (number, cost, tally) in found?.into_iter().flatten() {
                take(number, cost, &tally);
            }
        }
        Ok(())
    }

    fn cost(&self, tally: &Tally, runs: u64) -> SimResult<BlockCost> {
        let Some(steps) = Cost::on(tally, &self.prices).total().steps else {
            return Err(config_error(format!(
                "{} costs infinitely much on {} at {} bytes a block, so that no layout can be \
                 compared; choose a policy that moves blocks, such as --policy optimal or migrate",
                self.spec.text,
                self.machine,
                self.block.bytes()
            )));
        };
        let local = u128::from(tally.accesses()) * u128::from(self.prices.local());
        Ok(BlockCost { steps, extra: steps.saturating_sub(local), runs })
    }
}
