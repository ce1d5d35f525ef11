//! Machines with a directory: processors with a cache each, and memories with a directory of their
//! blocks, on a network. Each node has both, or several processors share a memory
//! ([`MemoryTopology`]).
//!
//! Every number is a table with its value and its source:
//!
//! ```toml
//! name = "example"
//! kind = "directory"
//! base = "dash-mesh"                     # what is absent here is taken from there
//! [network]
//! link_cycles = { value = 2, source = "..." }
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cached::{CachedMachine, Interconnect};
use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::parts::{
    Caches, MemoryModel, NodeClock, ProcessorModel, SchedulerModel, within, within_cycles,
};
use crate::topology::{LastLevelModel, MemoryTopology, MemoryTopologyFile};

/// Widest path of the network, in bits.
const PATH_BITS_MAX: u64 = 1 << 16;
/// Most cycles of a flit on a link.
const FLIT_CYCLES_MAX: u64 = 1 << 10;
/// Longest head of a message, in bytes.
const HEADER_BYTES_MAX: u64 = 1 << 10;
/// Bytes of a word of memory.
const WORD_BYTES: u64 = 4;
/// Most words at a time: a block of 1,024 bytes.
const WORDS_MAX: u64 = 256;
/// Most entries of a translation lookaside buffer.
const TLB_ENTRIES_MAX: u64 = 1 << 20;

/// The network, and the latencies of a node's parts, in cycles of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DirectoryMachine {
    /// Cycles of a processor in a millisecond: its clock in MHz times 1,000.
    pub cycles_per_ms: u64,
    /// Where processors and memories are.
    pub topology: MemoryTopology,
    /// The network.
    pub network: MeshModel,
    /// Cycles until memory delivers the first word of a block.
    pub memory_latency_cycles: u64,
    /// Cycles in which memory delivers the next `memory_words` words of 4 bytes.
    pub memory_word_cycles: u64,
    /// Words that memory delivers in `memory_word_cycles`.
    pub memory_words: u64,
    /// Whether memory begins an access during the latency of the previous one.
    pub memory_pipelined: bool,
    /// The cache in front of each memory, if there is one.
    pub last_level: Option<LastLevelModel>,
    /// Cycles of looking a block up in the directory.
    pub directory_cycles: u64,
    /// Cycles from the arrival of a request or invalidation at a cache until its answer leaves.
    pub answer_cycles: u64,
    /// Whether homes keep locks and barriers, operated by messages. If not, these are words of
    /// memory like others.
    pub keeps_locks: bool,
    /// Costs of the operating system.
    pub system: PagingModel,
}

/// The timing of messages on a two-dimensional mesh with dimension-order routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeshModel {
    /// Bits of a flit: what a link transfers at a time, in each direction.
    pub path_bits: u64,
    /// Cycles for which a flit occupies a link, until the next one can follow.
    #[serde(default = "one_cycle")]
    pub flit_cycles: u32,
    /// Cycles of a link between neighbours.
    pub link_cycles: u64,
    /// Cycles of each router on the path.
    pub routing_cycles: u64,
    /// Bytes of a message besides the data that it carries.
    pub header_bytes: u64,
    /// Where messages contend.
    pub contention: NetworkContention,
}

/// Where messages of a network wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkContention {
    /// Nowhere.
    None,
    /// At the ports of nodes, where they leave and enter.
    Ends,
    /// Also at every link.
    Links,
}

/// Costs of the operating system in cycles, and the translation lookaside buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PagingModel {
    /// Entries of each processor's translation lookaside buffer.
    pub tlb_entries: u64,
    /// Cycles of filling one of them.
    pub tlb_fill_cycles: u64,
    /// Cycles of the interrupt of a page fault.
    pub page_fault_cycles: u64,
    /// Cycles of changing a page table.
    pub page_table_cycles: u64,
    /// Cycles of purging a line from a cache.
    pub purge_line_cycles: u64,
}

/// The contents of a file, with what is inherited from its bases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectoryFile {
    name: String,
    summary: String,
    source: String,
    clock: NodeClock,
    processor: ProcessorModel,
    cache: Caches,
    topology: Option<MemoryTopologyFile>,
    last_level: Option<LastLevelModel>,
    network: MeshModel,
    directory: DirectoryLookup,
    system: PagingModel,
    scheduler: SchedulerModel,
    memory: NodeMemory,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectoryLookup {
    lookup_cycles: u64,
    #[serde(default)]
    answer_cycles: u64,
    #[serde(default = "yes")]
    keeps_locks: bool,
}

fn yes() -> bool {
    true
}

fn one() -> u64 {
    1
}

fn one_cycle() -> u32 {
    1
}

