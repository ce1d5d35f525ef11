//! The table of a bus protocol as it is printed.

use homenode_protocol::{Labelled, TableLabel, labels};
use serde::Serialize;

use crate::table::ProtocolTable;
use crate::vocabulary::{Action, ProcessorEvent, Reply, Role, Signal, Transaction};

/// The table of a bus protocol as it is printed. The names of the fields are a public contract
/// (`docs/explain.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BusSheet {
    /// States of a copy, the invalid one first.
    pub states: Vec<SheetState>,
    /// Conditions of the other caches that the protocol distinguishes.
    pub conditions: Vec<TableLabel>,
    /// Events at the processor's side.
    pub events: Vec<TableLabel>,
    /// Transactions that the protocol uses.
    pub transactions: Vec<TableLabel>,
    /// Every cell that happens.
    pub rows: Vec<SheetRow>,
    /// Replies of the other copies to transactions.
    pub replies: Vec<SheetReply>,
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetState {
    /// What tables print.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Its promise.
    pub role: Role,
}

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetRow {
    /// State of the copy.
    pub state: &'static str,
    /// What happens.
    pub event: &'static str,
    /// What the others have.
    pub condition: &'static str,
    /// Transaction on the bus, if any.
    pub transaction: Option<&'static str>,
    /// Where the data come from.
    pub source: &'static str,
    /// The next state.
    pub next: &'static str,
    /// Whether the event happens again in the next state.
    pub again: bool,
}

/// What a copy does about what it sees on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetReply {
    /// What it sees.
    pub signal: &'static str,
    /// Its state.
    pub state: &'static str,
    /// Its next state.
    pub next: &'static str,
    /// Whether memory takes its data in the same transaction.
    pub memory: bool,
    /// Whether it takes the written word.
    pub word: bool,
}

impl ProtocolTable {
    /// The table with names instead of numbers.
    ///
    /// ```
    /// use homenode_snoop::ProtocolSpec;
    /// let sheet = ProtocolSpec::parse("mesi")?.table().sheet();
    /// assert_eq!(sheet.rows[0].next, "E");
    /// # Ok::<(), homenode_snoop::ProtocolError>(())
    /// ```
    #[must_use]
    pub fn sheet(&self) -> BusSheet {
        let used = |transaction: Transaction| {
            self.actions().any(|(_, _, _, action)| action.transaction == Some(transaction))
        };
        let states = self.states().iter().zip(0u8..);
        let state =
            |(&TableLabel { name, meaning }, at)| SheetState { name, meaning, role: self.role(at) };
        let transactions = Transaction::ALL.iter().filter(|&&transaction| used(transaction));
        BusSheet {
            states: states.map(state).collect(),
            conditions: self.conditions().to_vec(),
            events: labels::<ProcessorEvent>(),
            transactions: transactions.map(|transaction| transaction.label()).collect(),
            rows: rows(self),
            replies: replies(self),
        }
    }
}

fn rows(table: &ProtocolTable) -> Vec<SheetRow> {
    let row = |(state, event, condition, action): (u8, ProcessorEvent, u8, Action<u8>)| SheetRow {
        state: table.name(state),
        event: event.name(),
        condition: table.conditions()[usize::from(condition)].name,
        transaction: action.transaction.map(Transaction::name),
        source: action.source.name(),
        next: table.name(action.next),
        again: action.again,
    };
    table.actions().map(row).collect()
}

fn replies(table: &ProtocolTable) -> Vec<SheetReply> {
    let mut all = Vec::new();
    for &signal in Signal::ALL {
        for (label, state) in table.states().iter().zip(0u8..) {
            let Reply::Becomes { next, memory, word } = table.reply(state, signal) else {
                continue;
            };
            let (signal, state) = (signal.name(), label.name);
            all.push(SheetReply { signal, state, next: table.name(next), memory, word });
        }
    }
    all
}
