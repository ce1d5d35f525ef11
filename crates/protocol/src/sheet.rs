//! A protocol's table with names instead of numbers: what people and programs are shown.

use serde::Serialize;

use crate::label::TableLabel;

/// A table as it is printed. The names of the fields are a public contract (`docs/explain.md`).
///
/// What a state promises, what a row says and what the other copies do differs from machine to
/// machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sheet<Role, Row, Reply> {
    /// States of a copy, the invalid one first.
    pub states: Vec<SheetState<Role>>,
    /// What the other caches have, as far as the protocol asks.
    pub conditions: Vec<TableLabel>,
    /// What happens at the processor's side.
    pub events: Vec<TableLabel>,
    /// Transactions that the protocol uses.
    pub transactions: Vec<TableLabel>,
    /// Every cell that happens.
    pub rows: Vec<Row>,
    /// What the other copies do about transactions.
    pub replies: Vec<Reply>,
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetState<Role> {
    /// What tables print.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What it promises.
    pub role: Role,
}

impl<Role> SheetState<Role> {
    /// A state with this label that promises this.
    #[must_use]
    pub fn new(TableLabel { name, meaning }: TableLabel, role: Role) -> Self {
        Self { name, meaning, role }
    }
}
