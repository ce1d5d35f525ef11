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
use crate::parts::{Caches, KernelModel, MemoryModel, ProcessorModel, SchedulerModel};

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
    pub width_bits: u32,
    /// Whether the bus is released while memory accesses a block.
    pub split_transactions: bool,
    /// Which of several waiting requests gets the bus next.
    pub arbitration: Arbitration,
    /// Cycles of the request phase of a transaction with memory. The transfer of the block follows
    /// after the memory access.
    pub request_cycles: u64,
    /// Cycles that memory takes to access the block, during which a split bus is free.
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

impl BusCycles {
    /// Every transaction with its name in machine files.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); 7] {
        [
            ("read_block_memory", self.read_block_memory),
            ("read_block_cache", self.read_block_cache),
            ("read_invalidate_memory", self.read_invalidate_memory),
            ("read_invalidate_cache", self.read_invalidate_cache),
            ("invalidate", self.invalidate),
            ("write", self.write),
            ("update_block", self.update_block),
        ]
    }

    fn each_mut(&mut self) -> [&mut u64; 7] {
        [
            &mut self.read_block_memory,
            &mut self.read_block_cache,
            &mut self.read_invalidate_memory,
            &mut self.read_invalidate_cache,
            &mut self.invalidate,
            &mut self.write,
            &mut self.update_block,
        ]
    }

    /// The names of all transactions, in order.
    fn names() -> [&'static str; 7] {
        Self::default().named().map(|(name, _)| name)
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
        file.cached(|file: BusFile| {
            let transactions = transactions(&file.transactions)?;
            let processor = file.processor.checked()?;
            let bus = Interconnect::Bus(Self { model: file.bus.checked()?, transactions });
            let description = Description::new(file.name, file.summary, file.source);
            let BusFile { cache, scheduler, memory, kernel, .. } = file;
            Ok(CachedMachine {
                kernel: kernel.map(KernelModel::checked).transpose()?,
                ..CachedMachine::of(description, processor, &cache, scheduler, memory, bus)?
            })
        })
    }

    /// The cycles of each transaction at a block size; the name of the machine is for errors.
    ///
    /// # Errors
    /// When a transaction does not take a whole number of cycles.
    pub fn cycles(&self, machine: &str, block: BlockSize) -> Result<BusCycles, MachineError> {
        let mut found = BusCycles::default();
        let each = found.each_mut().into_iter().zip(&self.transactions).zip(BusCycles::names());
        for ((cycles, form), name) in each {
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
        Ok(found)
    }
}

/// The cycles of each transaction as linear forms; every transaction must be given, and no other.
fn transactions(given: &BTreeMap<String, Formula>) -> Result<[Linear; 7], String> {
    let names = BusCycles::names();
    if let Some(key) = given.keys().find(|key| !names.contains(&key.as_str())) {
        let known = names.join(", ");
        return Err(format!("transactions.{key} is unknown, expected {known}"));
    }
    let form = |name: &'static str| match given.get(name).filter(|formula| !formula.infinite) {
        None => Err(format!("transactions.{name}: expected terms")),
        Some(formula) => Linear::new(formula, &Parameters::new())
            .map_err(|e| format!("transactions.{name}: {e}")),
    };
    let forms: Vec<Linear> = names.into_iter().map(form).collect::<Result<_, _>>()?;
    forms.try_into().map_err(|_| "seven transactions".to_owned())
}
