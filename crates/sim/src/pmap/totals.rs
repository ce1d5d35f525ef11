//! Totals of the page manager, and its busiest pages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use homenode_base::{BlockSize, Time};
use homenode_placement::{Block, Tally};
use homenode_pmap::policy::find;
use homenode_pmap::{Costs, KernelTime, Manager, OwnerCopy, PageOutcome, PageState, PmapCounts};
use homenode_trace::TraceReader;

use super::config::PmapConfig;
use super::outcome::with_counts;
use super::outcome::{AllGlobalTimes, Locality, PmapPage, PmapReport};
use crate::pass::TraceSource;
use crate::results::ratio;

pub(super) struct PmapTotals<'a> {
    manager: Manager,
    all_global: Manager,
    costs: &'a Costs,
    page_size: BlockSize,
    count: usize,
    counts: PmapCounts,
    global_counts: PmapCounts,
    locality: Locality,
    pages: u64,
    final_states: BTreeMap<&'static str, u64>,
    busiest: Vec<(KernelTime, PageOutcome)>,
}

impl<'a> PmapTotals<'a> {
    pub(super) fn new(
        manager: Manager,
        costs: &'a Costs,
        page_size: BlockSize,
        count: usize,
    ) -> Self {
        let all_global = find("all-global").expect("the policy is in the table");
        let states = [PageState::ReadOnly, PageState::LocalWritable, PageState::GlobalWritable];
        Self {
            manager,
            all_global: Manager::new((all_global.build)(0), OwnerCopy::default()),
            costs,
            page_size,
            count,
            counts: PmapCounts::default(),
            global_counts: PmapCounts::default(),
            locality: Locality::default(),
            pages: 0,
            final_states: states.map(|state| (state.word(), 0)).into_iter().collect(),
            busiest: Vec::new(),
        }
    }

    /// Adds private references that count as local under any policy, such as those to stacks.
    pub(super) fn outside(&mut self, tally: &Tally) {
        for counts in [&mut self.counts, &mut self.global_counts] {
            counts.local_reads += tally.local_reads;
            counts.local_writes += tally.local_writes;
        }
    }

    pub(super) fn page(&mut self, block: Block<'_>, freed: &[Time]) {
        let outcome = self.manager.page(block, freed);
        let counts = &outcome.counts;
        self.counts += counts;
        self.global_counts += &self.all_global.page(block, freed).counts;
        self.pages += 1;
        *self.final_states.entry(outcome.state.word()).or_default() += 1;
        if outcome.writable_data {
            self.locality.local += counts.local();
            self.locality.reads += counts.local_reads + counts.global_reads;
            self.locality.writes += counts.local_writes + counts.global_writes;
        }
        let time = self.costs.kernel_time(counts, self.page_size.words());
        self.busiest.push((time, outcome));
        if self.busiest.len() > 2 * self.count + 1024 {
            self.keep_busiest();
        }
    }

    fn keep_busiest(&mut self) {
        // Times are sums of products of integers and finite costs, never negative or NaN, so their
        // bits have the order of their values.
        let key = |(time, outcome): &(KernelTime, PageOutcome)| {
            (Reverse(time.total_s.to_bits()), outcome.number)
        };
        self.busiest.sort_by_key(key);
        self.busiest.truncate(self.count);
    }

    pub(super) fn report(
        mut self,
        config: &PmapConfig,
        trace: &TraceReader,
        processors: u16,
        references: u64,
    ) -> PmapReport {
        self.keep_busiest();
        let (costs, words) = (self.costs, self.page_size.words());
        let mut locality = self.locality;
        locality.alpha = ratio(locality.local, locality.reads + locality.writes);
        locality.global_to_local = costs.global_to_local(locality.reads, locality.writes);
        PmapReport {
            trace: TraceSource::name(trace),
            policy: config.policy.clone(),
            limit: config.limit,
            owner_copy: config.owner_copy,
            free_unmapped: config.free_unmapped,
            page_size: config.page_size,
            processors,
            word_bytes: config.word_bytes,
            references,
            accesses: self.counts.accesses(),
            pages: self.pages,
            counts: self.counts,
            faults: with_counts(config.owner_copy, &self.counts),
            locality,
            kernel_time: costs.kernel_time(&self.counts, words),
            reference_time_s: costs.reference_time_s(&self.counts),
            all_global: AllGlobalTimes {
                kernel_time_s: costs.kernel_time(&self.global_counts, words).total_s,
                reference_time_s: costs.reference_time_s(&self.global_counts),
            },
            costs_us: costs.iter().map(|(param, us)| (param.name, us)).collect(),
            busiest: self.records(trace),
            final_states: self.final_states,
        }
    }

    fn records(&self, trace: &TraceReader) -> Vec<PmapPage> {
        let first = |outcome: &PageOutcome| outcome.number.saturating_mul(self.page_size.bytes());
        let span = |(_, outcome): &(KernelTime, PageOutcome)| {
            (first(outcome), first(outcome).saturating_add(self.page_size.bytes() - 1))
        };
        let spans: Vec<(u64, u64)> = self.busiest.iter().map(span).collect();
        let labels = homenode_analysis::labels(trace.metadata(), &spans);
        let record =
            |((time, outcome), objects): (&(KernelTime, PageOutcome), Vec<String>)| PmapPage {
                address: format!("0x{:x}", first(outcome)),
                objects,
                final_state: outcome.state,
                counts: outcome.counts,
                kernel_time_s: time.total_s,
            };
        self.busiest.iter().zip(labels).map(record).collect()
    }
}
