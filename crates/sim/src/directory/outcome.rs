//! Results, as the command line prints them.

use homenode_analysis::Names;
use homenode_clock::{ClockTime, StallTime};
use homenode_directory::{
    ClockedDirectoryResult, DirectoryCounts, DirectoryResult, DirectoryTiming, HomeLoad,
    ListCounts, ListMessage, MessageCounts, MissRule, PageMessageCounts, PageUsage, QueueLoad,
};
use homenode_machine::{ControllerMachine, DirectoryMachine, MemoryTopology, NetworkContention};
use serde::Serialize;

use super::checked::checked_reads;
use super::config::{Consistency, DirectoryConfig, MeasuredFrom, PageMapping};
use super::plan::DirectoryPlan;
use super::uses::PageUseColumns;
use crate::bus::ReferenceOrder;
use crate::notes::{notes_on, suggestions_on};
use crate::pass::TraceSource;
use crate::ratio::ratio;
use crate::references::{Inclusion, PrivateReferences};

/// What one protocol does on one machine with one policy of homes. The names of the fields are a
/// public contract; `docs/directory.md` defines each.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryOutcome {
    /// Name of the trace.
    pub trace: String,
    /// The machine.
    pub machine: String,
    /// The protocol as the configuration names it.
    pub protocol: String,
    /// The policy of homes as the configuration names it.
    pub home: String,
    /// When pages are copied, as the configuration says it.
    pub replication: String,
    /// Which reads go by proxies, as the configuration says it.
    pub proxies: String,
    /// How many messages may wait at a controller before it sends reads back, as the configuration
    /// says it.
    pub buffers: String,
    /// Nodes, each with a processor and a cache.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// In which order references took place.
    pub order: ReferenceOrder,
    /// Seed of what homes leave to chance.
    pub seed: u64,
    /// The counts.
    #[serde(flatten)]
    pub counts: DirectoryCounts,
    /// Messages between different nodes, by kind.
    pub messages: CountedMessages,
    /// Misses divided by references; `null` without any.
    pub miss_rate: Option<f64>,
    /// The part of the fills that come from the node's own memory; `null` without any.
    pub local_fill_share: Option<f64>,
    /// The part of the write-backs that go to the node's own memory; `null` without any.
    pub local_write_back_share: Option<f64>,
    /// What took how long; `null` in the order of the trace.
    #[serde(flatten)]
    pub times: DirectoryTimes,
}

/// Messages between different nodes, by kind.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub enum CountedMessages {
    /// Of a protocol that keeps blocks coherent.
    Blocks(MessageCounts),
    /// Of one that keeps pages coherent.
    Pages(PageMessageCounts),
    /// Of one of lists.
    Lists(ListCounts),
}

/// What took how long, in cycles; all `null` in the order of the trace.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DirectoryTimes {
    /// Until all processes were over and nothing was under way.
    pub cycles: Option<u64>,
    /// Of all processors together: references that hit, and instructions without a reference. This
    /// and the following four are together the processors' cycles.
    pub busy: Option<u64>,
    /// Waiting for reads.
    pub read_stall: Option<u64>,
    /// Waiting for writes, or for room in the store buffer.
    pub write_stall: Option<u64>,
    /// Waiting for other processors, or for acknowledgements at a release.
    pub sync_stall: Option<u64>,
    /// In the operating system: page faults, and pages that move.
    pub os_stall: Option<u64>,
    /// From asking for a block until it is there, on average; `null` without any.
    pub mean_fill_cycles: Option<f64>,
    /// The same of what processors read; `null` without any.
    pub mean_read_response_cycles: Option<f64>,
    /// Links that messages went along.
    pub hops: Option<u64>,
    /// Traps because of pages that were not mapped.
    pub page_faults: Option<u64>,
    /// Fills of entries of lookaside buffers, where they are modelled.
    pub tlb_misses: Option<u64>,
    /// Pages that were copied to nodes that read them.
    pub pages_replicated: Option<u64>,
    /// Copies that are no more.
    pub replicas_dropped: Option<u64>,
    /// For how long a look-up or an access of memory waited for those before it, on average; `null`
    /// without any.
    pub mean_queue_cycles: Option<f64>,
    /// Most look-ups that one controller, or accesses that one memory, had at a time.
    pub max_queue: Option<u64>,
    /// The part of the time for which nodes sent messages; where several processors share a memory,
    /// processors and slices of memories.
    pub network_utilisation: Option<f64>,
    /// The part of the time for which controllers of homes looked something up.
    pub controller_utilisation: Option<f64>,
    /// The part of the time for which memories were accessed.
    pub memory_utilisation: Option<f64>,
    /// How often processes waited for each other in a ring, and one had to be let go.
    pub deadlocks_broken: Option<u64>,
    /// Reads that full buffers sent back; this and the following three are `null` where nodes have
    /// no controllers.
    pub bounced: Option<u64>,
    /// Reads that were sent again for that.
    pub retried: Option<u64>,
    /// Reads that went to a proxy.
    pub proxy_reads: Option<u64>,
    /// Reads that joined one that a proxy had under way.
    pub combined: Option<u64>,
}

/// What took how long.
struct ClockedDirectory {
    time: ClockTime,
    timing: DirectoryTiming,
    loads: Vec<HomeLoad>,
}

/// What a simulation found, with or without a clock.
pub(super) struct FoundDirectory {
    counts: DirectoryCounts,
    page_messages: Option<PageMessageCounts>,
    list_messages: Option<ListCounts>,
    clocked: Option<ClockedDirectory>,
    uses: Option<Vec<PageUsage>>,
    notes: Vec<String>,
}