/// The part of memory that a node has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeMemory {
    page_bytes: u64,
    latency_cycles: u64,
    word_cycles: u64,
    /// Words delivered in `word_cycles`.
    #[serde(default = "one")]
    words: u64,
    #[serde(default)]
    pipelined: bool,
}

impl MeshModel {
    /// Cycles for which a message of this many bytes occupies a link.
    #[must_use]
    pub fn path_cycles(&self, bytes: u64) -> u64 {
        (bytes * 8).div_ceil(self.path_bits.max(1)) * u64::from(self.flit_cycles)
    }
}

impl DirectoryMachine {
    /// The machine with latencies this many cycles longer: those of memories, of the last level,
    /// and of caches that answer.
    #[must_use]
    pub fn slower_by(mut self, cycles: u64) -> Self {
        self.memory_latency_cycles += cycles;
        self.answer_cycles += cycles;
        if let Some(last_level) = &mut self.last_level {
            last_level.latency_cycles += cycles;
        }
        self
    }

    /// Cycles to transfer this number of bytes from memory, after its latency.
    #[must_use]
    pub fn memory_cycles(&self, bytes: u64) -> u64 {
        (bytes.div_ceil(WORD_BYTES) * self.memory_word_cycles).div_ceil(self.memory_words)
    }

    /// The latencies of the parts of a miss, by name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 5] {
        [
            ("memory", self.memory_latency_cycles),
            ("word", self.memory_word_cycles),
            ("directory", self.directory_cycles),
            ("routing", self.network.routing_cycles),
            ("link", self.network.link_cycles),
        ]
    }

    pub(crate) fn machine(file: MachineFile<'_>) -> Result<CachedMachine, MachineError> {
        file.cached(|file: DirectoryFile| {
            let model = Interconnect::Directory(file.model()?);
            let description = Description::new(file.name, file.summary, file.source);
            let memory = MemoryModel { page_bytes: file.memory.page_bytes };
            let DirectoryFile { processor, cache, scheduler, .. } = file;
            CachedMachine::of(description, processor, &cache, scheduler, memory, model)
        })
    }
}

impl DirectoryFile {
    fn model(&self) -> Result<DirectoryMachine, String> {
        let topology = self.topology.as_ref().map(MemoryTopologyFile::checked).transpose()?;
        let model = DirectoryMachine {
            cycles_per_ms: self.clock.mhz.saturating_mul(1000),
            topology: topology.unwrap_or(MemoryTopology::PerProcessor),
            network: self.network,
            memory_latency_cycles: self.memory.latency_cycles,
            memory_word_cycles: self.memory.word_cycles,
            memory_words: self.memory.words,
            memory_pipelined: self.memory.pipelined,
            last_level: self.last_level.map(LastLevelModel::checked).transpose()?,
            directory_cycles: self.directory.lookup_cycles,
            answer_cycles: self.directory.answer_cycles,
            keeps_locks: self.directory.keeps_locks,
            system: self.system,
        };
        if model.last_level.is_some() && model.topology == MemoryTopology::PerProcessor {
            return Err("last_level without topology: only memories that processors share have a \
                        cache in front of them"
                .to_owned());
        }
        let (network, system) = (model.network, model.system);
        if model.directory_cycles == 0 {
            return Err("directory.lookup_cycles is 0: expected at least 1, so that a home that \
                        retries its own request makes progress"
                .to_owned());
        }
        within_cycles(&[
            ("clock.mhz", model.cycles_per_ms),
            ("network.link_cycles", network.link_cycles),
            ("network.routing_cycles", network.routing_cycles),
            ("memory.latency_cycles", model.memory_latency_cycles),
            ("memory.word_cycles", model.memory_word_cycles),
            ("directory.lookup_cycles", model.directory_cycles),
            ("directory.answer_cycles", model.answer_cycles),
            ("system.tlb_fill_cycles", system.tlb_fill_cycles),
            ("system.page_fault_cycles", system.page_fault_cycles),
            ("system.page_table_cycles", system.page_table_cycles),
            ("system.purge_line_cycles", system.purge_line_cycles),
        ])?;
        within(&[
            ("clock.mhz", self.clock.mhz, 1_000_000),
            ("memory.words", self.memory.words, WORDS_MAX),
            ("network.path_bits", network.path_bits, PATH_BITS_MAX),
            ("network.flit_cycles", u64::from(network.flit_cycles), FLIT_CYCLES_MAX),
            ("network.header_bytes", network.header_bytes, HEADER_BYTES_MAX),
            ("system.tlb_entries", system.tlb_entries, TLB_ENTRIES_MAX),
        ])?;
        Ok(model)
    }
}
