//! The ACE page manager over a trace.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use homenode_base::BlockSize;
use homenode_placement::{Filter, HistoryBuilder, HistoryOptions, Private, Shard, Synchronisation};
use homenode_pmap::policy::{self, Entry};
use homenode_pmap::table::{Row, rows};
use homenode_pmap::{Costs, Counts, KernelTime, Manager, Outcome, OwnerCopy, State};
use homenode_trace::TraceReader;
use serde::{Deserialize, Serialize};

use crate::Progress;
use crate::error::SimError;
use crate::pass::windows::pass;
use crate::placement::plan::{MEMORY_BUDGET_BYTES, processors, worker_threads};
use crate::placement::run::{Meter, pool};

/// What to run the page manager with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageConfig {
    /// Bytes in a page.
    pub page_size: u64,
    /// Page policy by name.
    pub policy: String,
    /// Invalidations allowed before a page is pinned.
    pub limit: u64,
    /// What becomes of the owner's copy when another processor reads.
    #[serde(default)]
    pub owner_copy: OwnerCopy,
    /// Kernel costs that differ from their defaults: `name=microseconds`.
    #[serde(default)]
    pub costs: Vec<String>,
    /// How many of the busiest pages to report.
    pub count: usize,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// What to do with private references.
    #[serde(default)]
    pub private: Private,
    /// What to do with synchronisation references.
    #[serde(default)]
    pub sync: Synchronisation,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
    /// Bytes that histories may take at a time; 1.5 GB if absent. Does not change results.
    #[serde(default)]
    pub memory_budget_bytes: Option<u64>,
}

/// What the page manager did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageReport {
    /// Name of the trace.
    pub trace: String,
    /// The page policy.
    pub policy: String,
    /// Invalidations allowed before a page is pinned.
    pub limit: u64,
    /// What becomes of the owner's copy when another processor reads.
    pub owner_copy: OwnerCopy,
    /// Bytes in a page.
    pub page_size: u64,
    /// Processors; thread i runs on processor i modulo this.
    pub processors: u16,
    /// Data references taken into account.
    pub references: u64,
    /// References to pages: one that straddles two pages is one to each.
    pub accesses: u64,
    /// Pages referenced, private memory that is taken as local aside.
    pub pages: u64,
    /// What was counted.
    pub counts: Counts,
    /// Faults by cell of the table.
    pub faults: Vec<ActionRow>,
    /// Pages by the state they ended in.
    pub final_states: BTreeMap<&'static str, u64>,
    /// α as simulated.
    pub locality: Locality,
    /// Kernel time, seconds.
    pub kernel_time: KernelTime,
    /// Time of the references themselves, seconds.
    pub reference_time_s: f64,
    /// The same trace with all pages in global memory.
    pub all_global: Baseline,
    /// Every kernel cost used, in microseconds.
    pub costs_us: BTreeMap<&'static str, f64>,
    /// The pages with the most kernel time, most first, then by address.
    pub busiest: Vec<PageRecord>,
}

/// One cell of the table, and how often it was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ActionRow {
    /// The cell.
    #[serde(flatten)]
    pub row: Row,
    /// The actions in words.
    pub actions: String,
    /// Faults that used it.
    pub count: u64,
}

/// Where references to writable data went: pages that the program writes at least once
/// (Bolosky §3.2.1 considers no others).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Locality {
    /// Reads and writes of such pages in the own local memory.
    pub local: u64,
    /// Reads of such pages, local or not.
    pub reads: u64,
    /// Writes and atomics to such pages, local or not.
    pub writes: u64,
    /// α: the fraction that was local; absent without such references.
    pub alpha: Option<f64>,
    /// G/L for this mix of reads and writes at the costs used; absent without such references.
    pub global_to_local: Option<f64>,
}

/// The trace with all pages in global memory: what `T_global` and `S_global` are measured with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Baseline {
    /// Kernel time, seconds.
    pub kernel_time_s: f64,
    /// Time of the references themselves, seconds.
    pub reference_time_s: f64,
}

/// A page among the busiest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageRecord {
    /// First address, in hexadecimal.
    pub address: String,
    /// Labels of the objects in it, in order of address.
    pub objects: Vec<String>,
    /// The state it ended in.
    pub final_state: State,
    /// What was counted.
    pub counts: Counts,
    /// Kernel time, seconds.
    pub kernel_time_s: f64,
}

/// A page policy as it is listed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PagePolicyRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

/// All page policies.
#[must_use]
pub fn page_policy_rows() -> Vec<PagePolicyRow> {
    let row = |e: &Entry| PagePolicyRow { name: e.name, summary: e.summary, source: e.source };
    policy::TABLE.iter().map(row).collect()
}

/// The manager's table, every cell with a count of 0.
#[must_use]
pub fn action_table(owner_copy: OwnerCopy) -> Vec<ActionRow> {
    with_counts(owner_copy, &Counts::default())
}

fn with_counts(owner_copy: OwnerCopy, counts: &Counts) -> Vec<ActionRow> {
    let cells = rows(owner_copy).into_iter().zip(counts.cells);
    cells.map(|(row, count)| ActionRow { row, actions: row.action.words(), count }).collect()
}

