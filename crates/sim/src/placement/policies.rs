//! The list of policies.

use homenode_machine::PriceModel;
use homenode_placement::policy::{DefaultValue, Entry, ParamKind, PolicyParam};
use serde::Serialize;

/// All policies of the placement engine and the optimum, in list order.
pub const POLICIES: &[&[Entry]] =
    &[homenode_optimal::TABLE, homenode_placement::TABLE, homenode_placement::coherence::TABLE];

/// One row of the list of policies.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRow {
    /// Name on the command line.
    pub name: &'static str,
    /// Summary in one line.
    pub summary: &'static str,
    /// Its source.
    pub source: &'static str,
    /// Whether it requires a machine with global memory.
    pub needs_global: bool,
    /// Whether it decides by price, with hindsight.
    pub needs_prices: bool,
    /// The cost model that it is from.
    pub model: PriceModel,
    /// Price models that it runs on: its own, and possibly the other.
    pub runs_on: Vec<PriceModel>,
    /// Its parameters.
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
    /// Words it accepts; empty if it accepts numbers only.
    pub choices: &'static [&'static str],
    /// Whether it accepts numbers.
    pub numbers: bool,
    /// Its effect.
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
