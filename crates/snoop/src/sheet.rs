//! A protocol's table with names instead of numbers: what people and programs are shown.

use serde::Serialize;

use crate::table::{Label, Table};
use crate::vocabulary::{Code, Event, Reply, Role, Signal, Transaction};

/// A table as it is printed. The names of the fields are a public contract (`docs/explain.md`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sheet {
    /// States of a copy, the invalid one first.
    pub states: Vec<SheetState>,
    /// What the other caches have, as far as the protocol asks.
    pub conditions: Vec<Named>,
    /// What happens at the processor's side.
    pub events: Vec<Named>,
    /// Transactions that the protocol uses.
    pub transactions: Vec<Named>,
    /// Every cell that happens.
    pub rows: Vec<SheetRow>,
    /// What the other copies do about transactions.
    pub replies: Vec<SheetReply>,
}

/// A name and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// What tables print.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// A state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SheetState {
    /// What tables print.
    pub name: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What it promises.
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

impl Sheet {
    /// Writes a table down.
    ///
    /// ```
    /// use homenode_snoop::{ProtocolSpec, Sheet};
    /// let sheet = Sheet::of(&ProtocolSpec::parse("mesi")?.table());
    /// assert_eq!(sheet.rows[0].next, "E");
    /// # Ok::<(), homenode_snoop::ProtocolError>(())
    /// ```
    #[must_use]
    pub fn of(table: &Table) -> Self {
        let used = |transaction: Transaction| {
            table.actions().any(|(_, _, _, action)| action.transaction == Some(transaction))
        };
        let states = table.states().iter().zip(0u8..);
        let transactions = Transaction::ALL.iter().filter(|&&transaction| used(transaction));
        Self {
            states: states
                .map(|(label, state)| SheetState {
                    name: label.name,
                    meaning: label.meaning,
                    role: table.role(state),
                })
                .collect(),
            conditions: table.conditions().iter().map(|&label| label.into()).collect(),
            events: Event::ALL.iter().map(|&event| Named::of(event)).collect(),
            transactions: transactions.map(|&transaction| Named::of(transaction)).collect(),
            rows: rows(table),
            replies: replies(table),
        }
    }
}

impl Named {
    fn of<C: Code>(code: C) -> Self {
        Self { name: code.name(), meaning: code.meaning() }
    }
}

impl From<Label> for Named {
    fn from(Label { name, meaning }: Label) -> Self {
        Self { name, meaning }
    }
}

fn rows(table: &Table) -> Vec<SheetRow> {
    let row = |(state, event, condition, action): (u8, Event, u8, crate::Action<u8>)| SheetRow {
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

fn replies(table: &Table) -> Vec<SheetReply> {
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
