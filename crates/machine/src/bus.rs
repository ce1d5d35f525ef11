//! Machines whose processors share a bus (Foglia, Giorgi and Prete 2004).
//!
//! A file of this kind says `kind = "bus"`; every number is a table with its value and its source:
//!
//! ```toml
//! name = "example"
//! kind = "bus"
//! base = "bus-smp"                       # everything not said here comes from there
//! [cache]
//! size_bytes = { value = 65536, source = "where the number comes from" }
//! [cache.split]                          # an instruction cache of its own; `cache` is for data
//! size_bytes = { value = 32768, source = "..." }
//! associativity = { value = 2, source = "..." }
//! [transactions.read_block_memory]       # cycles; terms as in the prices of other machines
//! terms = { constant = 64, block_bytes = 0.125 }
//! source = "..."
//! ```

use std::path::{Path, PathBuf};

use homenode_base::BlockSize;
use serde::{Deserialize, Serialize};
use toml::Table;

use crate::file::Formula;
use crate::kernel::{KernelFile, KernelModel};
use crate::linear::{Linear, Parameters};
use crate::model::MachineError;
use crate::table::{BUS_TABLE, Preset};

/// How many machines may stand on one another through `base`.
const BASES_MAX: usize = 8;

/// A machine on a bus.
#[derive(Clone, Debug)]
pub struct BusMachine {
    /// Name, as in the table or the file.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// Where its numbers come from.
    pub source: String,
    /// Each processor.
    pub processor: Processor,
    /// Each processor's cache, unless the user says otherwise.
    pub cache: CacheShape,
    /// Each processor's instruction cache, if it has one of its own: `cache` is for data then.
    pub instructions: Option<CacheShape>,
    /// The bus.
    pub bus: Bus,
    /// Who runs where.
    pub scheduler: Scheduler,
    /// Bytes in a page of memory.
    pub page_bytes: u64,
    /// What a kernel does, for traces that have none.
    pub kernel: Option<KernelModel>,
    transactions: [Linear; 7],
}

/// A processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Cycles of a read or write that hits.
    pub operation_cycles: u64,
    /// Words in the store buffer.
    pub store_buffer_words: u32,
    /// Misses under way at a time.
    pub misses_max: u32,
    /// Instructions between the oldest miss under way and the newest instruction.
    pub window_instructions: u32,
    /// Whether every miss stops the processor instead.
    pub blocking: bool,
}

/// Size and arrangement of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CacheShape {
    /// Bytes in the cache.
    pub size_bytes: u64,
    /// Bytes in a block.
    pub block_size_bytes: u64,
    /// Blocks in a set.
    pub associativity: u64,
}

/// A bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bus {
    /// Data lines.
    pub width_bits: u32,
    /// Whether the bus is free while memory looks for a block.
    pub split_transactions: bool,
    /// Who is next.
    pub arbitration: Arbitration,
    /// Cycles of a transaction with memory before the wait; the rest brings the block.
    pub request_cycles: u64,
    /// Cycles of a transaction with memory during which a split bus is free.
    pub wait_cycles: u64,
}

/// Who gets the bus next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// Whoever asked first.
    Fifo,
    /// The next processor in turn that asks.
    RoundRobin,
}

/// How processes come to processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// Which ready process a processor takes.
    pub policy: Dispatch,
    /// References after which a process makes way.
    pub time_slice_references: u64,
    /// How often a ready process is passed over before it goes first.
    pub aging: u32,
    /// Cycles for which a system call that may wait does.
    pub wait_cycles: u64,
}

/// Which ready process a processor takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// Any.
    Random,
    /// The one that ran there last.
    Affinity,
}

/// Cycles of each transaction at one block size.
///
/// Source: Foglia, Giorgi and Prete 2004, table 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusCycles {
    /// Fetching a block from memory.
    pub read_block_memory: u64,
    /// Fetching a block from another cache.
    pub read_block_cache: u64,
    /// Fetching a block from memory to write it.
    pub read_invalidate_memory: u64,
    /// Fetching a block from another cache to write it.
    pub read_invalidate_cache: u64,
    /// Invalidating all other copies.
    pub invalidate: u64,
    /// Updating a word in all other copies.
    pub write: u64,
    /// Writing a block back.
    pub update_block: u64,
}

/// The transactions, in the order of [`BusCycles`].
const TRANSACTIONS: [&str; 7] = [
    "read_block_memory",
    "read_block_cache",
    "read_invalidate_memory",
    "read_invalidate_cache",
    "invalidate",
    "write",
    "update_block",
];

