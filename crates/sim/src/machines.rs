//! The list of machines.

use std::collections::BTreeMap;
use std::fmt;

use homenode_base::BlockSize;
use homenode_machine::{
    BusCycles, CachedMachine, ControllerMachine, DirectoryMachine, Interconnect, LinkModel,
    Machine, MachineError, MachineKind, PriceList, TABLE,
};
use serde::Serialize;

use crate::error::SimResult;

/// One row of the list of machines: a machine at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct MachineRow {
    /// Name on the command line.
    pub name: String,
    /// Summary in one line.
    pub summary: String,
    /// The source of its numbers.
    pub source: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// Whether this is the machine's usual block size (thesis table 6.3).
    pub base: bool,
    /// Its kind.
    pub model: MachineKind,
    /// r, R, g, G, `null` if infinite; for machines with other prices these are `null` and the row
    /// has latencies and packets, bus cycles, or link latencies.
    #[serde(flatten)]
    pub prices: RowPrices,
    /// Rules of the cost model that the prices violate.
    pub notes: Vec<String>,
}

/// The prices of a machine.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum RowPrices {
    /// Prices, or latencies and packets.
    Priced(PriceList),
    /// Other numbers; no reference is remote, so the four prices are `null`.
    Others {
        /// See [`MachineRow::prices`].
        r: Option<u64>,
        /// See [`MachineRow::prices`].
        #[serde(rename = "R")]
        remote_move: Option<u64>,
        /// See [`MachineRow::prices`].
        g: Option<u64>,
        /// See [`MachineRow::prices`].
        #[serde(rename = "G")]
        global_move: Option<u64>,
        /// The numbers, under the name of their variant.
        #[serde(flatten)]
        numbers: MachineNumbers,
    },
}

/// The numbers of a machine without the four prices.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MachineNumbers {
    /// Cycles of each bus transaction.
    Transactions(BusCycles),
    /// Cores, latencies and links of a machine with links.
    Links(LinkModel),
    /// Network, memory and operating system of a machine with a directory.
    Directory(Box<DirectoryMachine>),
    /// Controllers, caches, memory and network of a machine whose nodes have controllers.
    Controllers(Box<ControllerMachine>),
    /// Numbers that only the kind's engine knows, by name.
    Numbers(BTreeMap<String, u64>),
}

impl MachineNumbers {
    fn of(machine: &CachedMachine, block: BlockSize) -> Result<Self, MachineError> {
        Ok(match &machine.interconnect {
            Interconnect::Bus(bus) => Self::Transactions(bus.cycles(machine.name(), block)?),
            Interconnect::Links(links) => Self::Links(links.with_block_size(block.bytes())),
            Interconnect::Directory(model) => Self::Directory(Box::new(*model)),
            Interconnect::Controllers(model) => Self::Controllers(Box::new(*model)),
        })
    }
}

impl fmt::Display for RowPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = match self {
            Self::Priced(prices) => return prices.fmt(f),
            Self::Others { numbers, .. } => numbers,
        };
        let named: Vec<(&str, u64)> = match numbers {
            MachineNumbers::Transactions(cycles) => cycles.named().to_vec(),
            MachineNumbers::Links(links) => links.latency.named().to_vec(),
            MachineNumbers::Directory(model) => model.named().to_vec(),
            MachineNumbers::Controllers(model) => model.named().to_vec(),
            MachineNumbers::Numbers(numbers) => {
                numbers.iter().map(|(name, &number)| (name.as_str(), number)).collect()
            }
        };
        for (i, (name, cycles)) in named.into_iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={cycles}")?;
        }
        f.write_str(" cycles")
    }
}

/// The prices of machines (the whole table if `specs` is empty) at block sizes (each machine's own
/// if `block_sizes` is empty).
///
/// # Errors
/// When a machine or block size is invalid.
pub fn machine_rows(
    specs: &[&str],
    block_sizes: &[u64],
    force: bool,
) -> SimResult<Vec<MachineRow>> {
    let all: Vec<&str> = TABLE.iter().map(|preset| preset.name).collect();
    let specs = if specs.is_empty() { &all[..] } else { specs };
    let mut rows = Vec::new();
    for spec in specs {
        let machine = Machine::parse(spec)?;
        let own = [machine.block_size_bytes().unwrap_or(4096)];
        for &bytes in if block_sizes.is_empty() { &own[..] } else { block_sizes } {
            let (prices, notes) = prices(&machine, BlockSize::new(bytes)?, force)?;
            rows.push(MachineRow {
                name: machine.name().to_owned(),
                summary: machine.summary().to_owned(),
                source: machine.source().to_owned(),
                block_size: bytes,
                base: machine.block_size_bytes() == Some(bytes),
                model: machine.kind(),
                prices,
                notes,
            });
        }
    }
    Ok(rows)
}

fn prices(machine: &Machine, block: BlockSize, force: bool) -> SimResult<(RowPrices, Vec<String>)> {
    let numbers = match machine {
        Machine::Priced(machine) => {
            let prices = RowPrices::Priced(machine.price_list(block, force)?);
            return Ok((prices, machine.notes(block)?));
        }
        Machine::Cached(machine) => MachineNumbers::of(machine, block)?,
        Machine::Plain(machine) => MachineNumbers::Numbers(machine.numbers.clone()),
    };
    let (r, remote_move, g, global_move) = (None, None, None, None);
    Ok((RowPrices::Others { r, remote_move, g, global_move, numbers }, Vec::new()))
}

/// The kinds of machines given by name or file.
///
/// # Errors
/// When a machine is unknown or its description is invalid.
pub fn machine_kinds<S: AsRef<str>>(machines: &[S]) -> SimResult<Vec<MachineKind>> {
    machines.iter().map(|machine| Ok(Machine::parse(machine.as_ref())?.kind())).collect()
}
