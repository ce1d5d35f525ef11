//! The actions of the NUMA manager, as one total table.
//!
//! Source: Bolosky §3.1.3, "The NUMA Manager" and figure 3.3, drawn as a state machine. The words
//! for the actions are those of the same authors' earlier account of the ACE (Bolosky,
//! Fitzgerald and Scott, SOSP 1989). `docs/pmap.md` is printed from [`rows`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of a logical page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageState {
    /// In any number of local memories, mapped read-only; global memory is up to date. A page that
    /// no processor has referenced yet is read-only with no copies.
    ReadOnly,
    /// In exactly one local memory, mapped writable; global memory is stale.
    LocalWritable,
    /// Only in global memory, mapped writable wherever it is mapped.
    GlobalWritable,
}

/// The state as a faulting processor sees it: the columns of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultSituation {
    /// [`PageState::ReadOnly`].
    ReadOnly,
    /// [`PageState::LocalWritable`] at the processor itself.
    LocalWritableOwn,
    /// [`PageState::LocalWritable`] at another processor.
    LocalWritableOther,
    /// [`PageState::GlobalWritable`].
    GlobalWritable,
}

/// The kind of reference that faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// A fetch from memory.
    Read,
    /// A store, or an atomic read-modify-write.
    Write,
}

/// The policy's answer: where the page belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Location {
    /// In the local memory of the processor that faulted.
    Local,
    /// In global memory.
    Global,
}

/// The fate of the writer's copy when another processor reads a local-writable page. The thesis
/// leaves it open; the table has a cell for each choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OwnerCopy {
    /// It is dropped: the page leaves the local memory in which it was written.
    #[default]
    Flush,
    /// It stays, mapped read-only.
    Keep,
}

/// The copies in local memories that are dropped, with the mappings to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// None.
    Nothing,
    /// The copy of the processor that faulted.
    Own,
    /// The copies of all other processors.
    Other,
    /// All copies.
    All,
}

/// One cell of the table: actions, in this order, and the new state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct FaultAction {
    /// Copy the page from the owner's local memory to global memory.
    pub sync: bool,
    /// Make the owner's mapping read-only.
    pub protect: bool,
    /// Drop copies in local memories and the mappings to them.
    pub flush: Flush,
    /// Drop all mappings to the page in global memory.
    pub unmap: bool,
    /// Copy the page from global memory to the local memory of the processor that faulted, unless
    /// it is there.
    pub copy: bool,
    /// The state afterwards.
    pub next: PageState,
}

/// Only the change of state.
const fn stay(next: PageState) -> FaultAction {
    FaultAction {
        sync: false,
        protect: false,
        flush: Flush::Nothing,
        unmap: false,
        copy: false,
        next,
    }
}

/// The cell for a fault. The match is total, with one arm for each cell.
#[must_use]
pub const fn action(
    situation: FaultSituation,
    access: FaultKind,
    answer: Location,
    owner_copy: OwnerCopy,
) -> FaultAction {
    use FaultKind::{Read, Write};
    use FaultSituation as S;
    use Location::{Global, Local};
    use PageState::{GlobalWritable, LocalWritable, ReadOnly};
    match (situation, access, answer) {
        (S::ReadOnly, Read, Local) => FaultAction { copy: true, ..stay(ReadOnly) },
        (S::ReadOnly, Write, Local) => {
            FaultAction { flush: Flush::Other, copy: true, ..stay(LocalWritable) }
        }
        (S::ReadOnly, Read | Write, Global) => {
            FaultAction { flush: Flush::All, ..stay(GlobalWritable) }
        }
        (S::LocalWritableOwn, Read | Write, Local) => stay(LocalWritable),
        (S::LocalWritableOwn, Read | Write, Global) => {
            FaultAction { sync: true, flush: Flush::Own, ..stay(GlobalWritable) }
        }
        (S::LocalWritableOther, Read, Local) => match owner_copy {
            OwnerCopy::Flush => {
                FaultAction { sync: true, flush: Flush::Other, copy: true, ..stay(ReadOnly) }
            }
            OwnerCopy::Keep => {
                FaultAction { sync: true, protect: true, copy: true, ..stay(ReadOnly) }
            }
        },
        (S::LocalWritableOther, Write, Local) => {
            FaultAction { sync: true, flush: Flush::Other, copy: true, ..stay(LocalWritable) }
        }
        (S::LocalWritableOther, Read | Write, Global) => {
            FaultAction { sync: true, flush: Flush::Other, ..stay(GlobalWritable) }
        }
        (S::GlobalWritable, Read, Local) => {
            FaultAction { unmap: true, copy: true, ..stay(ReadOnly) }
        }
        (S::GlobalWritable, Write, Local) => {
            FaultAction { unmap: true, copy: true, ..stay(LocalWritable) }
        }
        (S::GlobalWritable, Read | Write, Global) => stay(GlobalWritable),
    }
}

/// All situations, in the order of the table's columns.
pub const SITUATIONS: [FaultSituation; 4] = [
    FaultSituation::ReadOnly,
    FaultSituation::LocalWritableOwn,
    FaultSituation::LocalWritableOther,
    FaultSituation::GlobalWritable,
];

/// All requests, in the order of the table's rows.
pub const REQUESTS: [(FaultKind, Location); 4] = [
    (FaultKind::Read, Location::Local),
    (FaultKind::Read, Location::Global),
    (FaultKind::Write, Location::Local),
    (FaultKind::Write, Location::Global),
];

