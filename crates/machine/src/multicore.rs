//! Multicore machines: cores with private caches, last-level caches shared by some of them,
//! sockets, and links between the sockets.
//!
//! Every number is a table with its value and its source:
//!
//! ```toml
//! name = "example"
//! kind = "multicore"
//! base = "spr-2s-lines"                  # what is absent here is taken from there
//! [topology]
//! sockets = { value = 2, source = "..." }
//! [latency]                              # ns from issuing a load to having its data
//! memory_ns = { value = 111, source = "..." }
//! ```

use serde::{Deserialize, Serialize};

use crate::cached::{CachedMachine, Interconnect};
use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::parts::{CacheShape, Caches, MemoryModel, ProcessorModel, SchedulerModel};

/// Most sockets, and most last-level caches in a socket.
const TOPOLOGY_MAX: u64 = 64;
/// Longest latency in ns; a longer one is a mistake.
const LATENCY_NS_MAX: f64 = 1e6;
/// Highest clock frequency in GHz.
const CLOCK_GHZ_MAX: f64 = 100.0;

/// The arrangement of cores and the latencies between them, in cycles of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkModel {
    /// Cycles of a core in a millisecond: its clock in MHz times 1,000.
    pub cycles_per_ms: u64,
    /// Sockets, each with a memory.
    pub sockets: u64,
    /// Last-level caches in a socket, each shared by as many of its cores.
    pub last_levels: u64,
    /// The shape of each last-level cache.
    pub last_level: CacheShape,
    /// Cycles from issuing a load to having its data, by where they come from.
    pub latency: LinkLatencies,
    /// Whether messages queue at memories and between sockets.
    pub contention: bool,
    /// Cycles for which a block keeps its socket's memory busy.
    pub memory_block_cycles: u64,
    /// Cycles for which a block keeps the link between sockets busy in one direction.
    pub link_block_cycles: u64,
}

/// Cycles from issuing a load to having its data, by where they come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LinkLatencies {
    /// The last-level cache of the core.
    pub last_level: u64,
    /// The cache of another core with the same last level.
    pub same_last_level: u64,
    /// The cache of another core of the socket.
    pub same_socket: u64,
    /// The cache of a core of another socket.
    pub cross_socket: u64,
    /// The socket's own memory.
    pub memory: u64,
    /// Another socket's memory.
    pub remote_memory: u64,
}

impl LinkLatencies {
    fn each_mut(&mut self) -> [&mut u64; 6] {
        let Self { last_level, same_last_level, same_socket, cross_socket, .. } = self;
        let Self { memory, remote_memory, .. } = self;
        [last_level, same_last_level, same_socket, cross_socket, memory, remote_memory]
    }

    /// Every latency with its name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 6] {
        [
            ("last_level", self.last_level),
            ("same_last_level", self.same_last_level),
            ("same_socket", self.same_socket),
            ("cross_socket", self.cross_socket),
            ("memory", self.memory),
            ("remote_memory", self.remote_memory),
        ]
    }
}

/// The contents of a file, with what is inherited from its bases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MulticoreFile {
    name: String,
    summary: String,
    source: String,
    processor: ProcessorModel,
    cache: Caches,
    last_level: LastLevelFile,
    topology: TopologyFile,
    clock: ClockFile,
    latency: LatencyFile,
    contention: ContentionFile,
    scheduler: SchedulerModel,
    memory: MemoryModel,
}