impl From<DirectoryResult> for FoundDirectory {
    fn from(found: DirectoryResult) -> Self {
        let DirectoryResult { counts, uses, notes, .. } = found;
        Self { counts, page_messages: None, list_messages: None, clocked: None, uses, notes }
    }
}

impl From<ClockedDirectoryResult> for FoundDirectory {
    fn from(found: ClockedDirectoryResult) -> Self {
        let ClockedDirectoryResult { counts, page_messages, list_messages, uses, notes, .. } =
            found;
        let ClockedDirectoryResult { time, timing, loads, .. } = found;
        let clocked = Some(ClockedDirectory { time, timing, loads });
        Self { counts, page_messages, list_messages, clocked, uses, notes }
    }
}

impl DirectoryTimes {
    fn of(
        ClockedDirectory { time, timing, loads }: &ClockedDirectory,
        topology: MemoryTopology,
    ) -> Self {
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
        Self {
            cycles: Some(time.cycles),
            busy: Some(time.processors.iter().map(|processor| processor.busy).sum()),
            read_stall: Some(sum(|stalls| stalls.read)),
            write_stall: Some(sum(|stalls| stalls.write)),
            // Acquires that unmap pages happen while a processor waits to go on.
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
            network_utilisation: part(timing.sending, senders),
            controller_utilisation: part(timing.looking_up, controllers),
            memory_utilisation: part(timing.accessing, controllers),
            deadlocks_broken: Some(time.deadlocks_broken),
            ..Self::default()
        }
    }

    /// With what became of reads where nodes have controllers.
    fn with_reads(self, counts: Option<&ListCounts>) -> Self {
        Self {
            bounced: counts.map(|counts| counts.get(ListMessage::Bounce)),
            retried: counts.map(|counts| counts.retried),
            proxy_reads: counts.map(|counts| counts.get(ListMessage::ProxyRead)),
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
    /// Where its numbers come from.
    pub source: String,
    /// Its numbers, if its nodes have no controllers.
    pub model: Option<DirectoryMachine>,
    /// Its numbers, if they have.
    pub controllers: Option<ControllerMachine>,
    /// Bytes in a page.
    pub page_bytes: u64,
}

/// Everything that the outcomes depend on.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryProvenance {
    /// Version of the program.
    pub version: String,
    /// Name of the trace.
    pub trace: String,
    /// Content checksum of the trace.
    pub trace_checksum: String,
    /// Nodes: one number or several, each simulated.
    pub processors: Vec<u16>,
    /// In which order references took place.
    pub order: ReferenceOrder,
    /// What a processor waits for when it writes.
    pub consistency: Consistency,
    /// Where messages wait for each other, if not where the machine says.
    pub network_contention: Option<NetworkContention>,
    /// What the operating system takes to map a page.
    pub page_mapping: PageMapping,
    /// Whether pages move again at each mark of a phase.
    pub phase_change: bool,
    /// Where times and counts begin.
    pub measure_from: MeasuredFrom,
    /// Instructions before each reference, where the trace does not count them.
    pub gap: u32,
    /// Seed of what homes leave to chance.
    pub seed: u64,
    /// What the trace's private references are.
    pub private: PrivateReferences,
    /// Private areas beside those: first byte, and one past the last.
    pub private_ranges: Vec<(u64, u64)>,
    /// What was done with synchronisation references.
    pub sync: Inclusion,
    /// When an invalidation miss is true sharing.
    pub miss_rule: MissRule,
    /// Whether every read was checked.
    pub check: bool,
    /// Every machine with its numbers.
    pub machines: Vec<DirectoryMachineRecord>,
    /// Notes on the trace and the configuration.
    pub notes: Vec<String>,
    /// What to do with the trace first: to leave out its start, if that is serial.
    pub suggestions: Vec<String>,
}

/// Outcomes and their provenance.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryStudy {
    /// One outcome per machine, protocol, home, cache and number of nodes.
    pub outcomes: Vec<DirectoryOutcome>,
    /// Everything that they depend on.
    pub provenance: DirectoryProvenance,
    /// Who used which page, one an outcome; nothing unless it was to be collected.
    #[serde(skip)]
    pub uses: Vec<PageUseColumns>,
}

/// Assembles the outcomes of all points.
pub(super) fn assemble<T: TraceSource + ?Sized>(
    plan: &DirectoryPlan,
    results: Vec<FoundDirectory>,
    (config, trace): (&DirectoryConfig, &T),
) -> DirectoryStudy {
    let mut notes = notes_on(trace);
    let (mut outcomes, mut uses) = (Vec::new(), Vec::new());
    let names = config.collect_uses.then(|| trace.metadata()).map(Names::new);
    for (point, result) in plan.points.iter().zip(results) {
        let (counts, cache) = (result.counts, point.setup.cache);
        let messages = match (result.page_messages, result.list_messages) {
            (Some(messages), _) => CountedMessages::Pages(messages),
            (None, Some(messages)) => CountedMessages::Lists(messages),
            (None, None) => CountedMessages::Blocks(counts.messages),
        };
        let clocked = result.clocked.as_ref();
        let times = clocked
            .map(|found| DirectoryTimes::of(found, point.model.topology()))
            .unwrap_or_default()
            .with_reads(result.list_messages.as_ref());
        if let (Some(names), Some(found)) = (&names, &result.uses) {
            let loads = clocked.map(|found| &found.loads[..]).unwrap_or_default();
            uses.push(PageUseColumns::new(point, (found, loads), names));
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
    DirectoryStudy { outcomes, provenance: provenance((plan, notes), (config, trace)), uses }
}

fn provenance<T: TraceSource + ?Sized>(
    (plan, notes): (&DirectoryPlan, Vec<String>),
    (config, trace): (&DirectoryConfig, &T),
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
