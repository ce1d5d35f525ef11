//! A protocol's table with names instead of numbers, for output.

use serde::Serialize;

use crate::label::TableLabel;

/// A table as it is printed. The names of the fields are a public contract (`docs/explain.md`).
///
/// Roles, rows and replies differ from machine to machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sheet<Role, Row, Reply> {
    /// States of a copy, the invalid one first.
    pub states: Vec<SheetState<Role>>,
    /// Conditions of the other caches that the protocol distinguishes.
    pub conditions: Vec<TableLabel>,
    /// Events at the processor's side.
    pub events: Vec<TableLabel>,
    /// Transactions that the protocol uses.
    pub transactions: Vec<TableLabel>,
    /// Every cell that happens.
    pub rows: Vec<Row>,
    /// Replies of the other copies to transactions.
    pub replies: Vec<Reply>,
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetState<Role> {
    /// What tables print.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Its promise.
    pub role: Role,
}

impl<Role> SheetState<Role> {
    /// A state with this label and promise.
    #[must_use]
    pub fn new(TableLabel { name, meaning }: TableLabel, role: Role) -> Self {
        Self { name, meaning, role }
    }
}
