//! Results of `lines` as they are reported.

use std::collections::BTreeMap;

use homenode_advise::UseSurvey;
use homenode_analysis::{Names, ObjectKind, SourceSite};
use homenode_base::BlockSize;
use homenode_machine::{DirectoryMachine, LinkModel};
use homenode_snoop::{WaitsByCause, WordWaits};
use homenode_trace::TraceReader;
use serde::Serialize;

use super::config::LineConfig;
use super::findings::{LineFinding, findings};
use super::replay::{LineReplay, LineResult};
use crate::bus::WaitTotals;
use crate::pass::TraceSource;
use crate::references::{Inclusion, PrivateReferences};
use crate::results::{notes_in_cycles, ratio, suggestions_on};

/// Time of all processors, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LineTime {
    /// Execution time in cycles.
    pub cycles: u64,
    /// Cycles for which processors had a thread to run: operations and waiting for memory.
    pub processor_cycles: u64,
    /// Cycles of operations.
    pub busy_cycles: u64,
    /// Cycles without a thread: at barriers and locks, before its start and after its end.
    pub idle_cycles: u64,
    /// Waiting for memory, by cause.
    pub waits: WaitTotals,
    /// Cycles in which at least one processor waits for sharing. A layout saves at most this much,
    /// unless it changes the order of threads at locks.
    pub sharing_elapsed_cycles: u64,
    /// Fraction of `processor_cycles` spent waiting for lines lost to writes of words that the
    /// processor does not use.
    pub false_sharing_share: Option<f64>,
    /// Fraction of `processor_cycles` spent waiting for lines lost to writes of words that the
    /// processor uses.
    pub true_sharing_share: Option<f64>,
    /// Fraction of `processor_cycles` spent waiting for lines that were never in the cache, or
    /// evicted.
    pub other_share: Option<f64>,
}

impl LineTime {
    pub(crate) fn of(result: &LineResult) -> Self {
        let waits = WaitTotals::of(&result.waits.total());
        let all = result.processor_cycles();
        Self {
            cycles: result.cycles,
            processor_cycles: all,
            busy_cycles: result.processors.busy,
            idle_cycles: result.processors.idle,
            false_sharing_share: ratio(waits.false_sharing.cycles, all),
            true_sharing_share: ratio(waits.true_sharing.cycles, all),
            other_share: ratio(waits.cold.cycles + waits.replacement.cycles, all),
            waits,
            sharing_elapsed_cycles: result.waits.sharing_elapsed(),
        }
    }
}

/// Waiting for one data structure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineObject {
    /// Its short name.
    pub label: String,
    /// Kind of memory.
    pub kind: ObjectKind,
    /// Where heap blocks were allocated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocated_at: Option<SourceSite>,
    /// Bytes of all its parts together.
    pub bytes: u64,
    /// Misses and upgrades caused by references to it, and the cycles that processors waited for
    /// them.
    pub waits: WaitTotals,
    /// Fraction of all processors' time that waits for it because of false sharing.
    pub false_sharing_share: Option<f64>,
    /// Fraction of all processors' time that waits for it.
    pub share: Option<f64>,
}

/// Waiting by data structure on one machine.
#[derive(Clone, Debug, Serialize)]
pub struct LineReport {
    /// Name of the trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// The coherence protocol.
    pub protocol: String,
    /// Processors, each with a cache.
    pub processors: u16,
    /// Bytes in a line.
    pub block_size: u64,
    /// References taken into account.
    pub references: u64,
    /// Where the time went.
    pub time: LineTime,
    /// The objects with most waiting: first those with waiting for sharing, longest first.
    pub objects: Vec<LineObject>,
    /// Waiting that a change of the program, but no layout, reduces: counters and locks of many
    /// threads.
    pub findings: Vec<LineFinding>,
    /// Deadlocks of processes that were broken by releasing one; the recorded run had none.
    pub deadlocks_broken: u64,
    /// Everything that the results depend on.
    pub provenance: LineProvenance,
}

/// Sources of a machine's numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineMachineRecord {
    /// The machine.
    pub machine: String,
    /// The source of its numbers.
    pub source: String,
    /// Bytes in a line.
    pub block_size: u64,
    /// Cores, latencies and links; `null` with a directory.
    pub links: Option<LinkModel>,
    /// Network, memory and directory; `null` without a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<Box<DirectoryMachine>>,
}

