//! PSCR: updates shared copies, removes the copies that a process left behind.

use homenode_protocol::{ProtocolParameter, ValueRange};

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell, Transaction,
    absent, announce, because, becomes, fetch, fetch_then_again, labelled, silent, takes_word,
};

use ProcessorEvent::{Read, Replace, Write};
use PscrCopies::{Alone, PrivateClean, PrivateDirty, Shared};
use PscrState::{E, I, M, S, Sm};

labelled! {
    pub(super) enum PscrState {
        I = "I": "invalid: no copy",
        E = "E": "exclusive: the only copy, equal to memory",
        S = "S": "shared: other caches may have copies, one of which may be the owner",
        Sm = "SM": "shared and modified: the owner, memory is out of date",
        M = "M": "modified: the only copy, memory is out of date",
    }
}

labelled! {
    /// What the other caches have, and what the line for private areas says.
    pub(super) enum PscrCopies {
        Alone = "no copy": "no other cache has a copy",
        Shared = "copies": "shared area, at least one other cache has a copy",
        PrivateClean = "private, clean": "private area, other caches have copies but none owns it",
        PrivateDirty = "private, dirty": "private area, another cache has it in M or SM",
    }
}

/// Source: Giorgi and Prete 1999, as Foglia, Giorgi and Prete 2004 describe it in section 2 (five
/// states, one more bus line; the paper prints no table). Shared areas are updated by writes. The
/// copies of a private area are those of a processor that its process left: a cache that fetches
/// such a block takes it over, and a modified block stays modified.
///
/// # Deviations
/// A block that references name private and others name shared may have several copies; a private
/// read removes all of them. Memory is not updated when a cache supplies: M becomes SM, the owner.
pub const ENTRY: Entry = Entry {
    name: "pscr",
    summary: "updates shared copies; a private block moves with its process",
    source: "Giorgi and Prete 1999; Foglia, Giorgi and Prete 2004, section 2",
    params: &[ProtocolParameter {
        name: "private_kernel",
        doc: "kernel structures of one process count as its private area (the extension that \
              section 2 of the paper proposes)",
        values: ValueRange::Switch,
    }],
    example: Example {
        name: "moving-process",
        summary: "A process moves, and its private block follows",
        about: "A process works on its stack (block a, private) and moves from processor 0 to 1, \
                to 2 and back. Then processors 0 and 1 share a word of block b, and each write \
                updates the other's copy.",
        protocol: Some("pscr"),
        text: "0 W a0 p; 0 R a1 p; 1 R a0 p; 1 W a0 p; 2 R a1 p; 2 W a1 p; 0 R a0 p; 0 W a0 p; \
               0 W b0; 1 R b0; 0 W b0; 1 R b0; 1 W b0; 0 R b0; 1 R a1 p",
    },
    build: ProtocolTable::of::<Pscr>,
};

pub(super) struct Pscr;

const NO_QUESTION: &str = "a replacement does not ask whose area the block belongs to";
pub(super) const OWNER_HERE: &str = "there is one owner, and it is this copy";

impl ProtocolRules for Pscr {
    type State = PscrState;
    type Condition = PscrCopies;

    fn role(state: PscrState) -> Role {
        match state {
            I => Role::Invalid,
            E => Role::Only,
            S => Role::Copy,
            Sm => Role::Owner,
            M => Role::OnlyOwner,
        }
    }

    fn condition(copies: Copies<PscrState>, area: AreaKind) -> PscrCopies {
        match (copies, area) {
            (Copies::None, AreaKind::Shared | AreaKind::Private) => Alone,
            (
                Copies::One(I | E | S | Sm | M) | Copies::Several | Copies::Owned,
                AreaKind::Shared,
            ) => Shared,
            (Copies::One(I | E | S) | Copies::Several, AreaKind::Private) => PrivateClean,
            (Copies::One(Sm | M) | Copies::Owned, AreaKind::Private) => PrivateDirty,
        }
    }

    fn act(state: PscrState, event: ProcessorEvent, condition: PscrCopies) -> TableCell<PscrState> {
        match (state, event, condition) {
            (I, Read, Alone) => fetch(Transaction::ReadBlock, DataSupplier::Memory, E),
            (I, Read, Shared) => fetch(Transaction::ReadBlock, DataSupplier::Cache, S),
            (I, Read, PrivateClean) => fetch(Transaction::ReadBlock, DataSupplier::Cache, E),
            (I, Read, PrivateDirty) => fetch(Transaction::ReadBlock, DataSupplier::Cache, M),
            (I, Write, Alone) => fetch_then_again(DataSupplier::Memory, E),
            (I, Write, Shared) => fetch_then_again(DataSupplier::Cache, S),
            (I, Write, PrivateClean) => fetch_then_again(DataSupplier::Cache, E),
            (I, Write, PrivateDirty) => fetch_then_again(DataSupplier::Cache, M),
            (I, Replace, Alone | Shared | PrivateClean | PrivateDirty) => {
                TableCell::Impossible(because::EMPTY)
            }
            (E, Read, Alone) => silent(E),
            (E | M, Write, Alone) | (M, Read, Alone) => silent(M),
            (S, Read, Alone | Shared | PrivateClean | PrivateDirty) => silent(S),
            (Sm, Read, Alone | Shared | PrivateClean) => silent(Sm),
            (S | Sm, Write, Alone) => announce(Transaction::Write, M),
            (S | Sm, Write, Shared | PrivateClean) | (S, Write, PrivateDirty) => {
                announce(Transaction::Write, Sm)
            }
            (E, Replace, Alone) | (S, Replace, Alone | Shared) => silent(I),
            (M, Replace, Alone) | (Sm, Replace, Alone | Shared) => {
                announce(Transaction::UpdateBlock, I)
            }
            (E | M, Read | Write | Replace, Shared | PrivateClean | PrivateDirty) => {
                TableCell::Impossible(because::ONLY)
            }
            (S | Sm, Replace, PrivateClean | PrivateDirty) => TableCell::Impossible(NO_QUESTION),
            (Sm, Read | Write, PrivateDirty) => TableCell::Impossible(OWNER_HERE),
        }
    }

    fn reply(state: PscrState, signal: Signal) -> Reply<PscrState> {
        match (state, signal) {
            (E | S, Signal::ReadBlock) => becomes(S),
            (M | Sm, Signal::ReadBlock) => becomes(Sm),
            (E | S | Sm | M, Signal::ReadPrivate) => becomes(I),
            (S | Sm, Signal::Write) => takes_word(S),
            (E | M, Signal::Write) => Reply::Impossible(because::ONLY),
            (E | S | Sm | M, Signal::ReadInvalidate | Signal::Invalidate) => {
                Reply::Impossible(because::NO_INVALIDATIONS)
            }
            (I, signal) => absent(signal),
        }
    }
}
