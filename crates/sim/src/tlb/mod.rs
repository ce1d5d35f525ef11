//! How often TLBs miss, and what the misses add to the mean cost per reference.

use homenode_base::BlockSize;
use homenode_placement::{Private, Synchronisation};
use homenode_tlb::{Counter, Counts, Filter, Part, Setup, TABLE, TlbSpec};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::SimError;
use crate::pass::source::TraceSource;
use crate::pass::windows::windows;
use crate::placement::config::SimConfig;
use crate::placement::outcome::Provenance;
use crate::placement::plan::{THREADS_MAX, processors};
use crate::{Progress, run};

/// Bytes that all processors' TLBs together may take.
const MEMORY_MAX_BYTES: u64 = 1 << 30;

/// Whether private references are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Count them, as the thesis does (§6.3.2).
    #[default]
    Include,
    /// Leave them out.
    Exclude,
}

/// TLBs and page sizes to count misses for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlbConfig {
    /// TLBs: names, or parameters as in `entries=64,ways=4`.
    pub tlbs: Vec<String>,
    /// Page sizes in bytes.
    pub page_sizes: Vec<u64>,
    /// Processors; the trace's thread count if absent. Thread i runs on processor i modulo this.
    #[serde(default)]
    pub processors: Option<u16>,
    /// What to do with private references.
    #[serde(default)]
    pub private: Counted,
    /// What to do with synchronisation references.
    #[serde(default)]
    pub sync: Synchronisation,
    /// Worker threads; as many as the computer has if absent. Does not change results.
    #[serde(default)]
    pub threads: Option<usize>,
    /// The mean cost per reference to correct for misses, if any.
    #[serde(default)]
    pub correct: Option<Correction>,
}

/// A machine and a policy whose mean cost per reference is corrected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction {
    /// The machine: a name, a TOML file, or `prices:r=15,R=59`.
    pub machine: String,
    /// The policy: `name` or `name:parameter=value,...`.
    pub policy: String,
    /// Whether to accept prices that break the rules of the model.
    #[serde(default)]
    pub force: bool,
}

/// One TLB at one page size. The names of the fields are a public contract (`docs/tlb.md`).
#[derive(Clone, Debug, Serialize)]
pub struct TlbOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The TLB as the configuration names it.
    pub tlb: String,
    /// Bytes in a page.
    pub page_size: u64,
    /// Processors, each with a TLB of its own.
    pub processors: u16,
    /// Data references counted.
    pub references: u64,
    /// Translations looked up: a reference that straddles pages looks up each.
    pub lookups: u64,
    /// Lookups that found nothing; first references to a page are among them.
    pub misses: u64,
    /// Misses per reference (§6.3.2); `null` without references.
    pub miss_rate: Option<f64>,
    /// What a miss costs in local references; `null` where nobody says.
    pub miss_cost: Option<f64>,
    /// The mean cost per reference and its correction, if asked for.
    #[serde(flatten)]
    pub corrected: Option<Corrected>,
}

/// Table 6.5 of the thesis: a mean cost per reference without and with the cost of misses.
#[derive(Clone, Debug, Serialize)]
pub struct Corrected {
    /// The machine.
    pub machine: String,
    /// The policy.
    pub policy: String,
    /// Mean cost per reference with pages as blocks; `null` if infinite.
    pub mcpr: Option<f64>,
    /// `mcpr + miss_rate * miss_cost`; `null` if one of them is.
    pub corrected_mcpr: Option<f64>,
}

/// What the outcomes follow from.
#[derive(Clone, Debug, Serialize)]
pub struct TlbProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// Processors.
    pub processors: u16,
    /// What was done with private references.
    pub private: Counted,
    /// What was done with synchronisation references.
    pub sync: Synchronisation,
    /// Every TLB with all its parameters.
    pub tlbs: Vec<String>,
    /// What the mean costs per reference follow from.
    pub simulation: Option<Provenance>,
}

