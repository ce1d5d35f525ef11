//! A protocol as plain data, for the model checker and the simulator.

use std::fmt;

use homenode_protocol::{Labelled, TableLabel, labels};

use crate::vocabulary::{
    Action, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
    Transaction,
};

/// The rules of a protocol: total matches over its own states and conditions.
pub trait ProtocolRules {
    /// States of a copy; the first one is the invalid one.
    type State: Labelled;
    /// The bus's responses about the other caches, before the cache acts.
    type Condition: Labelled;

    /// The promise of a state.
    fn role(state: Self::State) -> Role;

    /// The condition for these copies in other caches and this area.
    fn condition(copies: Copies<Self::State>, area: AreaKind) -> Self::Condition;

    /// The action of the cache. A replacement does not depend on the area, which is always
    /// [`AreaKind::Shared`] there.
    fn act(
        state: Self::State,
        event: ProcessorEvent,
        condition: Self::Condition,
    ) -> TableCell<Self::State>;

    /// The reply of another cache with a copy to a transaction.
    fn reply(state: Self::State, signal: Signal) -> Reply<Self::State>;
}

/// Every cell of a protocol. States and conditions are numbers in the order of their labels; state
/// 0 is the invalid one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtocolTable {
    states: Vec<TableLabel>,
    roles: Vec<Role>,
    conditions: Vec<TableLabel>,
    /// By [`Self::copies_index`] and area.
    condition_of: Vec<u8>,
    cells: Vec<TableCell<u8>>,
    replies: Vec<Reply<u8>>,
}

impl ProtocolTable {
    /// Tabulates every cell of the rules.
    #[must_use]
    pub fn of<R: ProtocolRules>() -> Self {
        let mut table = Self {
            states: labels::<R::State>(),
            roles: R::State::ALL.iter().map(|&state| R::role(state)).collect(),
            conditions: labels::<R::Condition>(),
            condition_of: Vec::new(),
            cells: Vec::new(),
            replies: Vec::new(),
        };
        let one = R::State::ALL.iter().map(|&state| Copies::One(state));
        for copies in [Copies::None].into_iter().chain(one).chain([Copies::Several, Copies::Owned])
        {
            for &area in AreaKind::ALL {
                table.condition_of.push(R::condition(copies, area).index());
            }
        }
        for &state in R::State::ALL {
            for &event in ProcessorEvent::ALL {
                for &condition in R::Condition::ALL {
                    table.cells.push(numbered(R::act(state, event, condition)));
                }
            }
            for &signal in Signal::ALL {
                table.replies.push(match R::reply(state, signal) {
                    Reply::Becomes { next, memory, word } => {
                        Reply::Becomes { next: next.index(), memory, word }
                    }
                    Reply::Impossible(why) => Reply::Impossible(why),
                });
            }
        }
        table
    }

    /// The states.
    #[must_use]
    pub fn states(&self) -> &[TableLabel] {
        &self.states
    }

    /// The conditions.
    #[must_use]
    pub fn conditions(&self) -> &[TableLabel] {
        &self.conditions
    }

    /// The promise of a state.
    #[must_use]
    pub fn role(&self, state: u8) -> Role {
        self.roles[usize::from(state)]
    }

    /// The number of the state with this name.
    #[must_use]
    pub fn state(&self, name: &str) -> Option<u8> {
        self.states.iter().zip(0..).find(|(label, _)| label.name == name).map(|(_, index)| index)
    }

    /// The number of the condition with this name.
    #[must_use]
    pub fn condition_named(&self, name: &str) -> Option<u8> {
        let mut all = self.conditions.iter().zip(0..);
        all.find(|(label, _)| label.name == name).map(|(_, index)| index)
    }

    /// The condition for these copies and this area.
    #[must_use]
    pub fn condition(&self, copies: Copies<u8>, area: AreaKind) -> u8 {
        self.condition_of
            [self.copies_index(copies) * AreaKind::ALL.len() + usize::from(area.index())]
    }

    fn copies_index(&self, copies: Copies<u8>) -> usize {
        match copies {
            Copies::None => 0,
            Copies::One(state) => 1 + usize::from(state),
            Copies::Several => 1 + self.states.len(),
            Copies::Owned => 2 + self.states.len(),
        }
    }

    /// The action of the cache.
    #[must_use]
    pub fn cell(&self, state: u8, event: ProcessorEvent, condition: u8) -> TableCell<u8> {
        self.cells[self.cell_index(state, event, condition)]
    }

