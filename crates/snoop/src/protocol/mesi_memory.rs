//! MESI without transfers of clean blocks: memory supplies what no cache has written.

use super::mesi::{Mesi, State};
use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AnyCopies, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
    Transaction, fetch, labelled,
};

use Condition::{Alone, Clean, Dirty};
use ProcessorEvent::{Read, Replace, Write};
use State::{E, I, M, S};

labelled! {
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
        Mesi::role(state)
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
            (I, Read, Clean) => fetch(Transaction::ReadBlock, DataSupplier::Memory, S),
            (I, Write, Clean) => fetch(Transaction::ReadInvalidate, DataSupplier::Memory, M),
            (S, Read | Write | Replace, Dirty) => TableCell::Impossible(THEIRS_ONLY),
            (state, event, Alone) => Mesi::act(state, event, AnyCopies::Alone),
            (state, event, Clean | Dirty) => Mesi::act(state, event, AnyCopies::Shared),
        }
    }

    fn reply(state: State, signal: Signal) -> Reply<State> {
        Mesi::reply(state, signal)
    }
}