impl BusCycles {
    /// Every transaction with its name in machine files.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); 7] {
        let values = [
            self.read_block_memory,
            self.read_block_cache,
            self.read_invalidate_memory,
            self.read_invalidate_cache,
            self.invalidate,
            self.write,
            self.update_block,
        ];
        std::array::from_fn(|i| (TRANSACTIONS[i], values[i]))
    }
}

/// A value and where it comes from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sourced<T> {
    value: T,
    /// Required of every number; nothing in the program reads it.
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BusFile {
    name: String,
    #[serde(rename = "kind")]
    _kind: String,
    summary: String,
    source: String,
    processor: ProcessorFile,
    cache: CacheFile,
    bus: BusPartFile,
    transactions: std::collections::BTreeMap<String, Formula>,
    scheduler: SchedulerFile,
    memory: MemoryFile,
    kernel: Option<KernelFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessorFile {
    operation_cycles: Sourced<u64>,
    store_buffer_words: Sourced<u32>,
    misses_max: Sourced<u32>,
    window_instructions: Sourced<u32>,
    blocking: Sourced<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CacheFile {
    size_bytes: Sourced<u64>,
    block_size_bytes: Sourced<u64>,
    associativity: Sourced<u64>,
    /// The instruction cache, if it is not the same one.
    split: Option<SplitFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SplitFile {
    size_bytes: Sourced<u64>,
    associativity: Sourced<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BusPartFile {
    width_bits: Sourced<u32>,
    split_transactions: Sourced<bool>,
    arbitration: Sourced<Arbitration>,
    request_cycles: Sourced<u64>,
    wait_cycles: Sourced<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SchedulerFile {
    policy: Sourced<Dispatch>,
    time_slice_references: Sourced<u64>,
    aging: Sourced<u32>,
    wait_cycles: Sourced<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryFile {
    page_bytes: Sourced<u64>,
}

impl BusMachine {
    /// Whether a machine as users write it is on a bus; one that cannot be read is not.
    #[must_use]
    pub fn is_named_by(spec: &str) -> bool {
        if BUS_TABLE.iter().any(|preset| preset.name == spec) {
            return true;
        }
        let is_path =
            spec.contains('/') || Path::new(spec).extension().is_some_and(|e| e == "toml");
        let text = is_path.then(|| std::fs::read_to_string(spec).ok()).flatten();
        let table: Option<Table> = text.and_then(|text| text.parse().ok());
        table.is_some_and(|t| t.get("kind").and_then(toml::Value::as_str) == Some("bus"))
    }

    /// Reads a machine as users write it: a name in [`BUS_TABLE`] or the path of a TOML file.
    ///
    /// # Errors
    /// When there is no such machine or its description is faulty.
    ///
    /// ```
    /// use homenode_base::BlockSize;
    /// use homenode_machine::BusMachine;
    /// let machine = BusMachine::parse("bus-smp")?;
    /// assert_eq!(machine.cycles(BlockSize::new(32)?)?.read_block_memory, 68);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(spec: &str) -> Result<Self, MachineError> {
        if let Some(preset) = preset(spec) {
            return Self::from_toml(preset.text, spec);
        }
        match std::fs::read_to_string(spec) {
            Ok(text) => Self::from_toml(&text, spec),
            Err(source) => Err(MachineError::Io { path: PathBuf::from(spec), source }),
        }
    }

    /// Reads a machine from TOML text; `origin` names it in errors.
    ///
    /// # Errors
    /// When the text is not a machine on a bus, or its base does not exist.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, MachineError> {
        let fail = |problem| MachineError::File { origin: origin.to_owned(), problem };
        let mut merged = read(text, origin)?;
        for _ in 0..BASES_MAX {
            let Some(base) = merged.remove("base") else {
                let file = BusFile::deserialize(merged)
                    .map_err(|e: toml::de::Error| fail(e.message().to_owned()))?;
                return Self::from_file(file, origin);
            };
            let found = base.as_str().and_then(preset).ok_or_else(|| {
                let known: Vec<&str> = BUS_TABLE.iter().map(|p| p.name).collect();
                fail(format!("base {base}: expected one of {}", known.join(", ")))
            })?;
            let mut below = read(found.text, found.name)?;
            overlay(&mut below, merged);
            merged = below;
        }
        Err(fail(format!("more than {BASES_MAX} machines stand on one another")))
    }

    fn from_file(file: BusFile, origin: &str) -> Result<Self, MachineError> {
        let fail = |problem| MachineError::File { origin: origin.to_owned(), problem };
        if let Some(key) = file.transactions.keys().find(|k| !TRANSACTIONS.contains(&k.as_str())) {
            let known = TRANSACTIONS.join(", ");
            return Err(fail(format!("transactions.{key} is unknown, expected {known}")));
        }
        let mut transactions = Vec::new();
        for name in TRANSACTIONS {
            let Some(formula) = file.transactions.get(name).filter(|f| !f.infinite) else {
                return Err(fail(format!("transactions.{name}: expected terms")));
            };
            let linear = Linear::new(formula, &Parameters::new());
            transactions.push(linear.map_err(|e| fail(format!("transactions.{name}: {e}")))?);
        }
        let (processor, cache, bus) = (file.processor, file.cache, file.bus);
        Ok(Self {
            name: file.name,
            summary: file.summary,
            source: file.source,
            processor: Processor {
                operation_cycles: processor.operation_cycles.value,
                store_buffer_words: processor.store_buffer_words.value,
                misses_max: processor.misses_max.value,
                window_instructions: processor.window_instructions.value,
                blocking: processor.blocking.value,
            },
            cache: CacheShape {
                size_bytes: cache.size_bytes.value,
                block_size_bytes: cache.block_size_bytes.value,
                associativity: cache.associativity.value,
            },
            instructions: cache.split.map(|split| CacheShape {
                size_bytes: split.size_bytes.value,
                block_size_bytes: cache.block_size_bytes.value,
                associativity: split.associativity.value,
            }),
            bus: Bus {
                width_bits: bus.width_bits.value,
                split_transactions: bus.split_transactions.value,
                arbitration: bus.arbitration.value,
                request_cycles: bus.request_cycles.value,
                wait_cycles: bus.wait_cycles.value,
            },
            scheduler: Scheduler {
                policy: file.scheduler.policy.value,
                time_slice_references: file.scheduler.time_slice_references.value,
                aging: file.scheduler.aging.value,
                wait_cycles: file.scheduler.wait_cycles.value,
            },
            page_bytes: file.memory.page_bytes.value,
            kernel: file.kernel.map(|kernel| kernel.model().map_err(fail)).transpose()?,
            transactions: transactions.try_into().map_err(|_| fail("seven transactions".into()))?,
        })
    }

    /// What each transaction takes at a block size.
    ///
    /// # Errors
    /// When a transaction does not take a whole number of cycles.
    pub fn cycles(&self, block: BlockSize) -> Result<BusCycles, MachineError> {
        let mut cycles = [0; 7];
        for ((cycles, form), name) in cycles.iter_mut().zip(&self.transactions).zip(TRANSACTIONS) {
            let fail =
                |problem| MachineError::Price { machine: self.name.clone(), price: name, problem };
            let value =
                form.evaluate(&Parameters::new(), block).map_err(|e| fail(e.to_string()))?;
            let millionths = value.millionths();
            if millionths % crate::decimal::ONE != 0 {
                let size = block.bytes();
                return Err(fail(format!("no whole number of cycles at {size}-byte blocks")));
            }
            *cycles = millionths / crate::decimal::ONE;
        }
        let [memory, cache, memory_write, cache_write, invalidate, write, update_block] = cycles;
        Ok(BusCycles {
            read_block_memory: memory,
            read_block_cache: cache,
            read_invalidate_memory: memory_write,
            read_invalidate_cache: cache_write,
            invalidate,
            write,
            update_block,
        })
    }
}

fn preset(name: &str) -> Option<&'static Preset> {
    BUS_TABLE.iter().find(|preset| preset.name == name)
}

fn read(text: &str, origin: &str) -> Result<Table, MachineError> {
    text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(1, |s| text[..s.start].matches('\n').count() + 1);
        let problem = format!("line {line}: {}", e.message());
        MachineError::File { origin: origin.to_owned(), problem }
    })
}

/// Puts what `above` says over what is `below`; tables are merged, but not a formula's terms.
fn overlay(below: &mut Table, above: Table) {
    for (key, value) in above {
        match (below.get_mut(&key), value) {
            (Some(toml::Value::Table(old)), toml::Value::Table(new)) if key != "terms" => {
                overlay(old, new);
            }
            (_, value) => {
                below.insert(key, value);
            }
        }
    }
}
