//! Results of simulations with a directory.

use homenode_analysis::Names;
use homenode_clock::StallTime;
use homenode_directory::{
    ClockedDirectoryResult, CoherenceTable, DirectoryCounts, DirectoryProtocol, ListCounts,
    ListMessage, MessageCounts, MissRule, PageMessageCounts, QueueLoad,
};
use homenode_machine::{ControllerMachine, DirectoryMachine, MemoryTopology, NetworkContention};
use serde::Serialize;

use super::config::{Consistency, DirectoryConfig, MeasuredFrom, PageMapping};
use super::plan::DirectoryPlan;
use crate::page_use::PageUseColumns;
use crate::pass::TraceSource;
use crate::references::{Inclusion, PrivateReferences};
use crate::results::{notes_in_cycles, notes_on, ratio, suggestions_on};
use crate::timed::ReferenceOrder;

/// The result of one protocol on one machine with one home policy. The field names are public;
/// `docs/directory.md` defines each.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// The protocol as written in the configuration.
    pub protocol: String,
    /// The home policy as written in the configuration.
    pub home: String,
    /// The replication policy as written in the configuration.
    pub replication: String,
    /// The proxy policy as written in the configuration.
    pub proxies: String,
    /// Messages that a controller can queue before it sends reads back, as written in the
    /// configuration.
    pub buffers: String,
    /// Nodes, each with a processor and a cache.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// The order in which references took place.
    pub order: ReferenceOrder,
    /// Seed of the random choices of homes.
    pub seed: u64,
    /// The counts.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Messages between different nodes, by kind.
    pub messages: CountedMessages,
    /// Misses divided by references; `null` without any.
    pub miss_rate: Option<f64>,
    /// Fraction of the fills that come from the node's own memory; `null` without fills.
    pub local_fill_share: Option<f64>,
    /// Fraction of the write-backs that go to the node's own memory; `null` without write-backs.
    pub local_write_back_share: Option<f64>,
    /// Times; all `null` in the order of the trace.
    #[serde(flatten)]
    pub times: DirectoryTimes,
}

/// Messages between different nodes, by kind.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum CountedMessages {
    /// Of a protocol that keeps blocks coherent.
    Blocks(MessageCounts),
    /// Of a protocol that keeps pages coherent.
    Pages(PageMessageCounts),
    /// Of a protocol whose directory is a list of copies.
    Lists(ListCounts),
}

/// Times in cycles; all `null` in the order of the trace.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DirectoryTimes {
    /// Until all processes have ended and no transaction is pending.
    pub cycles: Option<u64>,
    /// Sum over all processors: hits, and instructions without a reference. This and the following
    /// four add up to the processors' cycles.
    pub busy: Option<u64>,
    /// Waiting for reads.
    pub read_stall: Option<u64>,
    /// Waiting for writes, or for room in the store buffer.
    pub write_stall: Option<u64>,
    /// Waiting for other processors, or for acknowledgements at a release.
    pub sync_stall: Option<u64>,
    /// In the operating system: page faults and page migrations.
    pub os_stall: Option<u64>,
    /// Mean latency of a fill, from request to arrival; `null` without fills.
    pub mean_fill_cycles: Option<f64>,
    /// Mean latency of a fill for a read; `null` without such fills.
    pub mean_read_response_cycles: Option<f64>,
    /// Link traversals of messages.
    pub hops: Option<u64>,
    /// Page faults: traps on unmapped pages.
    pub page_faults: Option<u64>,
    /// TLB fills, if TLBs are modelled.
    pub tlb_misses: Option<u64>,
    /// Pages that were replicated to nodes that read them.
    pub pages_replicated: Option<u64>,
    /// Replicas that were removed.
    pub replicas_dropped: Option<u64>,
    /// Mean queueing delay of a directory look-up or memory access; `null` without any.
    pub mean_queue_cycles: Option<f64>,
    /// Largest number of look-ups at one controller, or of accesses at one memory, at a time.
    pub max_queue: Option<u64>,
    /// Mean time for which messages from other nodes wait for a node's input, before they are in
    /// its controller's buffer or are sent back; `null` on nodes without controllers.
    pub mean_input_cycles: Option<f64>,
    /// Largest number of messages that wait for one node's input; `null` on nodes without
    /// controllers. The buffer has a limit, this queue has none.
    pub max_input: Option<u64>,
    /// Fraction of the time for which nodes send messages; if processors share a memory, for which
    /// processors and memory slices send.
    pub network_utilisation: Option<f64>,
    /// Fraction of the time for which home controllers look up directory entries.
    pub controller_utilisation: Option<f64>,
    /// Fraction of the time for which memories are busy.
    pub memory_utilisation: Option<f64>,
    /// Deadlocks of processes that were broken by releasing one of them.
    pub deadlocks_broken: Option<u64>,
    /// Reads that full buffers sent back; this and the following three are `null` on nodes without
    /// controllers.
    pub bounced: Option<u64>,
    /// Reads that were retried because they were sent back.
    pub retried: Option<u64>,
    /// Reads that went to a proxy.
    pub proxy_reads: Option<u64>,
    /// Reads that were combined with a pending read of a proxy.
    pub combined: Option<u64>,
}

