//! What the table says about what happens most, in flat arrays indexed by state.

use super::directory::Packed;
use super::frames::{QUIET_READ, QUIET_WRITE};
use crate::table::Table;
use crate::vocabulary::{Action, Area, Cell, Copies, Event, Source, Transaction};

/// Numbers of states fit into a byte.
const STATES: usize = 256;

/// What needs no other cache: see [`Table::is_quiet`].
pub(crate) struct Quiet {
    bits: [u8; STATES],
    leaves: [Leaving; STATES],
    concerns: [u64; STATES],
    /// The state after a write that nobody else learns of; 0 if there is none such.
    promoted: [u8; STATES],
    /// By whether it writes and whether the area is private.
    alone: [[Option<Fetch>; 2]; 2],
}

/// How a copy gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Without a word.
    Silently,
    /// With an update-block, whatever the others have.
    WrittenBack,
    /// As the table says.
    AsTheTableSays,
}

/// A miss when no other cache has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fetch {
    /// Whether the transaction is read-and-invalidate-block.
    pub(crate) invalidate: bool,
    pub(crate) state: u8,
}

impl Quiet {
    /// Nothing: all goes by the table.
    pub(crate) fn nothing() -> Self {
        let mut leaves = [Leaving::AsTheTableSays; STATES];
        leaves[0] = Leaving::Silently;
        Self {
            bits: [0; STATES],
            leaves,
            concerns: [0; STATES],
            promoted: [0; STATES],
            alone: [[None; 2]; 2],
        }
    }

    pub(crate) fn of(table: &Table) -> Self {
        let alone = |event| [Area::Shared, Area::Private].map(|area| fetch(table, event, area));
        let alone = [Event::Read, Event::Write].map(alone);
        let mut quiet = Self { alone, ..Self::nothing() };
        for (state, _) in (0..=u8::MAX).zip(table.states()) {
            let of = |event, bit| if table.is_quiet(state, event, state) { bit } else { 0 };
            let bits = of(Event::Read, QUIET_READ) | of(Event::Write, QUIET_WRITE);
            quiet.bits[usize::from(state)] = u8::try_from(bits).unwrap_or(0);
            if state != 0 {
                quiet.promoted[usize::from(state)] = promoted(table, state).unwrap_or(0);
                let leaves = leaving(table, state);
                quiet.leaves[usize::from(state)] = leaves;
                // Those that lost it have to learn what was written. The own copy is always one.
                quiet.concerns[usize::from(state)] = match leaves {
                    Leaving::Silently | Leaving::WrittenBack => Packed::LOST,
                    Leaving::AsTheTableSays => Packed::LOST | Packed::HOLDERS,
                };
            }
        }
        quiet
    }

    /// What the processor may do without asking in each state.
    #[inline]
    pub(crate) fn bits(&self, state: u8) -> u64 {
        u64::from(self.bits[usize::from(state)])
    }

    /// The state after a write that changes the own copy's state and nothing else.
    #[inline]
    pub(crate) fn promoted(&self, state: u8) -> Option<u8> {
        let next = self.promoted[usize::from(state)];
        (next != 0).then_some(next)
    }

    /// How a copy in this state gives way; without a copy there is nothing to say.
    #[inline]
    pub(crate) fn leaves(&self, state: u8) -> Leaving {
        self.leaves[usize::from(state)]
    }

    /// Which caches matter when a copy in this state gives way: see [`Packed::concerns`].
    #[inline]
    pub(crate) fn concerns(&self, state: u8) -> u64 {
        self.concerns[usize::from(state)]
    }

    /// How many update-blocks that takes.
    #[inline]
    pub(crate) fn writes_back(&self, state: u8) -> u64 {
        u64::from(self.leaves(state) == Leaving::WrittenBack)
    }

    /// What a miss does when no other cache has a copy, if it is one fetch from memory.
    #[inline]
    pub(crate) fn alone(&self, write: bool, private: bool) -> Option<Fetch> {
        self.alone[usize::from(write)][usize::from(private)]
    }
}

/// The state after a write, if it differs, and whatever the others have that needs no transaction.
fn promoted(table: &Table, state: u8) -> Option<u8> {
    let states = 1..u8::try_from(table.states().len()).unwrap_or(u8::MAX);
    let mut others = states.filter(|&next| next != state);
    others.find(|&next| table.is_quiet(state, Event::Write, next))
}

/// What the table says about replacing a copy, if that does not depend on the other caches.
fn leaving(table: &Table, state: u8) -> Leaving {
    if table.is_quiet(state, Event::Replace, 0) {
        return Leaving::Silently;
    }
    let replacements =
        table.actions().filter(|&(s, event, _, _)| s == state && event == Event::Replace);
    let written = Action {
        transaction: Some(Transaction::UpdateBlock),
        source: Source::Own,
        next: 0,
        again: false,
    };
    let mut actions = replacements.map(|(_, _, _, action)| action).peekable();
    if actions.peek().is_some() && actions.all(|action| action == written) {
        Leaving::WrittenBack
    } else {
        Leaving::AsTheTableSays
    }
}

/// Follows the table from the invalid state while no other cache has a copy.
fn fetch(table: &Table, event: Event, area: Area) -> Option<Fetch> {
    let condition = table.condition(Copies::None, area);
    let Cell::Does(first) = table.cell(0, event, condition) else { return None };
    let invalidate = match (first.transaction, first.source) {
        (Some(Transaction::ReadBlock), Source::Memory) => false,
        (Some(Transaction::ReadInvalidate), Source::Memory) => true,
        (_, _) => return None,
    };
    if !first.again {
        return Some(Fetch { invalidate, state: first.next });
    }
    match table.cell(first.next, event, condition) {
        Cell::Does(Action { transaction: None, source: Source::Own, next, again: false }) => {
            Some(Fetch { invalidate, state: next })
        }
        Cell::Does(_) | Cell::Impossible(_) => None,
    }
}
