//! MESI (Illinois): a write invalidates all other copies.

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AnyCopies, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
    Transaction, absent, announce, because, becomes, fetch, labelled, silent, updates_memory,
};

use AnyCopies::{Alone, Shared};
use ProcessorEvent::{Read, Replace, Write};
use State::{E, I, M, S};

labelled! {
    pub(super) enum State {
        I = "I": "invalid: no copy",
        E = "E": "exclusive: the only copy, equal to memory",
        S = "S": "shared: other caches may have copies",
        M = "M": "modified: the only copy, memory is out of date",
    }
}

/// Source: Foglia, Giorgi and Prete 2004, section 2 (states and transactions; the paper prints no
/// table). A read miss is supplied by a cache whenever one has a copy, as in the Illinois protocol
/// (Papamarcos and Patel 1984); a dirty copy updates memory in the same transaction.
///
/// # Deviations
/// None known.
pub const ENTRY: Entry = Entry {
    name: "mesi",
    summary: "MESI (Illinois): a write invalidates all other copies",
    source: "Foglia, Giorgi and Prete 2004, section 2",
    params: &[],
    example: Example {
        name: "false-sharing",
        summary: "Two counters in one block",
        about: "Processors 0 and 1 each count in a word of their own, but the words share a block: \
                every write takes the block away from the other. Then processor 2 adds the counts \
                up, processor 0 reads the other's count, and processor 1 needs its frame.",
        protocol: Some("mesi"),
        text: "0 R a0; 0 W a0; 1 R a1; 1 W a1; 0 R a0; 0 W a0; 1 R a1; 1 W a1; 2 R a0; 2 R a1; \
               0 R a1; 1 W a1; 1 W b0; 0 R a1",
    },
    build: ProtocolTable::of::<Mesi>,
};

pub(super) struct Mesi;

impl ProtocolRules for Mesi {
    type State = State;
    type Condition = AnyCopies;

    fn role(state: State) -> Role {
        match state {
            I => Role::Invalid,
            E => Role::Only,
            S => Role::Copy,
            M => Role::OnlyOwner,
        }
    }

    fn condition(copies: Copies<State>, _area: AreaKind) -> AnyCopies {
        AnyCopies::of(copies)
    }

    fn act(state: State, event: ProcessorEvent, condition: AnyCopies) -> TableCell<State> {
        match (state, event, condition) {
            (I, Read, Alone) => fetch(Transaction::ReadBlock, DataSupplier::Memory, E),
            (I, Read, Shared) => fetch(Transaction::ReadBlock, DataSupplier::Cache, S),
            (I, Write, Alone) => fetch(Transaction::ReadInvalidate, DataSupplier::Memory, M),
            (I, Write, Shared) => fetch(Transaction::ReadInvalidate, DataSupplier::Cache, M),
            (I, Replace, Alone | Shared) => TableCell::Impossible(because::EMPTY),
            (E, Read, Alone) => silent(E),
            (E | M, Write, Alone) | (M, Read, Alone) => silent(M),
            (S, Read, Alone | Shared) => silent(S),
            (S, Write, Alone | Shared) => announce(Transaction::Invalidate, M),
            (E, Replace, Alone) | (S, Replace, Alone | Shared) => silent(I),
            (M, Replace, Alone) => announce(Transaction::UpdateBlock, I),
            (E | M, Read | Write | Replace, Shared) => TableCell::Impossible(because::ONLY),
        }
    }

    fn reply(state: State, signal: Signal) -> Reply<State> {
        match (state, signal) {
            (E | S, Signal::ReadBlock | Signal::ReadPrivate) => becomes(S),
            (M, Signal::ReadBlock | Signal::ReadPrivate) => updates_memory(S),
            (E | S, Signal::ReadInvalidate) | (S, Signal::Invalidate) => becomes(I),
            (M, Signal::ReadInvalidate) => updates_memory(I),
            (E | M, Signal::Invalidate) => Reply::Impossible(because::ONLY),
            (E | S | M, Signal::Write) => Reply::Impossible(because::NO_UPDATES),
            (I, signal) => absent(signal),
        }
    }
}