impl DirectoryTimes {
    fn of(result: &ClockedDirectoryResult, topology: MemoryTopology) -> Self {
        let ClockedDirectoryResult { time, timing, loads, .. } = result;
        let controllers = loads.iter().map(|load| u64::from(load.controllers)).sum();
        let senders = match topology {
            MemoryTopology::PerProcessor => controllers,
            MemoryTopology::Shared(_) => time.processors.len() as u64 + controllers,
        };
        let sum = |part: fn(&StallTime) -> u64| time.stalls.iter().map(part).sum::<u64>();
        let idle: u64 = time.processors.iter().map(|processor| processor.idle).sum();
        let part = |cycles, of: u64| ratio(cycles, time.cycles * of);
        let mut queues = QueueLoad::default();
        loads.iter().flat_map(|load| [load.lookups, load.accesses]).for_each(|it| queues.add(&it));
        let mut arrivals = QueueLoad::default();
        loads.iter().for_each(|load| arrivals.add(&load.arrivals));
        let arrivals = result.list_messages.map(|_| arrivals);
        Self {
            cycles: Some(time.cycles),
            busy: Some(time.processors.iter().map(|processor| processor.busy).sum()),
            read_stall: Some(sum(|stalls| stalls.read)),
            write_stall: Some(sum(|stalls| stalls.write)),
            // Acquires that unmap pages happen while a processor waits to resume.
            sync_stall: Some((sum(|stalls| stalls.sync) + idle).saturating_sub(timing.unmapping)),
            os_stall: Some(sum(|stalls| stalls.system) + timing.unmapping),
            mean_fill_cycles: ratio(timing.fill_cycles, timing.filled),
            mean_read_response_cycles: ratio(timing.read_cycles, timing.read),
            hops: Some(timing.hops),
            page_faults: Some(timing.page_faults),
            tlb_misses: Some(timing.tlb_misses),
            pages_replicated: Some(timing.pages_replicated),
            replicas_dropped: Some(timing.replicas_dropped),
            mean_queue_cycles: ratio(queues.waited, queues.served),
            max_queue: Some(queues.longest),
            mean_input_cycles: arrivals.and_then(|load| ratio(load.waited, load.served)),
            max_input: arrivals.map(|load| load.longest),
            network_utilisation: part(timing.sending, senders),
            controller_utilisation: part(timing.looking_up, controllers),
            memory_utilisation: part(timing.accessing, controllers),
            deadlocks_broken: Some(time.deadlocks_broken),
            ..Self::default()
        }
    }