/// Number of cells.
pub const CELLS: usize = SITUATIONS.len() * REQUESTS.len();

/// Position of a cell: by situation, then by request.
#[must_use]
pub const fn cell(situation: FaultSituation, access: FaultKind, answer: Location) -> usize {
    let column = match situation {
        FaultSituation::ReadOnly => 0,
        FaultSituation::LocalWritableOwn => 1,
        FaultSituation::LocalWritableOther => 2,
        FaultSituation::GlobalWritable => 3,
    };
    let row = match (access, answer) {
        (FaultKind::Read, Location::Local) => 0,
        (FaultKind::Read, Location::Global) => 1,
        (FaultKind::Write, Location::Local) => 2,
        (FaultKind::Write, Location::Global) => 3,
    };
    column * REQUESTS.len() + row
}

/// A cell with its position, as listed and printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The state and, where it is local-writable, whose.
    pub situation: FaultSituation,
    /// The reference that faulted.
    pub access: FaultKind,
    /// The policy's answer.
    pub answer: Location,
    /// The actions.
    #[serde(flatten)]
    pub action: FaultAction,
}

/// The whole table, in the order of [`cell`].
#[must_use]
pub fn rows(owner_copy: OwnerCopy) -> Vec<Row> {
    let cells = SITUATIONS.iter().flat_map(|&s| REQUESTS.iter().map(move |&(a, l)| (s, a, l)));
    let row = |(situation, access, answer)| Row {
        situation,
        access,
        answer,
        action: action(situation, access, answer, owner_copy),
    };
    cells.map(row).collect()
}

impl FaultAction {
    /// The actions in words, as in "sync, flush other, copy"; "none" if there are none.
    #[must_use]
    pub fn words(&self) -> String {
        let flush = match self.flush {
            Flush::Nothing => None,
            Flush::Own => Some("flush own"),
            Flush::Other => Some("flush other"),
            Flush::All => Some("flush all"),
        };
        let words = [
            self.sync.then_some("sync"),
            self.protect.then_some("protect"),
            flush,
            self.unmap.then_some("unmap all"),
            self.copy.then_some("copy"),
        ];
        let words: Vec<&str> = words.into_iter().flatten().collect();
        if words.is_empty() { "none".to_owned() } else { words.join(", ") }
    }
}

impl PageState {
    /// The word for it in results.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::LocalWritable => "local-writable",
            Self::GlobalWritable => "global-writable",
        }
    }
}

impl FaultSituation {
    /// The words for it in tables.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::LocalWritableOwn => "local-writable, own",
            Self::LocalWritableOther => "local-writable, other",
            Self::GlobalWritable => "global-writable",
        }
    }
}

impl FaultKind {
    /// The word for it in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl Location {
    /// The word for it in tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Global => "global",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbered_in_the_order_of_rows() {
        for (place, row) in rows(OwnerCopy::Flush).iter().enumerate() {
            assert_eq!(cell(row.situation, row.access, row.answer), place);
        }
        assert_eq!(rows(OwnerCopy::Keep).len(), CELLS);
    }

    /// The choice that the thesis leaves open changes only one cell.
    #[test]
    fn the_owners_copy_is_the_business_of_one_cell() {
        let pairs = rows(OwnerCopy::Flush).into_iter().zip(rows(OwnerCopy::Keep));
        let differing: Vec<usize> =
            pairs.enumerate().filter(|(_, (a, b))| a != b).map(|(place, _)| place).collect();
        let only = cell(FaultSituation::LocalWritableOther, FaultKind::Read, Location::Local);
        assert_eq!(differing, [only]);
    }

    /// The meaning of the answers: GLOBAL leaves the page in global memory, LOCAL leaves it in the
    /// requester's local memory, writable if the fault was a write.
    #[test]
    fn every_cell_obeys_the_policy() {
        for owner_copy in [OwnerCopy::Flush, OwnerCopy::Keep] {
            for Row { situation, access, answer, action } in rows(owner_copy) {
                let own = situation == FaultSituation::LocalWritableOwn;
                let expected = match (answer, access) {
                    (Location::Global, FaultKind::Read | FaultKind::Write) => {
                        PageState::GlobalWritable
                    }
                    (Location::Local, FaultKind::Write) => PageState::LocalWritable,
                    (Location::Local, FaultKind::Read) if own => PageState::LocalWritable,
                    (Location::Local, FaultKind::Read) => PageState::ReadOnly,
                };
                assert_eq!(action.next, expected, "{situation:?} {access:?} {answer:?}");
                // Nothing is lost: a stale global copy is brought up to date before its owner goes.
                let stale = matches!(
                    situation,
                    FaultSituation::LocalWritableOwn | FaultSituation::LocalWritableOther
                );
                let leaves = action.next != PageState::LocalWritable || !own;
                assert_eq!(action.sync, stale && leaves);
            }
        }
    }

    #[test]
    fn actions_read_as_words() {
        let of = |s, a, l| action(s, a, l, OwnerCopy::Flush).words();
        let moved = of(FaultSituation::LocalWritableOther, FaultKind::Write, Location::Local);
        assert_eq!(moved, "sync, flush other, copy");
        assert_eq!(of(FaultSituation::GlobalWritable, FaultKind::Read, Location::Global), "none");
    }
}
