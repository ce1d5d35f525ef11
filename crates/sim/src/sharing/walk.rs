//! Examines words on several threads.

use homenode_analysis::Names;
use homenode_analysis::sharing::{
    Collected, CollectedAccesses, Collector, CollectorOptions, Examiner, Findings, SharingQuestions,
};
use homenode_placement::Shard;
use homenode_trace::{Batch, Columns, TraceReader, Want};
use rayon::prelude::*;

use super::config::SharingConfig;
use crate::error::SimResult;
use crate::pass::{
    PassProgress, Progress, events_budget_bytes, for_each_piece, part_of, thread_pool,
};
use crate::placement::MatrixPlan;

const TASK_REGIONS: usize = 64;

pub(super) struct WordWalk<'a> {
    pub(super) config: &'a SharingConfig,
    pub(super) plan: &'a MatrixPlan,
    pub(super) questions: &'a SharingQuestions,
    pub(super) names: &'a Names<'a>,
    /// Total units of progress, and the part that is done before.
    pub(super) total: u64,
    pub(super) from: f64,
}

impl WordWalk<'_> {
    pub(super) fn examine(
        &self,
        trace: &TraceReader,
        progress: Progress<'_>,
    ) -> SimResult<(Findings, CollectedAccesses)> {
        let pool = thread_pool(self.config.simulation.threads)?;
        let mut findings = Findings::new(self.questions);
        let mut accesses = CollectedAccesses::new(&self.questions.sizes);
        let mut progress = PassProgress::new(progress, self.total, self.from);
        let mut pending = vec![Shard::default()];
        while let Some(shard) = pending.pop() {
            progress.begin(0.5);
            let (collected, given_up) = self.collect(trace, shard, &pool, &mut progress)?;
            pending.extend(given_up);
            accesses.merge(&collected.accesses);
            self.walk(&collected, &pool, &mut findings, &mut progress)?;
        }
        progress.finish()?;
        Ok((findings, accesses))
    }

    /// One pass over the trace, with the next piece decoded ahead.
    fn collect(
        &self,
        trace: &TraceReader,
        shard: Shard,
        pool: &rayon::ThreadPool,
        progress: &mut PassProgress<'_>,
    ) -> SimResult<(Collected, Vec<Shard>)> {
        let mut collector = Collector::new(CollectorOptions {
            sizes: self.questions.sizes.clone(),
            processors: self.plan.processors,
            filter: self.plan.filter,
            shard,
            memory_budget_bytes: events_budget_bytes(self.config.simulation.memory_budget_bytes),
        });
        let columns =
            Columns { pc: self.questions.detail.is_some(), flags: true, ..Columns::default() };
        let want = Want { columns, events: false };
        let read = |index, batch: &mut Batch| trace.read_chunk(index, want, batch);
        let tick = &mut |done| progress.tick(0.5 * done);
        for_each_piece(pool, trace, &read, tick, |batch| collector.push(batch))?;
        Ok(collector.finish())
    }

    fn walk(
        &self,
        collected: &Collected,
        pool: &rayon::ThreadPool,
        findings: &mut Findings,
        progress: &mut PassProgress<'_>,
    ) -> SimResult<()> {
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
            progress.tick(0.5 + 0.5 * part_of(group * together, tasks.len()))?;
        }
        Ok(())
    }
}
