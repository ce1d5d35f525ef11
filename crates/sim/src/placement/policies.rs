//! The list of policies.

use homenode_machine::PriceModel;
use homenode_placement::policy::{DefaultValue, Entry, ParamKind, PolicyParam};
use serde::Serialize;

/// All policies the placement engine and the optimum offer, in the order of lists.
pub const POLICIES: &[&[Entry]] =
    &[homenode_optimal::TABLE, homenode_placement::TABLE, homenode_placement::coherence::TABLE];

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
    pub model: PriceModel,
    /// Price models it runs on: its own, and perhaps the other.
    pub runs_on: Vec<PriceModel>,
    /// Its parameters, which follow the colon.
    pub parameters: Vec<PolicyParameterRow>,
}

/// A parameter of a policy.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyParameterRow {
    /// Name before the equals sign.
    pub name: &'static str,
    /// Default value.
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

const MODELS: [PriceModel; 2] = [PriceModel::Placement, PriceModel::PageCoherence];

/// All policies.
#[must_use]
pub fn policy_rows() -> Vec<PolicyRow> {
    let entries = POLICIES.iter().flat_map(|table| table.iter());
    let row = |e: &Entry| PolicyRow {
        name: e.name,
        summary: e.summary,
        source: e.source,
        needs_global: e.needs_global,
        needs_prices: e.needs_prices,
        model: if homenode_placement::coherence::TABLE.iter().any(|c| c.name == e.name) {
            PriceModel::PageCoherence
        } else {
            PriceModel::Placement
        },
        runs_on: MODELS.into_iter().filter(|&m| e.runs_on.has(m)).collect(),
        parameters: e.params.iter().map(parameter_row).collect(),
    };
    entries.map(row).collect()
}

fn parameter_row(param: &PolicyParam) -> PolicyParameterRow {
    let choices: &'static [&'static str] = match param.kind {
        ParamKind::Count { .. } => &[],
        ParamKind::Choice(words) | ParamKind::CountOr(words) => words,
    };
    let default = match param.default {
        DefaultValue::Fixed(value) => param.kind.text(value),
        DefaultValue::Milliseconds(ms, otherwise) => {
            format!("{ms} ms of the traced run, or {otherwise} if its time is unknown")
        }
    };
    let numbers = matches!(param.kind, ParamKind::Count { .. } | ParamKind::CountOr(_));
    PolicyParameterRow {
        name: param.name,
        default,
        unit: param.unit,
        choices,
        numbers,
        doc: param.doc,
    }
}
