//! Machines whose processors share a bus (Foglia, Giorgi and Prete 2004).
//!
//! Every number of such a machine is a table with its value and its source:
//!
//! ```toml
//! name = "example"
//! kind = "bus"
//! base = "bus-smp"                       # what is absent here is taken from there
//! [cache]
//! size_bytes = { value = 65536, source = "where the number comes from" }
//! [cache.split]                          # an instruction cache of its own; `cache` is for data
//! size_bytes = { value = 32768, source = "..." }
//! associativity = { value = 2, source = "..." }
//! [transactions.read_block_memory]       # cycles; terms as in the prices of other machines
//! terms = { constant = 64, block_bytes = 0.125 }
//! source = "..."
//! ```

use std::collections::BTreeMap;

use homenode_base::BlockSize;
use serde::{Deserialize, Serialize};

use crate::cached::{CachedMachine, Interconnect};
use crate::decimal::ONE;
use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::linear::{Formula, Linear, Parameters};
use crate::parts::{Caches, KernelModel, MemoryModel, ProcessorModel, SchedulerModel, sourced};

/// A bus, and the cycles of transactions on it.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Its width and when it is released.
    pub model: BusModel,
    transactions: [Linear; 7],
}

/// A bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BusModel {
    /// Width of the data path in bits.
    #[serde(deserialize_with = "sourced")]
    pub width_bits: u32,
    /// Whether the bus is released while memory accesses a block.
    #[serde(deserialize_with = "sourced")]
    pub split_transactions: bool,
    /// Which of several waiting requests gets the bus next.
    #[serde(deserialize_with = "sourced")]
    pub arbitration: Arbitration,
    /// Cycles of the request phase of a transaction with memory. The transfer of the block follows
    /// after the memory access.
    #[serde(deserialize_with = "sourced")]
    pub request_cycles: u64,
    /// Cycles that memory takes to access the block, during which a split bus is free.
    #[serde(deserialize_with = "sourced")]
    pub wait_cycles: u64,
}

impl BusModel {
    /// The model, if its numbers are plausible by themselves; the cycles of a block are checked
    /// later.
    fn checked(self) -> Result<Self, String> {
        if self.width_bits > 0 && self.width_bits.is_multiple_of(8) {
            return Ok(self);
        }
        Err(format!("bus.width_bits is {}: expected whole bytes: 8, 16, ...", self.width_bits))
    }
}

/// Which of several waiting requests gets the bus next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arbitration {
    /// The oldest request.
    Fifo,
    /// The request of the next processor in turn that has one.
    RoundRobin,
}

/// Bus cycles of each transaction at one block size.
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

/// The contents of a file, with what is inherited from its bases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BusFile {
    name: String,
    summary: String,
    source: String,
    processor: ProcessorModel,
    cache: Caches,
    bus: BusModel,
    transactions: BTreeMap<String, Formula>,
    scheduler: SchedulerModel,
    memory: MemoryModel,
    kernel: Option<KernelModel>,
}

impl Bus {
    /// The machine on a bus that a file describes.
    pub(crate) fn machine(file: MachineFile<'_>) -> Result<CachedMachine, MachineError> {
        let origin = file.origin().to_owned();
        let fail = |problem| MachineError::File { origin: origin.clone(), problem };
        let file: BusFile = file.contents()?;
        let transactions = transactions(&file.transactions).map_err(fail)?;
        Ok(CachedMachine {
            description: Description {
                name: file.name,
                summary: file.summary,
                source: file.source,
            },
            processor: file.processor.checked().map_err(fail)?,
            cache: file.cache.data(),
            instructions: file.cache.instructions(),
            interconnect: Interconnect::Bus(Self {
                model: file.bus.checked().map_err(fail)?,
                transactions,
            }),
            scheduler: file.scheduler.checked().map_err(fail)?,
            page_bytes: file.memory.checked().map_err(fail)?.page_bytes,
            kernel: file.kernel.map(KernelModel::checked).transpose().map_err(fail)?,
        })
    }

    /// The cycles of each transaction at a block size; the name of the machine is for errors.
    ///
    /// # Errors
    /// When a transaction does not take a whole number of cycles.
    pub fn cycles(&self, machine: &str, block: BlockSize) -> Result<BusCycles, MachineError> {
        let mut cycles = [0; 7];
        for ((cycles, form), name) in cycles.iter_mut().zip(&self.transactions).zip(TRANSACTIONS) {
            let fail =
                |problem| MachineError::Price { machine: machine.to_owned(), price: name, problem };
            let value =
                form.evaluate(&Parameters::new(), block).map_err(|e| fail(e.to_string()))?;
            let millionths = value.millionths();
            if millionths % ONE != 0 {
                let size = block.bytes();
                return Err(fail(format!("no whole number of cycles at {size}-byte blocks")));
            }
            *cycles = millionths / ONE;
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

/// The cycles of each transaction as linear forms; every transaction must be given, and no other.
fn transactions(given: &BTreeMap<String, Formula>) -> Result<[Linear; 7], String> {
    if let Some(key) = given.keys().find(|key| !TRANSACTIONS.contains(&key.as_str())) {
        let known = TRANSACTIONS.join(", ");
        return Err(format!("transactions.{key} is unknown, expected {known}"));
    }
    let form = |name: &'static str| match given.get(name).filter(|formula| !formula.infinite) {
        None => Err(format!("transactions.{name}: expected terms")),
        Some(formula) => Linear::new(formula, &Parameters::new())
            .map_err(|e| format!("transactions.{name}: {e}")),
    };
    let forms: Vec<Linear> = TRANSACTIONS.into_iter().map(form).collect::<Result<_, _>>()?;
    forms.try_into().map_err(|_| "seven transactions".to_owned())
}