/// Outcomes and what they follow from.
#[derive(Clone, Debug, Serialize)]
pub struct TlbStudy {
    /// One outcome per TLB and page size.
    pub outcomes: Vec<TlbOutcome>,
    /// What they follow from.
    pub provenance: TlbProvenance,
}

/// One line of the list of TLBs.
#[derive(Clone, Debug, Serialize)]
pub struct TlbRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Entries in all.
    pub entries: u32,
    /// Sets.
    pub sets: u32,
    /// Entries a set.
    pub ways: u32,
    /// Whether an entry holds two neighbouring translations.
    pub paired: bool,
    /// What a miss costs in local references; `null` where the thesis does not say.
    pub miss_cost: Option<f64>,
}

/// All TLBs.
#[must_use]
pub fn tlb_rows() -> Vec<TlbRow> {
    let row = |entry: &homenode_tlb::Entry| TlbRow {
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        entries: entry.geometry.entries,
        sets: entry.geometry.sets(),
        ways: entry.geometry.ways,
        paired: entry.geometry.paired,
        miss_cost: entry.miss_cost,
    };
    TABLE.iter().map(row).collect()
}

/// Counts the misses of every TLB at every page size in one pass over the trace; with
/// [`TlbConfig::correct`], simulates one machine and policy as well.
///
/// # Errors
/// When the configuration is faulty (found before the trace is read) or the trace is.
pub fn tlb_misses<T: TraceSource + ?Sized>(
    config: &TlbConfig,
    trace: &T,
    progress: Progress<'_>,
) -> Result<TlbStudy, SimError> {
    let specs = TlbSpec::parse_list(&config.tlbs)?;
    let setup = setup(config, &specs, trace)?;
    // The simulation, which counts each reference once to build histories and once to walk them.
    let times = if config.correct.is_some() { 2 * config.page_sizes.len() } else { 0 };
    let times = u64::try_from(times).unwrap_or(0);
    let total = trace.references().saturating_mul(times + 1);
    let counts = count(config, &setup, trace, (progress, total))?;
    let simulation = match &config.correct {
        None => None,
        Some(correction) => {
            let config = simulation_config(config, correction);
            let before = trace.references();
            let simulated =
                run(&config, trace, &mut |done, _| progress(before + done, Some(total)));
            Some(simulated?)
        }
    };
    let mut outcomes = Vec::new();
    for (t, spec) in specs.iter().enumerate() {
        for (s, page_size) in setup.page_sizes.iter().enumerate() {
            let (references, misses) = (counts.references(), counts.misses(t, s));
            let miss_rate = rate(misses, references);
            let corrected = simulation.as_ref().map(|simulation| {
                let outcome = &simulation.outcomes[s];
                let added = miss_rate.zip(spec.miss_cost).map(|(rate, cost)| rate * cost);
                Corrected {
                    machine: outcome.machine.clone(),
                    policy: outcome.policy.clone(),
                    mcpr: outcome.mcpr,
                    corrected_mcpr: outcome.mcpr.zip(added).map(|(mcpr, added)| mcpr + added),
                }
            });
            outcomes.push(TlbOutcome {
                trace: trace.name(),
                tlb: spec.text.clone(),
                page_size: page_size.bytes(),
                processors: setup.processors,
                references,
                lookups: counts.lookups(t, s),
                misses,
                miss_rate,
                miss_cost: spec.miss_cost,
                corrected,
            });
        }
    }
    let simulation = simulation.map(|simulation| simulation.provenance);
    let provenance = provenance(config, &specs, (trace, setup.processors), simulation);
    Ok(TlbStudy { outcomes, provenance })
}