/// The provenance of a report on lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// The sources of each machine's numbers.
    pub machines: Vec<LineMachineRecord>,
    /// The coherence protocol.
    pub protocol: String,
    /// Home policy of pages; `null` without a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// How private references were treated.
    pub private: PrivateReferences,
    /// How synchronisation references were treated.
    pub sync: Inclusion,
    /// Notes on the trace.
    pub notes: Vec<String>,
    /// Steps to take before a simulation, such as removing a serial start.
    pub suggestions: Vec<String>,
}

impl LineProvenance {
    pub(crate) fn of(replay: &LineReplay<'_>, trace: &TraceReader) -> Self {
        let (machine, config) = (&replay.machine, replay.config);
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            trace: TraceSource::name(trace),
            trace_checksum: trace.checksum(),
            machines: vec![LineMachineRecord {
                machine: machine.name().to_owned(),
                source: machine.description.source.clone(),
                block_size: replay.block.bytes(),
                links: machine.links(replay.block.bytes()),
                directory: machine.directory().copied().map(Box::new),
            }],
            protocol: replay.protocol.clone(),
            home: replay.home.clone(),
            private: config.private,
            sync: config.sync,
            notes: notes_in_cycles(trace),
            suggestions: suggestions_on(trace),
        }
    }
}

pub(super) fn assemble(
    config: &LineConfig,
    replay: &LineReplay<'_>,
    trace: &TraceReader,
    names: &Names<'_>,
    survey: Option<&UseSurvey>,
    results: Vec<LineResult>,
) -> LineReport {
    let result = results.into_iter().next();
    let time = result.as_ref().map(LineTime::of).unwrap_or_default();
    let none = WordWaits::default();
    let waits = result.as_ref().map_or(&none, |result| &result.waits);
    let objects = objects(names, waits, time.processor_cycles, config.count);
    LineReport {
        trace: TraceSource::name(trace),
        machine: config.machine.clone(),
        protocol: replay.protocol.clone(),
        processors: replay.processors,
        block_size: replay.block.bytes(),
        references: result.as_ref().map_or(0, |result| result.references),
        findings: survey
            .map(|survey| findings(names, survey, waits, time.processor_cycles))
            .unwrap_or_default(),
        time,
        objects,
        deadlocks_broken: result.map_or(0, |result| result.deadlocks_broken),
        provenance: LineProvenance::of(replay, trace),
    }
}

/// Waiting by object: the objects with most waiting, and first among them those with waiting for
/// sharing.
pub(crate) fn objects(
    names: &Names<'_>,
    waits: &WordWaits,
    processor_cycles: u64,
    most: usize,
) -> Vec<LineObject> {
    let mut groups: BTreeMap<usize, WaitsByCause> = BTreeMap::new();
    for (word, waits) in waits.iter() {
        groups.entry(names.group(word * BlockSize::WORD_BYTES)).or_default().add(&waits);
    }
    // Objects with the same label are one row.
    let mut rows: BTreeMap<String, (WaitsByCause, u64, usize)> = BTreeMap::new();
    for (group, waits) in groups {
        let label = names.object_of(group).label();
        let label = if label.is_empty() { "memory without a name".to_owned() } else { label };
        let row = rows.entry(label).or_insert((WaitsByCause::default(), 0, group));
        row.0.add(&waits);
        row.1 += names.bytes_of(group);
    }
    let mut found: Vec<LineObject> = rows
        .into_iter()
        .map(|(label, (waits, bytes, group))| {
            let object = names.object_of(group);
            let totals = WaitTotals::of(&waits);
            LineObject {
                label,
                kind: object.kind,
                allocated_at: object.allocated_at.clone(),
                bytes,
                false_sharing_share: ratio(totals.false_sharing.cycles, processor_cycles),
                share: ratio(waits.cycles(), processor_cycles),
                waits: totals,
            }
        })
        .collect();
    let by_share = |a: &LineObject, b: &LineObject| {
        let share = |row: &LineObject| row.share.unwrap_or(0.0);
        share(b).total_cmp(&share(a)).then_with(|| a.label.cmp(&b.label))
    };
    found.sort_by(by_share);
    found.truncate(most);
    let sharing = |row: &LineObject| row.waits.false_sharing.cycles + row.waits.true_sharing.cycles;
    // The sort is stable: objects without waiting for sharing stay in order of total waiting.
    found.sort_by_key(|row| std::cmp::Reverse(sharing(row)));
    found
}
