//! The most frequent cells of the table, in flat arrays indexed by state.

use homenode_cache::{MAY_READ, MAY_WRITE, PackedHolders};

use crate::table::ProtocolTable;
use crate::vocabulary::{
    Action, AreaKind, Copies, DataSupplier, ProcessorEvent, TableCell, Transaction,
};

/// Numbers of states fit into a byte.
const STATES: usize = 256;

/// The actions of a protocol that affect no other cache, by state.
pub(super) struct FastPaths {
    permissions: [u8; STATES],
    replacements: [Replacement; STATES],
    concerned: [u64; STATES],
    /// The state after a write without a transaction; 0 if there is no such write.
    silent_writes: [u8; STATES],
    /// By whether it writes and whether the area is private.
    uncontended: [[Option<UncontendedFetch>; 2]; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    Silent,
    /// With an update-block, whatever the others have.
    WriteBack,
    /// By a cell of the table, because it depends on the other caches.
    ByTable,
}

/// The fetch of a miss when no other cache has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UncontendedFetch {
    /// Whether the transaction is read-and-invalidate-block.
    pub(crate) invalidate: bool,
    pub(crate) state: u8,
}

impl FastPaths {
    /// No fast paths: every reference goes by the table.
    pub(super) fn none() -> Self {
        let mut replacements = [Replacement::ByTable; STATES];
        replacements[0] = Replacement::Silent;
        Self {
            permissions: [0; STATES],
            replacements,
            concerned: [0; STATES],
            silent_writes: [0; STATES],
            uncontended: [[None; 2]; 2],
        }
    }

    pub(super) fn of(table: &ProtocolTable) -> Self {
        let areas =
            |event| [AreaKind::Shared, AreaKind::Private].map(|area| fetch(table, event, area));
        let uncontended = [ProcessorEvent::Read, ProcessorEvent::Write].map(areas);
        let mut paths = Self { uncontended, ..Self::none() };
        for (state, _) in (0..=u8::MAX).zip(table.states()) {
            let of = |event, bit| if table.is_silent(state, event, state) { bit } else { 0 };
            let permissions =
                of(ProcessorEvent::Read, MAY_READ) | of(ProcessorEvent::Write, MAY_WRITE);
            let at = usize::from(state);
            paths.permissions[at] = u8::try_from(permissions).unwrap_or(0);
            if state != 0 {
                paths.silent_writes[at] = silent_write(table, state).unwrap_or(0);
                let replacement = replacement(table, state);
                paths.replacements[at] = replacement;
                // Frames that lost the block collect what was written. The own copy is a holder.
                paths.concerned[at] = match replacement {
                    Replacement::Silent | Replacement::WriteBack => PackedHolders::LOST,
                    Replacement::ByTable => PackedHolders::LOST | PackedHolders::HOLDERS,
                };
            }
        }
        paths
    }

    #[inline]
    pub(super) fn permissions(&self, state: u8) -> u64 {
        u64::from(self.permissions[usize::from(state)])
    }

    /// The state after a write that changes only the own copy's state.
    #[inline]
    pub(super) fn silent_write(&self, state: u8) -> Option<u8> {
        let next = self.silent_writes[usize::from(state)];
        (next != 0).then_some(next)
    }

    /// How a copy in this state is replaced; silently without a copy.
    #[inline]
    pub(super) fn replacement(&self, state: u8) -> Replacement {
        self.replacements[usize::from(state)]
    }

    /// The caches that the replacement of a copy in this state affects: see
    /// [`PackedHolders::concerns`].
    #[inline]
    pub(super) fn concerned(&self, state: u8) -> u64 {
        self.concerned[usize::from(state)]
    }

    /// The number of update-blocks that the replacement takes.
    #[inline]
    pub(super) fn write_backs(&self, state: u8) -> u64 {
        u64::from(self.replacement(state) == Replacement::WriteBack)
    }

    /// The fetch of a miss when no other cache has a copy; `None` if it is not one fetch from
    /// memory.
    #[inline]
    pub(super) fn uncontended_fetch(&self, write: bool, private: bool) -> Option<UncontendedFetch> {
        self.uncontended[usize::from(write)][usize::from(private)]
    }
}

/// The state after a write, if it differs and the write needs no transaction under any condition.
fn silent_write(table: &ProtocolTable, state: u8) -> Option<u8> {
    let states = 1..u8::try_from(table.states().len()).unwrap_or(u8::MAX);
    let mut others = states.filter(|&next| next != state);
    others.find(|&next| table.is_silent(state, ProcessorEvent::Write, next))
}

fn replacement(table: &ProtocolTable, state: u8) -> Replacement {
    if table.is_silent(state, ProcessorEvent::Replace, 0) {
        return Replacement::Silent;
    }
    let replacements =
        table.actions().filter(|&(s, event, _, _)| s == state && event == ProcessorEvent::Replace);
    let written = Action {
        transaction: Some(Transaction::UpdateBlock),
        source: DataSupplier::Own,
        next: 0,
        again: false,
    };
    let mut actions = replacements.map(|(_, _, _, action)| action).peekable();
    if actions.peek().is_some() && actions.all(|action| action == written) {
        Replacement::WriteBack
    } else {
        Replacement::ByTable
    }
}

/// Follows the table from the invalid state while no other cache has a copy.
fn fetch(table: &ProtocolTable, event: ProcessorEvent, area: AreaKind) -> Option<UncontendedFetch> {
    let condition = table.condition(Copies::None, area);
    let TableCell::Does(first) = table.cell(0, event, condition) else { return None };
    let invalidate = match (first.transaction, first.source) {
        (Some(Transaction::ReadBlock), DataSupplier::Memory) => false,
        (Some(Transaction::ReadInvalidate), DataSupplier::Memory) => true,
        (_, _) => return None,
    };
    if !first.again {
        return Some(UncontendedFetch { invalidate, state: first.next });
    }
    match table.cell(first.next, event, condition) {
        TableCell::Does(Action {
            transaction: None,
            source: DataSupplier::Own,
            next,
            again: false,
        }) => Some(UncontendedFetch { invalidate, state: next }),
        TableCell::Does(_) | TableCell::Impossible(_) => None,
    }
}
