//! Explanations of protocols as they are reported.

use homenode_directory::walk::{DirectoryWalk, PagedWalk};
use homenode_directory::{DirectorySheet, ListCounts};
use homenode_machine::{BusCycles, CacheShape, MachineKind};
use homenode_snoop::BusSheet;
use homenode_snoop::walk::ProtocolWalk;
use serde::Serialize;

use super::subject::WalkedExample;

/// Explanations of protocols for one kind of machine.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum ProtocolExplanation {
    /// Protocols on a bus.
    Bus(Box<Explanation>),
    /// Protocols with a directory of blocks.
    Directory(Box<DirectoryExplanation>),
    /// Protocols on nodes with controllers, whose directory is a list of copies.
    Lists(Box<DirectoryExplanation<ListWalk>>),
    /// Protocols in which operating systems keep pages coherent.
    Pages(Box<PagedExplanation>),
}

/// Explanations of protocols on a bus.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Version of the program.
    pub version: &'static str,
    /// The machine.
    pub machine: String,
    /// Processors.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// The instruction cache, if caches are split; the cache above holds data then.
    pub instruction_cache: Option<CacheShape>,
    /// Cycles of each transaction.
    pub cycles: BusCycles,
    /// The example; `null` if a trace is explained.
    pub example: Option<WalkedExample>,
    /// The part of a trace; `null` if an example is explained.
    pub trace: Option<TraceExcerpt>,
    /// The protocols.
    pub protocols: Vec<ExplainedProtocol>,
}

/// The references of a trace in a walk.
#[derive(Clone, Debug, Serialize)]
pub struct TraceExcerpt {
    /// Name of the trace.
    pub name: String,
    /// Content checksum of the trace.
    pub checksum: String,
    /// For each reference of the walk its index in the trace, fetches included, from 0.
    pub numbers: Vec<u64>,
    /// Whether later references to the same blocks were omitted.
    pub cut: bool,
}

/// The explanation of a protocol.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedProtocol<S = BusSheet, W = ProtocolWalk> {
    /// The protocol as written in the configuration.
    pub name: String,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Its tables.
    pub table: S,
    /// The walk.
    pub walk: W,
}

/// A walk under a protocol of lists.
pub type ListWalk = DirectoryWalk<ListCounts>;
/// The explanation of a protocol with a directory.
pub type ExplainedDirectoryProtocol<W> = ExplainedProtocol<DirectorySheet, W>;
/// Explanations of protocols that keep pages coherent.
pub type PagedExplanation = DirectoryExplanation<PagedWalk>;

/// A machine with a directory, as reported with walks.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedDirectoryMachine {
    /// Version of the program.
    pub version: &'static str,
    /// The kind of the machine, which determines the other fields.
    pub kind: MachineKind,
    /// The machine.
    pub machine: String,
    /// Nodes.
    pub processors: u16,
    /// Bytes in each cache.
    pub cache_size: u64,
    /// Bytes in a block.
    pub block_size: u64,
    /// Blocks in a set.
    pub associativity: u64,
    /// Bytes in a page.
    pub page_size: u64,
    /// Bytes of a message in addition to the block.
    pub header_bytes: u64,
    /// Home policy of pages.
    pub home: String,
}

/// Explanations of protocols with a directory, or of pages.
#[derive(Clone, Debug, Serialize)]
pub struct DirectoryExplanation<W = DirectoryWalk> {
    /// The machine.
    #[serde(flatten)]
    pub machine: ExplainedDirectoryMachine,
    /// `pages`, if these are kept coherent; `None` for blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coherent: Option<&'static str>,
    /// The example; `null` if a trace is explained.
    pub example: Option<WalkedExample>,
    /// The part of a trace; `null` if an example is explained.
    pub trace: Option<TraceExcerpt>,
    /// The protocols.
    pub protocols: Vec<ExplainedDirectoryProtocol<W>>,
}