/// Runs the page manager over a trace.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn manage_pages(
    config: &PageConfig,
    trace: &TraceReader,
    progress: Progress<'_>,
) -> Result<PageReport, SimError> {
    let page_size = BlockSize::new(config.page_size)?;
    let entry = policy::find(&config.policy)?;
    let costs = Costs::parse(&config.costs)?;
    worker_threads(config.threads)?;
    let options = HistoryOptions {
        block_size: page_size,
        processors: processors(config.processors, trace)?,
        filter: Filter { private: config.private, synchronisation: config.sync },
        split_periods: Vec::new(),
        shard: Shard::default(),
        memory_budget_bytes: config.memory_budget_bytes.unwrap_or(MEMORY_BUDGET_BYTES),
    };
    let processors = options.processors;
    let manager = Manager::new((entry.build)(config.limit), config.owner_copy);
    let mut survey = Survey::new((manager, &costs), page_size, config.count);
    let pool = pool(config.threads)?;
    let mut meter = Meter { progress, done: 0, total: trace.references() };
    let mut pending = vec![Shard::default()];
    let mut references = 0;
    while let Some(shard) = pending.pop() {
        let mut builders = [HistoryBuilder::new(HistoryOptions { shard, ..options.clone() })];
        pass(&pool, trace, &mut builders, &mut meter)?;
        let [builder] = builders;
        let (histories, given_up) = builder.finish();
        pending.extend(given_up);
        references += histories.references();
        survey.outside(histories.outside());
        histories.blocks().for_each(|block| survey.page(block));
    }
    meter.done = meter.total;
    meter.add(0)?;
    Ok(survey.report(config, trace, (processors, references)))
}

/// What has been found so far.
struct Survey<'a> {
    manager: Manager,
    all_global: Manager,
    costs: &'a Costs,
    page_size: BlockSize,
    count: usize,
    counts: Counts,
    global_counts: Counts,
    locality: Locality,
    pages: u64,
    final_states: BTreeMap<&'static str, u64>,
    busiest: Vec<(KernelTime, Outcome)>,
}

impl<'a> Survey<'a> {
    fn new((manager, costs): (Manager, &'a Costs), page_size: BlockSize, count: usize) -> Self {
        let all_global = policy::find("all-global").expect("the policy is in the table");
        let states = [State::ReadOnly, State::LocalWritable, State::GlobalWritable];
        Self {
            manager,
            all_global: Manager::new((all_global.build)(0), OwnerCopy::default()),
            costs,
            page_size,
            count,
            counts: Counts::default(),
            global_counts: Counts::default(),
            locality: Locality::default(),
            pages: 0,
            final_states: states.map(|state| (state.word(), 0)).into_iter().collect(),
            busiest: Vec::new(),
        }
    }

    /// Private references that are taken as local: stacks and the like, under any policy.
    fn outside(&mut self, tally: &homenode_placement::Tally) {
        for counts in [&mut self.counts, &mut self.global_counts] {
            counts.local_reads += tally.local_reads;
            counts.local_writes += tally.local_writes;
        }
    }

    fn page(&mut self, block: homenode_placement::Block<'_>) {
        let outcome = self.manager.page(block);
        let counts = &outcome.counts;
        self.counts += counts;
        self.global_counts += &self.all_global.page(block).counts;
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
        // Times are sums of products of whole numbers and finite costs: never negative or NaN, so
        // their bits are in their order.
        let key = |(time, outcome): &(KernelTime, Outcome)| {
            (Reverse(time.total_s.to_bits()), outcome.number)
        };
        self.busiest.sort_by_key(key);
        self.busiest.truncate(self.count);
    }

    fn report(
        mut self,
        config: &PageConfig,
        trace: &TraceReader,
        (processors, references): (u16, u64),
    ) -> PageReport {
        self.keep_busiest();
        let (costs, words) = (self.costs, self.page_size.words());
        let mut locality = self.locality;
        locality.alpha = fraction(locality.local, locality.reads + locality.writes);
        locality.global_to_local = costs.global_to_local(locality.reads, locality.writes);
        PageReport {
            trace: crate::TraceSource::name(trace),
            policy: config.policy.clone(),
            limit: config.limit,
            owner_copy: config.owner_copy,
            page_size: config.page_size,
            processors,
            references,
            accesses: self.counts.accesses(),
            pages: self.pages,
            counts: self.counts,
            faults: with_counts(config.owner_copy, &self.counts),
            locality,
            kernel_time: costs.kernel_time(&self.counts, words),
            reference_time_s: costs.reference_time_s(&self.counts),
            all_global: Baseline {
                kernel_time_s: costs.kernel_time(&self.global_counts, words).total_s,
                reference_time_s: costs.reference_time_s(&self.global_counts),
            },
            costs_us: costs.iter().map(|(param, us)| (param.name, us)).collect(),
            busiest: self.records(trace),
            final_states: self.final_states,
        }
    }

    fn records(&self, trace: &TraceReader) -> Vec<PageRecord> {
        let first = |outcome: &Outcome| outcome.number.saturating_mul(self.page_size.bytes());
        let span = |(_, outcome): &(KernelTime, Outcome)| {
            (first(outcome), first(outcome).saturating_add(self.page_size.bytes() - 1))
        };
        let spans: Vec<(u64, u64)> = self.busiest.iter().map(span).collect();
        let labels = homenode_analysis::labels(trace.metadata(), &spans);
        let record =
            |((time, outcome), objects): (&(KernelTime, Outcome), Vec<String>)| PageRecord {
                address: format!("0x{:x}", first(outcome)),
                objects,
                final_state: outcome.state,
                counts: outcome.counts,
                kernel_time_s: time.total_s,
            };
        self.busiest.iter().zip(labels).map(record).collect()
    }
}

fn fraction(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a fraction is a rounded figure")]
    let fraction = part as f64 / whole as f64;
    (whole > 0).then_some(fraction)
}
