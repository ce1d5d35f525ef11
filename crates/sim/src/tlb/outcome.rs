//! Results of `tlb` as they are reported.

use homenode_tlb::{TlbCounts, TlbSpec};
use serde::Serialize;

use super::config::TlbConfig;
use super::plan::TlbPlan;
use crate::pass::TraceSource;
use crate::placement::{PlacementProvenance, PlacementSimulation};
use crate::references::Inclusion;
use crate::results::ratio;

/// One TLB at one page size. The field names are public (`docs/tlb.md`).
#[derive(Clone, Debug, Serialize)]
pub struct TlbOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The TLB as written in the configuration.
    pub tlb: String,
    /// Bytes in a page.
    pub page_size: u64,
    /// Processors, each with a TLB of its own.
    pub processors: u16,
    /// Data references counted.
    pub references: u64,
    /// Translations looked up: a reference that straddles pages looks up one for each page.
    pub lookups: u64,
    /// Lookups that missed, including first references to a page.
    pub misses: u64,
    /// Misses per reference (§6.3.2); `null` without references.
    pub miss_rate: Option<f64>,
    /// Cost of a miss in local references; `null` if not given.
    pub miss_cost: Option<f64>,
    /// The mean cost per reference and its correction, if requested.
    #[serde(flatten)]
    pub corrected: Option<CorrectedMcpr>,
}

/// Table 6.5 of the thesis: the mean cost per reference without and with the cost of misses.
#[derive(Clone, Debug, Serialize)]
pub struct CorrectedMcpr {
    /// The machine.
    pub machine: String,
    /// The policy.
    pub policy: String,
    /// Mean cost per reference with pages as blocks; `null` if infinite.
    pub mcpr: Option<f64>,
    /// `mcpr + miss_rate * miss_cost`; `null` if one of these is `null`.
    pub corrected_mcpr: Option<f64>,
}

/// The provenance of the outcomes.
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
    /// How private references were treated.
    pub private: Inclusion,
    /// How synchronisation references were treated.
    pub sync: Inclusion,
    /// Bytes of a word, if references are counted in words; the checksum is that of the recorded
    /// trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub word_bytes: Option<u64>,
    /// Every TLB with all its parameters.
    pub tlbs: Vec<String>,
    /// The provenance of the mean cost per reference.
    pub simulation: Option<PlacementProvenance>,
}

/// Outcomes and their provenance.
#[derive(Clone, Debug, Serialize)]
pub struct TlbReport {
    /// One outcome per TLB and page size.
    pub outcomes: Vec<TlbOutcome>,
    /// Their provenance.
    pub provenance: TlbProvenance,
}

pub(super) fn assemble(
    plan: &TlbPlan,
    counts: &TlbCounts,
    simulation: Option<PlacementSimulation>,
    config: &TlbConfig,
    trace: &dyn TraceSource,
) -> TlbReport {
    let mut outcomes = Vec::new();
    for (t, spec) in plan.specs.iter().enumerate() {
        for (s, page_size) in plan.setup.page_sizes.iter().enumerate() {
            let (references, misses) = (counts.references(), counts.misses(t, s));
            let miss_rate = ratio(misses, references);
            let corrected = simulation.as_ref().map(|simulation| {
                let outcome = &simulation.outcomes[s];
                let added = miss_rate.zip(spec.miss_cost).map(|(rate, cost)| rate * cost);
                CorrectedMcpr {
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
                processors: plan.setup.processors,
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
    let provenance = provenance(config, &plan.specs, trace, plan.setup.processors, simulation);
    TlbReport { outcomes, provenance }
}

fn provenance(
    config: &TlbConfig,
    specs: &[TlbSpec],
    trace: &dyn TraceSource,
    processors: u16,
    simulation: Option<PlacementProvenance>,
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
        word_bytes: config.word_bytes,
        tlbs: specs.iter().map(tlb).collect(),
        simulation,
    }
}
