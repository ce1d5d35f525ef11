//! The list of machines.

use std::fmt;

use homenode_base::BlockSize;
use homenode_machine::{
    BusCycles, ControllerMachine, DirectoryMachine, LinkModel, Machine, MachineKind, PriceList,
    TABLE,
};
use serde::Serialize;

use crate::error::SimError;

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
    /// Cycles of bus transactions, or latencies of links.
    Cached {
        /// No prices: no reference is remote.
        r: Option<u64>,
        /// r; see [`MachineRow::prices`].
        #[serde(rename = "R")]
        remote_move: Option<u64>,
        /// R.
        g: Option<u64>,
        /// g or G.
        #[serde(rename = "G")]
        global_move: Option<u64>,
        /// Cycles of each bus transaction.
        #[serde(skip_serializing_if = "Option::is_none")]
        transactions: Option<BusCycles>,
        /// Cores, latencies and links of a machine with links.
        #[serde(skip_serializing_if = "Option::is_none")]
        links: Option<LinkModel>,
        /// Network, memory and operating system of a machine with a directory.
        #[serde(skip_serializing_if = "Option::is_none")]
        directory: Option<Box<DirectoryMachine>>,
        /// Controllers, caches, memory and network of a machine whose nodes have controllers.
        #[serde(skip_serializing_if = "Option::is_none")]
        controllers: Option<Box<ControllerMachine>>,
    },
}

impl fmt::Display for RowPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<(&str, u64)> = match self {
            Self::Priced(prices) => return prices.fmt(f),
            Self::Cached { transactions: Some(cycles), .. } => cycles.named().to_vec(),
            Self::Cached { links: Some(links), .. } => links.latency.named().to_vec(),
            Self::Cached { directory: Some(model), .. } => model.named().to_vec(),
            Self::Cached { controllers: Some(model), .. } => model.named().to_vec(),
            Self::Cached { .. } => Vec::new(),
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
) -> Result<Vec<MachineRow>, SimError> {
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

/// The prices of a machine at a block size, and the rules that they violate.
fn prices(
    machine: &Machine,
    block: BlockSize,
    force: bool,
) -> Result<(RowPrices, Vec<String>), SimError> {
    Ok(match machine {
        Machine::Priced(machine) => {
            (RowPrices::Priced(machine.price_list(block, force)?), machine.notes(block)?)
        }
        Machine::Cached(machine) => {
            let (r, remote_move, g, global_move) = (None, None, None, None);
            let (transactions, links) = (machine.cycles(block)?, machine.links(block.bytes()));
            let directory = machine.directory().copied().map(Box::new);
            let controllers = machine.controllers().copied().map(Box::new);
            let row = RowPrices::Cached {
                r,
                remote_move,
                g,
                global_move,
                transactions,
                links,
                directory,
                controllers,
            };
            (row, Vec::new())
        }
    })
}

/// The kinds of machines given by name or file.
///
/// # Errors
/// When a machine is unknown or its description is invalid.
pub fn machine_kinds<S: AsRef<str>>(machines: &[S]) -> Result<Vec<MachineKind>, SimError> {
    machines.iter().map(|machine| Ok(Machine::parse(machine.as_ref())?.kind())).collect()
}

/// Whether all machines have coherent caches (`true`) or none of them has.
///
/// # Errors
/// When a machine is unknown, its description is invalid, or the machines are of both kinds.
pub fn have_caches<S: AsRef<str>>(machines: &[S]) -> Result<bool, SimError> {
    let cached = |machine: &S| Ok(matches!(Machine::parse(machine.as_ref())?, Machine::Cached(_)));
    let cached: Vec<bool> = machines.iter().map(cached).collect::<Result<_, SimError>>()?;
    match cached.iter().filter(|&&has| has).count() {
        0 => Ok(false),
        n if n == machines.len() => Ok(true),
        _ => {
            let problem = "machines with caches and machines with prices of references cannot be \
                           combined in one run: simulate one kind at a time";
            Err(SimError::Config { problem: problem.to_owned() })
        }
    }
}
