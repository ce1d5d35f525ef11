//! Dragon: a write updates all other copies.

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AnyCopies, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
    Transaction, absent, announce, because, becomes, fetch, fetch_then_again, labelled, silent,
    takes_word,
};

use AnyCopies::{Alone, Shared};
use ProcessorEvent::{Read, Replace, Write};
use State::{E, I, M, Sc, Sm};

labelled! {
    enum State {
        I = "I": "invalid: no copy",
        E = "E": "exclusive: the only copy, equal to memory",
        Sc = "SC": "shared and clean: other caches may have copies, one of which may be the owner",
        Sm = "SM": "shared and modified: the owner, memory is out of date",
        M = "M": "modified: the only copy, memory is out of date",
    }
}

/// Source: Archibald and Baer 1986 (reference 67 of Foglia, Giorgi and Prete 2004), for comparison
/// with PSCR: without private areas both do the same.
///
/// # Deviations
/// As under the other protocols here a cache supplies whenever one has a copy, the owner if there
/// is one; in the publication memory supplies what no cache owns.
pub const ENTRY: Entry = Entry {
    name: "dragon",
    summary: "a write updates all other copies; memory is updated by replacement",
    source: "Archibald and Baer 1986",
    params: &[],
    example: Example {
        name: "producer-consumer",
        summary: "One processor writes what others wait for",
        about: "Processor 0 fills two words, 1 and 2 read them. Each later write goes over the bus \
                and into their copies: they never miss. Then processor 1 writes and becomes the \
                owner, and has to write back when it needs its frame.",
        protocol: Some("dragon"),
        text: "0 W a0; 0 W a1; 1 R a0; 1 R a1; 2 R a0; 0 W a0; 1 R a0; 2 R a0; 0 W a1; 1 R a1; \
               1 W a0; 2 R a0; 1 R b0; 2 R a0",
    },
    build: ProtocolTable::of::<Dragon>,
};

struct Dragon;

impl ProtocolRules for Dragon {
    type State = State;
    type Condition = AnyCopies;

    fn role(state: State) -> Role {
        match state {
            I => Role::Invalid,
            E => Role::Only,
            Sc => Role::Copy,
            Sm => Role::Owner,
            M => Role::OnlyOwner,
        }
    }

    fn condition(copies: Copies<State>, _area: AreaKind) -> AnyCopies {
        AnyCopies::of(copies)
    }

    fn act(state: State, event: ProcessorEvent, condition: AnyCopies) -> TableCell<State> {
        match (state, event, condition) {
            (I, Read, Alone) => fetch(Transaction::ReadBlock, DataSupplier::Memory, E),
            (I, Read, Shared) => fetch(Transaction::ReadBlock, DataSupplier::Cache, Sc),
            (I, Write, Alone) => fetch_then_again(DataSupplier::Memory, E),
            (I, Write, Shared) => fetch_then_again(DataSupplier::Cache, Sc),
            (I, Replace, Alone | Shared) => TableCell::Impossible(because::EMPTY),
            (E, Read, Alone) => silent(E),
            (E | M, Write, Alone) | (M, Read, Alone) => silent(M),
            (Sc, Read, Alone | Shared) => silent(Sc),
            (Sm, Read, Alone | Shared) => silent(Sm),
            (Sc | Sm, Write, Alone) => announce(Transaction::Write, M),
            (Sc | Sm, Write, Shared) => announce(Transaction::Write, Sm),
            (E, Replace, Alone) | (Sc, Replace, Alone | Shared) => silent(I),
            (M, Replace, Alone) | (Sm, Replace, Alone | Shared) => {
                announce(Transaction::UpdateBlock, I)
            }
            (E | M, Read | Write | Replace, Shared) => TableCell::Impossible(because::ONLY),
        }
    }

    fn reply(state: State, signal: Signal) -> Reply<State> {
        match (state, signal) {
            (E | Sc, Signal::ReadBlock | Signal::ReadPrivate) => becomes(Sc),
            (M | Sm, Signal::ReadBlock | Signal::ReadPrivate) => becomes(Sm),
            (Sc | Sm, Signal::Write) => takes_word(Sc),
            (E | M, Signal::Write) => Reply::Impossible(because::ONLY),
            (E | Sc | Sm | M, Signal::ReadInvalidate | Signal::Invalidate) => {
                Reply::Impossible(because::NO_INVALIDATIONS)
            }
            (I, signal) => absent(signal),
        }
    }
}
