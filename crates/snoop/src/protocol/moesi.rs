//! MOESI: MESI whose dirty blocks are shared without a write to memory.

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AnyCopies, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
    Transaction, absent, announce, because, becomes, fetch, labelled, silent,
};

use AnyCopies::{Alone, Shared};
use ProcessorEvent::{Read, Replace, Write};
use State::{E, I, M, O, S};

labelled! {
    enum State {
        I = "I": "invalid: no copy",
        E = "E": "exclusive: the only copy, equal to memory",
        S = "S": "shared: other caches may have copies, one of which may be the owner",
        O = "O": "owned: other caches may have copies, memory is out of date",
        M = "M": "modified: the only copy, memory is out of date",
    }
}

/// Source: Sweazey and Smith 1986 (reference 13 of Foglia, Giorgi and Prete 2004), for comparison
/// with MESI.
///
/// # Deviations
/// As under the other protocols here a cache supplies whenever one has a copy, the owner if there
/// is one: then what differs from MESI is ownership alone. Dirty data reach memory only by
/// replacement.
pub const ENTRY: Entry = Entry {
    name: "moesi",
    summary: "MESI with an owned state: dirty blocks are shared without a write to memory",
    source: "Sweazey and Smith 1986",
    params: &[],
    example: Example {
        name: "dirty-sharing",
        summary: "Many readers of what memory does not have",
        about: "Processor 0 writes, the others read: it keeps the block as its owner and answers \
                for it, and memory learns of it only when the owner needs its frame.",
        protocol: Some("moesi"),
        text: "0 W a0; 1 R a0; 2 R a0; 0 W a0; 1 R a0; 2 R a0; 0 R b0; 1 R a0; 1 W a0; 2 R a0; \
               0 R a0",
    },
    build: ProtocolTable::of::<Moesi>,
};

struct Moesi;

impl ProtocolRules for Moesi {
    type State = State;
    type Condition = AnyCopies;

    fn role(state: State) -> Role {
        match state {
            I => Role::Invalid,
            E => Role::Only,
            S => Role::Copy,
            O => Role::Owner,
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
            (O, Read, Alone | Shared) => silent(O),
            (S | O, Write, Alone | Shared) => announce(Transaction::Invalidate, M),
            (E, Replace, Alone) | (S, Replace, Alone | Shared) => silent(I),
            (M, Replace, Alone) | (O, Replace, Alone | Shared) => {
                announce(Transaction::UpdateBlock, I)
            }
            (E | M, Read | Write | Replace, Shared) => TableCell::Impossible(because::ONLY),
        }
    }

    fn reply(state: State, signal: Signal) -> Reply<State> {
        match (state, signal) {
            (E | S, Signal::ReadBlock | Signal::ReadPrivate) => becomes(S),
            (M | O, Signal::ReadBlock | Signal::ReadPrivate) => becomes(O),
            (E | S | O | M, Signal::ReadInvalidate) | (S | O, Signal::Invalidate) => becomes(I),
            (E | M, Signal::Invalidate) => Reply::Impossible(because::ONLY),
            (E | S | O | M, Signal::Write) => Reply::Impossible(because::NO_UPDATES),
            (I, signal) => absent(signal),
        }
    }
}
