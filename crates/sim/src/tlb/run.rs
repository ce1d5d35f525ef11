//! One pass over the trace for all TLBs and page sizes.

use homenode_tlb::{ProcessorShare, TlbCounter, TlbCounts, TlbSetup};
use homenode_trace::{Batch, TraceReader};
use rayon::prelude::*;

use super::config::TlbConfig;
use super::outcome::{TlbReport, assemble};
use super::plan::TlbPlan;
use crate::error::SimResult;
use crate::pass::{Progress, TraceSource, for_each_window, in_words, thread_pool};
use crate::placement::run;

/// Counts the misses of every TLB at every page size in one pass over the trace; with
/// [`TlbConfig::correct`], simulates one machine and policy as well.
///
/// # Errors
/// When the configuration is invalid (found before the trace is read) or the trace is damaged.
pub fn tlb_misses(
    config: &TlbConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> SimResult<TlbReport> {
    let check = || TlbPlan::new(config, trace).map(drop);
    in_words(config.word_bytes, config.threads, trace, progress, check, |words, progress| {
        missed(config, words, progress)
    })
}

fn missed(config: &TlbConfig, trace: &TraceReader, progress: Progress<'_>) -> SimResult<TlbReport> {
    let plan = TlbPlan::new(config, trace)?;
    // The correction's simulation counts each reference twice: to build histories and to walk them.
    let times = if config.correct.is_some() { 2 * config.page_sizes.len() } else { 0 };
    let times = u64::try_from(times).unwrap_or(0);
    let total = trace.references().saturating_mul(times + 1);
    let counts = count(config, &plan.setup, trace, progress, total)?;
    let simulation = match &config.correct {
        None => None,
        Some(correction) => {
            let simulation = config.simulation(correction);
            let before = trace.references();
            let mut simulated =
                run(&simulation, trace, &mut |done, _| progress(before + done, Some(total)))?;
            simulated.provenance.word_bytes = config.word_bytes;
            Some(simulated)
        }
    };
    Ok(assemble(&plan, &counts, simulation, config, trace))
}

/// Passes the whole trace to counters, each for a share of the processors, with the next pieces
/// decoded ahead.
fn count(
    config: &TlbConfig,
    setup: &TlbSetup,
    trace: &TraceReader,
    progress: Progress<'_>,
    total: u64,
) -> SimResult<TlbCounts> {
    let pool = thread_pool(config.threads)?;
    let parts = u16::try_from(pool.current_num_threads()).unwrap_or(u16::MAX);
    let parts = parts.min(setup.processors);
    let counter = |index| TlbCounter::new(setup, ProcessorShare { index, count: parts });
    let mut counters: Vec<TlbCounter> = (0..parts).map(counter).collect();
    let read = |index, batch: &mut Batch| trace.read(index, batch);
    for_each_window(&pool, trace, &read, progress, total, |batches| {
        counters.par_iter_mut().for_each(|c| batches.iter().for_each(|b| c.push(b)));
        Ok(())
    })?;
    let mut all = counters.into_iter().map(TlbCounter::finish);
    let sum = all.next().unwrap_or_else(|| counter(0).finish());
    Ok(all.fold(sum, |mut sum, counts| {
        sum.add(&counts);
        sum
    }))
}
