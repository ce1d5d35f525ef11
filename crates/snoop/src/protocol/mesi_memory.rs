//! MESI without transfers of clean blocks: memory supplies what no cache has written.

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell, Transaction,
    announce, because, becomes, fetch, labelled, silent, updates_memory,
};

use Condition::{Alone, Clean, Dirty};
use ProcessorEvent::{Read, Replace, Write};
use State::{E, I, M, S};

labelled! {
    /// States of a copy.
    enum State {
        I = "I": "invalid: no copy",
        E = "E": "exclusive: the only copy, equal to memory",
        S = "S": "shared: other caches may have copies",
        M = "M": "modified: the only copy, memory is out of date",
    }
}

labelled! {
    /// What the other caches have.
    enum Condition {
        Alone = "no copy": "no other cache has a copy",
        Clean = "clean copies": "other caches have copies, all equal to memory",
        Dirty = "dirty copy": "another cache has the only copy, and memory is out of date",
    }
}

/// Source: Culler, Singh and Gupta 1999, section 5.3.2. States and transactions are those of
/// `mesi`; what differs is who sends a block. Of several caches with clean copies none has to be
/// chosen, as memory sends it. Foglia, Giorgi and Prete 2004 do not say which of the two their MESI
/// is.
///
/// # Deviations
/// None known.
pub const ENTRY: Entry = Entry {
    name: "mesi-memory",
    summary: "MESI whose clean blocks come from memory, though other caches have them",
    source: "Culler, Singh and Gupta 1999, section 5.3.2",
    params: &[],
    example: Example {
        name: "clean-sharing",
        summary: "Many readers of what memory has",
        about: "Three processors read a block, which memory sends each time. Processor 1 writes it \
                and answers for it until the next read updates memory.",
        protocol: Some("mesi-memory"),
        text: "0 R a0; 1 R a0; 2 R a0; 1 W a0; 0 R a0; 2 R a0; 2 W a1; 0 W a0; 1 R a1; 0 R b0",
    },
    build: ProtocolTable::of::<MesiMemory>,
};

struct MesiMemory;

const THEIRS_ONLY: &str = "a dirty copy elsewhere would be the only one";

impl ProtocolRules for MesiMemory {
    type State = State;
    type Condition = Condition;

    fn role(state: State) -> Role {
        match state {
            I => Role::Invalid,
            E => Role::Only,
            S => Role::Copy,
            M => Role::OnlyOwner,
        }
    }

    fn condition(copies: Copies<State>, _area: AreaKind) -> Condition {
        match copies {
            Copies::None => Alone,
            Copies::One(I | E | S) | Copies::Several => Clean,
            Copies::One(M) | Copies::Owned => Dirty,
        }
    }

    fn act(state: State, event: ProcessorEvent, condition: Condition) -> TableCell<State> {
        match (state, event, condition) {
            (I, Read, Alone) => fetch(Transaction::ReadBlock, DataSupplier::Memory, E),
            (I, Read, Clean) => fetch(Transaction::ReadBlock, DataSupplier::Memory, S),
            (I, Read, Dirty) => fetch(Transaction::ReadBlock, DataSupplier::Cache, S),
            (I, Write, Alone | Clean) => {
                fetch(Transaction::ReadInvalidate, DataSupplier::Memory, M)
            }
            (I, Write, Dirty) => fetch(Transaction::ReadInvalidate, DataSupplier::Cache, M),
            (I, Replace, Alone | Clean | Dirty) => TableCell::Impossible(because::EMPTY),
            (E, Read, Alone) => silent(E),
            (E | M, Write, Alone) | (M, Read, Alone) => silent(M),
            (S, Read, Alone | Clean) => silent(S),
            (S, Write, Alone | Clean) => announce(Transaction::Invalidate, M),
            (E, Replace, Alone) | (S, Replace, Alone | Clean) => silent(I),
            (M, Replace, Alone) => announce(Transaction::UpdateBlock, I),
            (S, Read | Write | Replace, Dirty) => TableCell::Impossible(THEIRS_ONLY),
            (E | M, Read | Write | Replace, Clean | Dirty) => TableCell::Impossible(because::ONLY),
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
            (
                I,
                Signal::ReadBlock
                | Signal::ReadPrivate
                | Signal::ReadInvalidate
                | Signal::Invalidate
                | Signal::Write,
            ) => Reply::Impossible(because::ABSENT),
        }
    }
}