    fn with_reads(self, counts: Option<&ListCounts>) -> Self {
        Self {
            bounced: counts.map(|counts| counts.sent.of_type(ListMessage::Bounce)),
            retried: counts.map(|counts| counts.retried),
            proxy_reads: counts.map(|counts| counts.sent.of_type(ListMessage::ProxyRead)),
            combined: counts.map(|counts| counts.combined),
            ..self
        }
    }
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryMachineRecord {
    /// The machine.
    pub machine: String,
    /// The source of its numbers.
    pub source: String,
    /// Its parameters, if its nodes have no controllers.
    pub model: Option<DirectoryMachine>,
    /// Its parameters, if its nodes have controllers.
    pub controllers: Option<ControllerMachine>,
    /// Bytes in a page.
    pub page_bytes: u64,
}

/// The provenance of outcomes.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// Numbers of nodes, each simulated.
    pub processors: Vec<u16>,
    /// The order in which references took place.
    pub order: ReferenceOrder,
    /// What a processor waits for when it writes.
    pub consistency: Consistency,
    /// Where messages contend; `null` if it is the machine's.
    pub network_contention: Option<NetworkContention>,
    /// Cost of mapping a page in the operating system.
    pub page_mapping: PageMapping,
    /// Whether pages migrate again at each phase mark.
    pub phase_change: bool,
    /// Where measurement of times and counts begins.
    pub measure_from: MeasuredFrom,
    /// The mark after which nothing is simulated; `null` if it is the end of the trace.
    pub measure_until: Option<String>,
    /// Instructions before each reference, if the trace does not count them.
    pub gap: u32,
    /// Seed of the random choices of homes.
    pub seed: u64,
    /// How private references were treated.
    pub private: PrivateReferences,
    /// Private areas in addition to those of the trace: first byte, and the byte after the last
    /// one.
    pub private_ranges: Vec<(u64, u64)>,
    /// How synchronisation references were treated.
    pub sync: Inclusion,
    /// When an invalidation miss counts as true sharing.
    pub miss_rule: MissRule,
    /// Whether every read was checked.
    pub check: bool,
    /// Every machine with its parameters.
    pub machines: Vec<DirectoryMachineRecord>,
    /// Notes on the trace and the configuration.
    pub notes: Vec<String>,
    /// Steps to take before a simulation, such as removing a serial start.
    pub suggestions: Vec<String>,
}

/// Outcomes and their provenance.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryStudy {
    /// One outcome per machine, protocol, home, cache and number of nodes.
    pub outcomes: Vec<DirectoryOutcome>,
    /// Their provenance.
    pub provenance: DirectoryProvenance,
    /// Page use, one for each outcome; empty unless collected.
    #[serde(skip)]
    pub uses: Vec<PageUseColumns>,
}

