//! What can be listed: machines and policies.

use homenode_base::BlockSize;
use homenode_machine::{Machine, Prices, TABLE};
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
    /// r, R, g, G; `null` is infinite.
    #[serde(flatten)]
    pub prices: Prices,
    /// Rules of the model that the prices break.
    pub notes: Vec<String>,
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
    let all: Vec<&str> = TABLE.iter().map(|p| p.name).collect();
    let specs = if specs.is_empty() { &all[..] } else { specs };
    let mut rows = Vec::new();
    for spec in specs {
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
                prices: machine.prices(block, force)?,
                notes: machine.notes(block)?,
            });
        }
    }
    Ok(rows)
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
    /// Words it takes; empty if it takes numbers.
    pub choices: &'static [&'static str],
    /// What it does.
    pub doc: &'static str,
}

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
        parameters: e.params.iter().map(parameter_row).collect(),
    };
    entries.map(row).collect()
}

fn parameter_row(param: &Param) -> ParameterRow {
    let choices: &'static [&'static str] = match param.kind {
        Kind::Count { .. } => &[],
        Kind::Choice(words) => words,
    };
    let word = |i: u64| usize::try_from(i).ok().and_then(|i| choices.get(i)).copied();
    let default = match param.default {
        DefaultValue::Fixed(value) => word(value).map_or(value.to_string(), str::to_owned),
        DefaultValue::Milliseconds(ms, otherwise) => {
            format!("{ms} ms of the traced run, or {otherwise} if its time is unknown")
        }
    };
    ParameterRow { name: param.name, default, unit: param.unit, choices, doc: param.doc }
}
