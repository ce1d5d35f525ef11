//! Machines with a directory whose nodes have a controller that serves one request at a time: all
//! requests to a node, from its processor or from the network, queue for it.
//!
//! Every number is a table with its value and its source:
//!
//! ```toml
//! name = "example"
//! kind = "controllers"
//! base = "alite"                         # what is absent here is taken from there
//! [network]
//! short_cycles = { value = 50, source = "..." }
//! ```

use serde::{Deserialize, Serialize};

use crate::cached::{CachedMachine, Interconnect};
use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::parts::{
    CacheShape, Caches, MemoryModel, NodeClock, ProcessorModel, SchedulerModel, within,
    within_cycles,
};

/// Longest head of a message, in bytes.
const HEADER_BYTES_MAX: u64 = 1 << 10;
/// Largest first level: the simulator keeps its contents for each node.
const FIRST_LEVEL_BYTES_MAX: u64 = 1 << 20;
/// Most reads that may wait at a controller; a larger number makes no difference.
const BUFFER_READS_MAX: u64 = 1 << 20;

/// Nodes with two levels of cache, memory and a controller, on a crossbar. Times are cycles of a
/// processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ControllerMachine {
    /// Cycles of a processor in a millisecond: its clock in MHz times 1,000.
    pub cycles_per_ms: u64,
    /// Bytes in the first level, which is direct mapped and written through.
    pub first_level_bytes: u64,
    /// The second level, on a bus that processor and controller share.
    pub second_level: BusyStore,
    /// Memory with its directory, on a bus of its own.
    pub memory: BusyStore,
    /// The controller's other timing.
    pub controller: ControllerModel,
    /// The network.
    pub network: CrossbarModel,
}

/// A store behind a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusyStore {
    /// Cycles until the bus is acquired, if it is free.
    pub acquire_cycles: u64,
    /// Cycles until it is released.
    pub release_cycles: u64,
    /// Cycles of a look-up.
    pub lookup_cycles: u64,
    /// Cycles of reading or writing a block.
    pub line_cycles: u64,
}

/// The timing of a node's controller, apart from accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerModel {
    /// Cycles of sending a message.
    pub send_cycles: u64,
    /// How many messages may wait at a controller before it rejects reads, if buffers are finite.
    pub buffer_reads: u64,
}

/// A crossbar after the LogP model: messages queue only where they leave and enter a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossbarModel {
    /// Cycles of a message without a block.
    pub short_cycles: u64,
    /// Cycles of a message with a block.
    pub long_cycles: u64,
    /// Least cycles between two messages that one node sends, and between two that it receives.
    pub gap_cycles: u64,
    /// Bytes of a message besides the data that it carries.
    pub header_bytes: u64,
}

/// The contents of a file, with what is inherited from its bases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ControllerFile {
    name: String,
    summary: String,
    source: String,
    clock: NodeClock,
    processor: ProcessorModel,
    first_level: FirstLevel,
    cache: Caches,
    second_level: BusyStore,
    memory: MemoryFile,
    controller: ControllerModel,
    network: CrossbarModel,
    scheduler: SchedulerModel,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstLevel {
    size_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryFile {
    page_bytes: u64,
    acquire_cycles: u64,
    release_cycles: u64,
    lookup_cycles: u64,
    line_cycles: u64,
}

impl BusyStore {
    fn checked(self, name: &str) -> Result<Self, String> {
        for (what, cycles) in [
            ("acquire_cycles", self.acquire_cycles),
            ("release_cycles", self.release_cycles),
            ("lookup_cycles", self.lookup_cycles),
            ("line_cycles", self.line_cycles),
        ] {
            within_cycles(&[(&format!("{name}.{what}"), cycles)])?;
        }
        if self.lookup_cycles == 0 {
            return Err(format!(
                "{name}.lookup_cycles is 0: expected at least 1, so that a node that \
                 retries its own request makes progress"
            ));
        }
        Ok(self)
    }
}

impl ControllerMachine {
    pub(crate) fn machine(file: MachineFile<'_>) -> Result<CachedMachine, MachineError> {
        file.cached(|file: ControllerFile| {
            let model = Interconnect::Controllers(file.model(file.cache.data())?);
            let description = Description::new(file.name, file.summary, file.source);
            let memory = MemoryModel { page_bytes: file.memory.page_bytes };
            let ControllerFile { processor, cache, scheduler, .. } = file;
            Ok(CachedMachine {
                instructions: None,
                ..CachedMachine::of(description, processor, &cache, scheduler, memory, model)?
            })
        })
    }

    /// The latencies of the parts of a miss, by name.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("second_level_lookup", self.second_level.lookup_cycles),
            ("second_level_line", self.second_level.line_cycles),
            ("memory_lookup", self.memory.lookup_cycles),
            ("memory_line", self.memory.line_cycles),
            ("send", self.controller.send_cycles),
            ("short_message", self.network.short_cycles),
            ("long_message", self.network.long_cycles),
        ]
    }

    /// The number of blocks of this size in the first level.
    #[must_use]
    pub fn first_level_blocks(&self, block_size_bytes: u64) -> u64 {
        (self.first_level_bytes / block_size_bytes).max(1)
    }
}

impl ControllerFile {
    fn model(&self, cache: CacheShape) -> Result<ControllerMachine, String> {
        let MemoryFile { acquire_cycles, release_cycles, lookup_cycles, line_cycles, .. } =
            self.memory;
        let memory = BusyStore { acquire_cycles, release_cycles, lookup_cycles, line_cycles };
        let model = ControllerMachine {
            cycles_per_ms: self.clock.mhz.saturating_mul(1000),
            first_level_bytes: self.first_level.size_bytes,
            second_level: self.second_level.checked("second_level")?,
            memory: memory.checked("memory")?,
            controller: self.controller,
            network: self.network,
        };
        within_cycles(&[
            ("clock.mhz", model.cycles_per_ms),
            ("controller.send_cycles", model.controller.send_cycles),
            ("network.short_cycles", model.network.short_cycles),
            ("network.long_cycles", model.network.long_cycles),
            ("network.gap_cycles", model.network.gap_cycles),
        ])?;
        within(&[
            ("clock.mhz", self.clock.mhz, 1_000_000),
            ("controller.buffer_reads", model.controller.buffer_reads, BUFFER_READS_MAX),
            ("network.header_bytes", model.network.header_bytes, HEADER_BYTES_MAX),
            ("first_level.size_bytes", model.first_level_bytes, FIRST_LEVEL_BYTES_MAX),
        ])?;
        if !model.first_level_bytes.is_power_of_two() || model.first_level_bytes > cache.size_bytes
        {
            return Err(format!(
                "first_level.size_bytes is {}: expected a power of two, at most the {} bytes of \
                 the second level",
                model.first_level_bytes, cache.size_bytes
            ));
        }
        if !self.processor.blocking {
            return Err("processor.blocking is false: nodes with controllers are sequentially \
                        consistent, and a processor waits for every miss"
                .to_owned());
        }
        Ok(model)
    }
}