pub(super) fn assemble(
    plan: &DirectoryPlan,
    results: Vec<ClockedDirectoryResult>,
    trace: &dyn TraceSource,
) -> DirectoryStudy {
    let config = &plan.config;
    let mut notes = match config.order {
        ReferenceOrder::Clock => notes_in_cycles(trace),
        ReferenceOrder::Trace => notes_on(trace),
    };
    let (mut outcomes, mut uses) = (Vec::new(), Vec::new());
    let names = config.collect_uses.then(|| trace.metadata()).map(Names::new);
    for (point, result) in plan.points.iter().zip(results) {
        let (counts, cache) = (result.counts, point.setup.cache);
        let messages = match (result.page_messages, result.list_messages) {
            (Some(messages), _) => CountedMessages::Pages(messages),
            (None, Some(messages)) => CountedMessages::Lists(messages),
            (None, None) => CountedMessages::Blocks(counts.messages),
        };
        let in_cycles = config.order == ReferenceOrder::Clock;
        let times = in_cycles.then(|| DirectoryTimes::of(&result, point.model.topology()));
        let times = times.unwrap_or_default().with_reads(result.list_messages.as_ref());
        if let (Some(names), Some(found)) = (&names, &result.uses) {
            uses.push(PageUseColumns::new(point, found, &result.loads, names));
        }
        for note in result.notes {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        outcomes.push(DirectoryOutcome {
            trace: trace.name(),
            machine: plan.machines[point.machine].name().to_owned(),
            protocol: point.protocol.clone(),
            home: point.home.text.clone(),
            replication: point.replication.0.clone(),
            proxies: point.choice.proxies.0.clone(),
            buffers: point.choice.buffers.0.clone(),
            processors: point.setup.nodes,
            cache_size: cache.size_bytes,
            block_size: cache.block_size_bytes,
            associativity: cache.associativity,
            order: config.order,
            seed: config.seed,
            counts,
            messages,
            miss_rate: ratio(counts.misses.total(), counts.references),
            local_fill_share: ratio(counts.local_fills, counts.fills),
            local_write_back_share: ratio(counts.local_write_backs, counts.write_backs),
            times,
        });
    }
    notes.extend(checked_reads(config, &outcomes));
    DirectoryStudy { outcomes, provenance: provenance(plan, notes, config, trace), uses }
}

fn provenance(
    plan: &DirectoryPlan,
    notes: Vec<String>,
    config: &DirectoryConfig,
    trace: &dyn TraceSource,
) -> DirectoryProvenance {
    let machines = plan.machines.iter().map(|machine| DirectoryMachineRecord {
        machine: machine.name().to_owned(),
        source: machine.description.source.clone(),
        model: machine.directory().copied(),
        controllers: machine.controllers().copied(),
        page_bytes: machine.page_bytes,
    });
    DirectoryProvenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        trace: trace.name(),
        trace_checksum: trace.checksum(),
        processors: plan.nodes.clone(),
        order: config.order,
        consistency: config.consistency,
        network_contention: config.network_contention,
        page_mapping: config.page_mapping,
        phase_change: config.phase_change,
        measure_from: config.measure_from,
        measure_until: config.measure_until.clone(),
        gap: config.gap,
        seed: config.seed,
        private: config.private,
        private_ranges: config.private_ranges.clone(),
        sync: config.sync,
        miss_rule: config.miss_rule,
        check: config.check,
        machines: machines.collect(),
        notes,
        suggestions: suggestions_on(trace),
    }
}

/// A note for each guarantee that reads were checked against, with the number of checked reads that
/// are counted. A read that violates it ends the run with an error.
pub(super) fn checked_reads(
    config: &DirectoryConfig,
    outcomes: &[DirectoryOutcome],
) -> Vec<String> {
    if !config.check {
        return Vec::new();
    }
    let of_pages = |outcome: &&DirectoryOutcome| {
        DirectoryProtocol::parse(&outcome.protocol)
            .is_ok_and(|protocol| matches!(protocol.table(), CoherenceTable::Pages(_)))
    };
    let (pages, blocks): (Vec<_>, Vec<_>) = outcomes.iter().partition(of_pages);
    let of_blocks = match config.order {
        ReferenceOrder::Trace => "each returned what was written last",
        ReferenceOrder::Clock => {
            "none returned a value older than the last write that all nodes had seen when it was \
             asked for"
        }
    };
    let of_pages = "none returned a value older than a write that acquires and releases put \
                    before it, so a program without data races reads what it would read with one \
                    memory";
    [(blocks, of_blocks), (pages, of_pages)]
        .into_iter()
        .filter_map(|(found, promise)| note(&found, promise))
        .collect()
}

fn note(found: &[&DirectoryOutcome], promise: &str) -> Option<String> {
    let mut protocols: Vec<&str> = found.iter().map(|one| one.protocol.as_str()).collect();
    protocols.dedup();
    let reads: u64 = found.iter().map(|one| one.counts.reads).sum();
    let (runs, protocols) = (found.len(), protocols.join(", "));
    let simulations = if runs == 1 { "simulation" } else { "simulations" };
    (runs > 0).then(|| {
        format!(
            "every read was checked in {runs} {simulations} of {protocols} ({reads} of them \
             counted): {promise}"
        )
    })
}
