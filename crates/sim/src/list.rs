//! What can be listed: machines and policies.

use std::fmt;

use homenode_base::BlockSize;
use homenode_machine::{BusCycles, BusMachine, Machine, Model, PriceList, TABLE};
use homenode_placement::policy::{DefaultValue, Kind, Param};
use serde::Serialize;

use crate::POLICIES;
use crate::error::SimError;

/// One line of the list of machines: a machine at one block size.
#[derive(Clone, Debug, Serialize)]
pub struct MachineRow {
    /// Name on the command line.
    pub name: String,
    /// One line about it.
    pub summary: String,
    /// Where its numbers come from.
    pub source: String,
    /// Bytes in a block.
    pub block_size: u64,
    /// Whether this is the block size the machine is usually shown with (thesis table 6.3).
    pub base: bool,
    /// How it prices what a policy does, or `bus`.
    pub model: RowModel,
    /// r, R, g, G, `null` if infinite; or, `r` to `G` being `null`, latencies and packets, or the
    /// cycles of bus transactions.
    #[serde(flatten)]
    pub prices: RowPrices,
    /// Rules of the model that the prices break.
    pub notes: Vec<String>,
}

/// The kind of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RowModel {
    /// It prices what a policy does.
    Priced(Model),
    /// It has caches and a bus.
    OnBus(BusModel),
}

/// The kind of machine that has caches and a bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusModel {
    /// Processors with caches on a bus.
    Bus,
}

/// What a machine charges.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum RowPrices {
    /// Prices, or latencies and packets.
    Priced(PriceList),
    /// Cycles of bus transactions.
    OnBus {
        /// None of these: no reference is remote.
        r: Option<u64>,
        /// As `r`.
        #[serde(rename = "R")]
        remote_move: Option<u64>,
        /// As `r`.
        g: Option<u64>,
        /// As `r`.
        #[serde(rename = "G")]
        global_move: Option<u64>,
        /// Cycles of each transaction.
        transactions: BusCycles,
    },
}

impl fmt::Display for RowPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transactions = match self {
            Self::Priced(prices) => return prices.fmt(f),
            Self::OnBus { transactions, .. } => transactions,
        };
        for (i, (name, cycles)) in transactions.named().into_iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={cycles}")?;
        }
        f.write_str(" cycles")
    }
}

/// The prices of some machines (all in the table if `specs` is empty) at some block sizes (each
/// machine's own if `block_sizes` is empty).
///
/// # Errors
/// When a machine or block size is faulty.
pub fn machine_rows(
    specs: &[&str],
    block_sizes: &[u64],
    force: bool,
) -> Result<Vec<MachineRow>, SimError> {
    let all: Vec<&str> = TABLE.iter().map(|p| p.name).chain(crate::bus::names()).collect();
    let specs = if specs.is_empty() { &all[..] } else { specs };
    let mut rows = Vec::new();
    for spec in specs {
        if BusMachine::is_named_by(spec) {
            bus_rows(spec, block_sizes, &mut rows)?;
            continue;
        }
        let machine = Machine::parse(spec)?;
        let own = [machine.block_size_bytes().unwrap_or(4096)];
        for &bytes in if block_sizes.is_empty() { &own[..] } else { block_sizes } {
            let block = BlockSize::new(bytes)?;
            rows.push(MachineRow {
                name: machine.name().to_owned(),
                summary: machine.summary().to_owned(),
                source: machine.source().to_owned(),
                block_size: bytes,
                base: machine.block_size_bytes() == Some(bytes),
                model: RowModel::Priced(machine.model()),
                prices: RowPrices::Priced(machine.price_list(block, force)?),
                notes: machine.notes(block)?,
            });
        }
    }
    Ok(rows)
}

/// The rows of a machine on a bus.
fn bus_rows(spec: &str, block_sizes: &[u64], rows: &mut Vec<MachineRow>) -> Result<(), SimError> {
    let machine = BusMachine::parse(spec)?;
    let own = [machine.cache.block_size_bytes];
    for &bytes in if block_sizes.is_empty() { &own[..] } else { block_sizes } {
        let transactions = machine.cycles(BlockSize::new(bytes)?)?;
        rows.push(MachineRow {
            name: machine.name.clone(),
            summary: machine.summary.clone(),
            source: machine.source.clone(),
            block_size: bytes,
            base: own == [bytes],
            model: RowModel::OnBus(BusModel::Bus),
            prices: RowPrices::OnBus {
                r: None,
                remote_move: None,
                g: None,
                global_move: None,
                transactions,
            },
            notes: Vec::new(),
        });
    }
    Ok(())
}

/// One line of the list of policies.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRow {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Whether it needs a machine with global memory.
    pub needs_global: bool,
    /// Whether it decides by price, with hindsight.
    pub needs_prices: bool,
    /// The model it comes from.
    pub model: Model,
    /// Kinds of machine it runs on, its own model's and perhaps the other's.
    pub runs_on: Vec<Model>,
    /// What can be set after the colon.
    pub parameters: Vec<ParameterRow>,
}

/// A parameter of a policy.
#[derive(Clone, Debug, Serialize)]
pub struct ParameterRow {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Value when nothing is said.
    pub default: String,
    /// Unit of the value.
    pub unit: &'static str,
    /// Words it takes; empty if it takes numbers only.
    pub choices: &'static [&'static str],
    /// Whether it takes numbers.
    pub numbers: bool,
    /// What it does.
    pub doc: &'static str,
}

const MODELS: [Model; 2] = [Model::Placement, Model::PageCoherence];

/// All policies.
#[must_use]
pub fn policy_rows() -> Vec<PolicyRow> {
    let entries = POLICIES.iter().flat_map(|table| table.iter());
    let row = |e: &homenode_placement::policy::Entry| PolicyRow {
        name: e.name,
        summary: e.summary,
        source: e.source,
        needs_global: e.needs_global,
        needs_prices: e.needs_prices,
        model: if homenode_placement::coherence::TABLE.iter().any(|c| c.name == e.name) {
            Model::PageCoherence
        } else {
            Model::Placement
        },
        runs_on: MODELS.into_iter().filter(|&m| e.runs_on.has(m)).collect(),
        parameters: e.params.iter().map(parameter_row).collect(),
    };
    entries.map(row).collect()
}

fn parameter_row(param: &Param) -> ParameterRow {
    let choices: &'static [&'static str] = match param.kind {
        Kind::Count { .. } => &[],
        Kind::Choice(words) | Kind::CountOr(words) => words,
    };
    let default = match param.default {
        DefaultValue::Fixed(value) => param.kind.text(value),
        DefaultValue::Milliseconds(ms, otherwise) => {
            format!("{ms} ms of the traced run, or {otherwise} if its time is unknown")
        }
    };
    let numbers = matches!(param.kind, Kind::Count { .. } | Kind::CountOr(_));
    ParameterRow { name: param.name, default, unit: param.unit, choices, numbers, doc: param.doc }
}