    /// The reply of another cache with a copy.
    #[must_use]
    pub fn reply(&self, state: u8, signal: Signal) -> Reply<u8> {
        self.replies[Self::reply_index(state, signal)]
    }

    /// Changes a cell, for tests that plant bugs.
    pub fn set_cell(
        &mut self,
        state: u8,
        event: ProcessorEvent,
        condition: u8,
        cell: TableCell<u8>,
    ) {
        let index = self.cell_index(state, event, condition);
        self.cells[index] = cell;
    }

    /// Changes a reply, for tests that plant bugs.
    pub fn set_reply(&mut self, state: u8, signal: Signal, reply: Reply<u8>) {
        self.replies[Self::reply_index(state, signal)] = reply;
    }

    /// Position of a cell, below [`Self::cell_count`].
    pub(crate) fn cell_index(&self, state: u8, event: ProcessorEvent, condition: u8) -> usize {
        let row = usize::from(state) * ProcessorEvent::ALL.len() + usize::from(event.index());
        row * self.conditions.len() + usize::from(condition)
    }

    pub(crate) fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// Position of a reply, below [`Self::reply_count`].
    pub(crate) fn reply_index(state: u8, signal: Signal) -> usize {
        usize::from(state) * Signal::ALL.len() + usize::from(signal.index())
    }

    pub(crate) fn reply_count(&self) -> usize {
        self.replies.len()
    }

    /// Whether the event leads to this next state without a transaction under every condition.
    #[must_use]
    pub fn is_silent(&self, state: u8, event: ProcessorEvent, next: u8) -> bool {
        let quiet = TableCell::Does(Action {
            transaction: None,
            source: DataSupplier::Own,
            next,
            again: false,
        });
        let conditions = 0..u8::try_from(self.conditions.len()).unwrap_or(u8::MAX);
        let mut possible = conditions
            .map(|condition| self.cell(state, event, condition))
            .filter(|cell| matches!(cell, TableCell::Does(_)))
            .peekable();
        possible.peek().is_some() && possible.all(|cell| cell == quiet)
    }

    /// Cells that can occur, in order: state, event, condition, action.
    pub fn actions(&self) -> impl Iterator<Item = (u8, ProcessorEvent, u8, Action<u8>)> + '_ {
        let states = 0..u8::try_from(self.states.len()).unwrap_or(u8::MAX);
        states.flat_map(move |state| {
            ProcessorEvent::ALL.iter().flat_map(move |&event| {
                let conditions = 0..u8::try_from(self.conditions.len()).unwrap_or(u8::MAX);
                conditions.filter_map(move |condition| match self.cell(state, event, condition) {
                    TableCell::Does(action) => Some((state, event, condition, action)),
                    TableCell::Impossible(_) => None,
                })
            })
        })
    }

    /// The changes of other copies on this signal, as text.
    #[must_use]
    pub fn others(&self, signal: Signal) -> String {
        let states = 1..u8::try_from(self.states.len()).unwrap_or(u8::MAX);
        let changes = states.filter_map(|state| match self.reply(state, signal) {
            Reply::Becomes { next, .. } => {
                Some(format!("{}->{}", self.name(state), self.name(next)))
            }
            Reply::Impossible(_) => None,
        });
        changes.collect::<Vec<_>>().join(" ")
    }

    /// Name of a state.
    #[must_use]
    pub fn name(&self, state: u8) -> &'static str {
        self.states[usize::from(state)].name
    }
}

/// The cell with its states as numbers.
fn numbered<S: Labelled>(cell: TableCell<S>) -> TableCell<u8> {
    match cell {
        TableCell::Does(Action { transaction, source, next, again }) => {
            TableCell::Does(Action { transaction, source, next: next.index(), again })
        }
        TableCell::Impossible(why) => TableCell::Impossible(why),
    }
}

/// One line for each cell that can occur, then one for each signal and copy.
impl fmt::Display for ProtocolTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (state, event, condition, action) in self.actions() {
            let bus = action.transaction.map_or("-", Transaction::name);
            let again = if action.again { ", then again" } else { "" };
            let condition = self.conditions[usize::from(condition)].name;
            writeln!(
                f,
                "{} {} [{condition}]: {bus} from {} -> {}{again}",
                self.name(state),
                event.name(),
                action.source.name(),
                self.name(action.next),
            )?;
        }
        for &signal in Signal::ALL {
            let others = self.others(signal);
            if !others.is_empty() {
                writeln!(f, "others on {}: {others}", signal.name())?;
            }
        }
        Ok(())
    }
}