/// A last-level cache, whose blocks are those of the cores' caches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LastLevelFile {
    size_bytes: u64,
    associativity: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopologyFile {
    sockets: u64,
    last_levels_per_socket: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockFile {
    ghz: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LatencyFile {
    last_level_ns: f64,
    same_last_level_ns: f64,
    same_socket_ns: f64,
    cross_socket_ns: f64,
    memory_ns: f64,
    remote_memory_ns: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentionFile {
    modelled: bool,
    /// GB/s of one socket's memory.
    memory_gbytes_per_s: f64,
    /// GB/s between two sockets, in one direction.
    link_gbytes_per_s: f64,
}

impl LinkModel {
    pub(crate) fn machine(file: MachineFile<'_>) -> Result<CachedMachine, MachineError> {
        file.cached(|file: MulticoreFile| {
            let links = Interconnect::Links(file.links()?);
            let description = Description::new(file.name, file.summary, file.source);
            let MulticoreFile { processor, cache, scheduler, memory, .. } = file;
            CachedMachine::of(description, processor, &cache, scheduler, memory, links)
        })
    }

    /// The same machine with contention switched on or off, if given.
    #[must_use]
    pub fn with_contention(&self, contention: Option<bool>) -> Self {
        Self { contention: contention.unwrap_or(self.contention), ..*self }
    }

    /// The same machine with every latency this many cycles longer.
    #[must_use]
    pub fn slower_by(&self, cycles: u64) -> Self {
        let mut latency = self.latency;
        for of_one in latency.each_mut() {
            *of_one += cycles;
        }
        Self { latency, ..*self }
    }

    /// The same machine whose cores' caches have blocks of another size.
    #[must_use]
    pub fn with_block_size(&self, block_size_bytes: u64) -> Self {
        let last_level = CacheShape { block_size_bytes, ..self.last_level };
        let own = self.last_level.block_size_bytes.max(1);
        let scaled = |cycles: u64| (cycles * block_size_bytes).div_ceil(own);
        Self {
            last_level,
            memory_block_cycles: scaled(self.memory_block_cycles),
            link_block_cycles: scaled(self.link_block_cycles),
            ..*self
        }
    }
}

impl MulticoreFile {
    fn links(&self) -> Result<LinkModel, String> {
        let ghz = self.clock.ghz;
        let ghz = positive("clock.ghz", ghz, CLOCK_GHZ_MAX)?;
        let cycles = |name: &str, ns: f64| {
            positive(&format!("latency.{name}"), ns, LATENCY_NS_MAX)
                .map(|ns| whole(ns * ghz).max(2))
        };
        let latency = &self.latency;
        let block = self.cache.data().block_size_bytes;
        #[expect(clippy::cast_precision_loss, reason = "blocks have at most 1024 bytes")]
        let busy = |name: &str, gbytes_per_s: f64| {
            let rate = positive(&format!("contention.{name}"), gbytes_per_s, LATENCY_NS_MAX)?;
            Ok::<u64, String>(whole(block as f64 / rate * ghz).max(1))
        };
        let within = |name: &str, count: u64| match count {
            1..=TOPOLOGY_MAX => Ok(count),
            _ => Err(format!("topology.{name}: expected 1 to {TOPOLOGY_MAX}, found {count}")),
        };
        Ok(LinkModel {
            cycles_per_ms: whole(ghz * 1e6),
            sockets: within("sockets", self.topology.sockets)?,
            last_levels: within("last_levels_per_socket", self.topology.last_levels_per_socket)?,
            last_level: CacheShape {
                size_bytes: self.last_level.size_bytes,
                block_size_bytes: block,
                associativity: self.last_level.associativity,
            },
            latency: LinkLatencies {
                last_level: cycles("last_level_ns", latency.last_level_ns)?,
                same_last_level: cycles("same_last_level_ns", latency.same_last_level_ns)?,
                same_socket: cycles("same_socket_ns", latency.same_socket_ns)?,
                cross_socket: cycles("cross_socket_ns", latency.cross_socket_ns)?,
                memory: cycles("memory_ns", latency.memory_ns)?,
                remote_memory: cycles("remote_memory_ns", latency.remote_memory_ns)?,
            },
            contention: self.contention.modelled,
            memory_block_cycles: busy("memory_gbytes_per_s", self.contention.memory_gbytes_per_s)?,
            link_block_cycles: busy("link_gbytes_per_s", self.contention.link_gbytes_per_s)?,
        })
    }
}

fn positive(name: &str, value: f64, most: f64) -> Result<f64, String> {
    if value > 0.0 && value <= most {
        Ok(value)
    } else {
        Err(format!("{name}: expected a number above 0 and up to {most}, found {value}"))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "values are positive and far below 2^53"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
