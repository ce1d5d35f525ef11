//! The page manager over a trace.

use homenode_base::BlockSize;
use homenode_placement::{HistoryBuilder, HistoryOptions, Shard, Times};
use homenode_pmap::policy::find;
use homenode_pmap::{Costs, Manager};
use homenode_trace::TraceReader;

use super::config::PmapConfig;
use super::freed::FreedPages;
use super::outcome::PmapReport;
use super::totals::PmapTotals;
use crate::error::SimResult;
use crate::pass::{
    PassSink, Progress, ProgressMeter, Unchanged, budget_bytes, build_histories, check_threads,
    in_words, processors, thread_pool,
};
use crate::references::data;

/// Runs the page manager over a trace.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn pmap(
    config: &PmapConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<PmapReport> {
    let check = || checked(config, trace).map(drop);
    in_words(config.word_bytes, config.threads, trace, progress, check, |words, progress| {
        managed(config, words, progress)
    })
}

fn checked(
    config: &PmapConfig,
    trace: &TraceReader,
) -> SimResult<(Manager, Costs, HistoryOptions)> {
    let page_size = BlockSize::new(config.page_size)?;
    let entry = find(&config.policy)?;
    let costs = Costs::parse(&config.costs)?;
    check_threads(config.threads)?;
    let options = HistoryOptions {
        filter: data(config.private, config.sync),
        memory_budget_bytes: budget_bytes(config.memory_budget_bytes),
        ..HistoryOptions::new(page_size, processors(config.processors, trace)?)
    };
    let manager = Manager::new((entry.build)(config.limit), config.owner_copy);
    Ok((manager, costs, options))
}

fn managed(
    config: &PmapConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<PmapReport> {
    let (manager, costs, options) = checked(config, trace)?;
    let (page_size, processors) = (options.block_size, options.processors);
    let mut totals = PmapTotals::new(manager, &costs, page_size, config.count);
    let pool = thread_pool(config.threads)?;
    let mut meter = ProgressMeter::new(progress, trace.references());
    let mut pending = vec![Shard::default()];
    let mut references = 0;
    while let Some(shard) = pending.pop() {
        // A run must not hide when a page is freed.
        let times = if config.free_unmapped { Times::All } else { Times::Visits };
        let builder = HistoryBuilder::new(HistoryOptions { shard, ..options.clone() });
        let mut builders = [builder.with_times(times)];
        let mut freed = FreedPages::new(page_size.bytes());
        let sink: &mut dyn PassSink =
            if config.free_unmapped { &mut freed } else { &mut Unchanged };
        build_histories(&pool, trace, &mut builders, &mut meter, sink)?;
        let freed = freed.by_page();
        let [builder] = builders;
        let (histories, given_up) = builder.finish();
        pending.extend(given_up);
        references += histories.totals.references;
        totals.outside(&histories.totals.outside);
        histories.blocks().for_each(|block| totals.page(block, freed.of(block.number)));
    }
    meter.finish()?;
    Ok(totals.report(config, trace, processors, references))
}