fn provenance<T: TraceSource + ?Sized>(
    config: &TlbConfig,
    specs: &[TlbSpec],
    (trace, processors): (&T, u16),
    simulation: Option<Provenance>,
) -> TlbProvenance {
    let tlb = |spec: &TlbSpec| {
        let g = spec.geometry;
        let paired = if g.paired { "yes" } else { "no" };
        let cost = spec.miss_cost.map_or(String::new(), |cost| format!(",cost={cost}"));
        format!("{}: entries={},ways={},paired={paired}{cost}", spec.text, g.entries, g.ways)
    };
    TlbProvenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.name(),
        trace_checksum: trace.checksum(),
        processors,
        private: config.private,
        sync: config.sync,
        tlbs: specs.iter().map(tlb).collect(),
        simulation,
    }
}

/// Checks the configuration.
fn setup<T: TraceSource + ?Sized>(
    config: &TlbConfig,
    specs: &[TlbSpec],
    trace: &T,
) -> Result<Setup, SimError> {
    let fail = |problem| Err(SimError::Config { problem });
    for (what, none) in [("TLB", specs.is_empty()), ("page size", config.page_sizes.is_empty())] {
        if none {
            return fail(format!("no {what} is given: name at least one"));
        }
    }
    if config.threads.is_some_and(|n| !(1..=THREADS_MAX).contains(&n)) {
        return fail(format!("worker threads must be from 1 to {THREADS_MAX}"));
    }
    let sizes = config.page_sizes.iter().map(|&bytes| BlockSize::new(bytes));
    let setup = Setup {
        tlbs: specs.iter().map(|spec| spec.geometry).collect(),
        page_sizes: sizes.collect::<Result<_, _>>()?,
        processors: processors(config.processors, trace)?,
        filter: Filter {
            private: config.private == Counted::Include,
            synchronisation: config.sync == Synchronisation::Include,
        },
    };
    let bytes = setup.bytes_per_processor().saturating_mul(u64::from(setup.processors));
    if bytes > MEMORY_MAX_BYTES {
        let problem = "the TLBs of all processors together take more than 1 GiB: choose fewer or \
                       smaller TLBs, or fewer page sizes";
        return fail(problem.to_owned());
    }
    if let Some(correction) = &config.correct {
        // A faulty machine or policy is found before the pass over the trace.
        crate::placement::plan::Plan::new(&simulation_config(config, correction), trace)?;
    }
    Ok(setup)
}

fn simulation_config(config: &TlbConfig, correction: &Correction) -> SimConfig {
    SimConfig {
        processors: config.processors,
        private: match config.private {
            Counted::Include => Some(Private::Local),
            Counted::Exclude => Some(Private::Exclude),
        },
        sync: config.sync,
        threads: config.threads,
        force: correction.force,
        ..SimConfig::new(&[&correction.machine], &[&correction.policy], &config.page_sizes)
    }
}

/// Feeds the whole trace to counters that share the processors. The next pieces are decoded
/// meanwhile.
fn count<T: TraceSource + ?Sized>(
    config: &TlbConfig,
    setup: &Setup,
    trace: &T,
    (progress, total): (Progress<'_>, u64),
) -> Result<Counts, SimError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(config.threads.unwrap_or(0))
        .build()
        .map_err(|e| SimError::Config { problem: format!("worker threads: {e}; use fewer") })?;
    let parts = u16::try_from(pool.current_num_threads()).unwrap_or(u16::MAX);
    let parts = parts.min(setup.processors);
    let counter = |index| Counter::new(setup, Part { index, count: parts });
    let mut counters: Vec<Counter> = (0..parts).map(counter).collect();
    windows(&pool, (trace, TraceSource::read), (progress, total), &mut |batches| {
        counters.par_iter_mut().for_each(|c| batches.iter().for_each(|b| c.push(b)));
        Ok(())
    })?;
    let mut all = counters.into_iter().map(Counter::finish);
    let sum = all.next().unwrap_or_else(|| counter(0).finish());
    Ok(all.fold(sum, |mut sum, counts| {
        sum.add(&counts);
        sum
    }))
}

/// Misses per reference.
fn rate(misses: u64, references: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    (references > 0).then(|| misses as f64 / references as f64)
}
