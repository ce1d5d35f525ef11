//! MSI: MESI without the state that lets a sole reader write without a transaction.

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell, Transaction,
    absent, announce, because, becomes, fetch, labelled, silent, updates_memory,
};

use Condition::{Alone, Shared};
use ProcessorEvent::{Read, Replace, Write};
use State::{I, M, S};

labelled! {
    /// States of a copy.
    enum State {
        I = "I": "invalid: no copy",
        S = "S": "shared: other caches may have copies",
        M = "M": "modified: the only copy, memory is out of date",
    }
}

labelled! {
    /// What the other caches have.
    enum Condition {
        Alone = "no copy": "no other cache has a copy",
        Shared = "copies": "at least one other cache has a copy",
    }
}

/// Source: the textbook protocol with three states; a cache supplies the block where one has it.
///
/// # Deviations
/// None known.
pub const ENTRY: Entry = Entry {
    name: "msi",
    summary: "MSI: as MESI, but the first write always announces itself",
    source: "an example",
    params: &[],
    example: Example {
        name: "first-write",
        summary: "Every first write asks",
        about: "Processor 0 reads a word that no other cache has, and still announces its write.",
        protocol: Some("msi"),
        text: "0 R a0; 0 W a0; 1 R a0; 1 W a0; 2 R a0; 0 R b0; 1 W a1",
    },
    build: ProtocolTable::of::<Msi>,
};

struct Msi;

impl ProtocolRules for Msi {
    type State = State;
    type Condition = Condition;

    fn role(state: State) -> Role {
        match state {
            I => Role::Invalid,
            S => Role::Copy,
            M => Role::OnlyOwner,
        }
    }

    fn condition(copies: Copies<State>, _area: AreaKind) -> Condition {
        match copies {
            Copies::None => Alone,
            Copies::One(I | S | M) | Copies::Several | Copies::Owned => Shared,
        }
    }

    fn act(state: State, event: ProcessorEvent, condition: Condition) -> TableCell<State> {
        match (state, event, condition) {
            (I, Read, Alone) => fetch(Transaction::ReadBlock, DataSupplier::Memory, S),
            (I, Read, Shared) => fetch(Transaction::ReadBlock, DataSupplier::Cache, S),
            (I, Write, Alone) => fetch(Transaction::ReadInvalidate, DataSupplier::Memory, M),
            (I, Write, Shared) => fetch(Transaction::ReadInvalidate, DataSupplier::Cache, M),
            (I, Replace, Alone | Shared) => TableCell::Impossible(because::EMPTY),
            (M, Read | Write, Alone) => silent(M),
            (S, Read, Alone | Shared) => silent(S),
            (S, Write, Alone | Shared) => announce(Transaction::Invalidate, M),
            (S, Replace, Alone | Shared) => silent(I),
            (M, Replace, Alone) => announce(Transaction::UpdateBlock, I),
            (M, Read | Write | Replace, Shared) => TableCell::Impossible(because::ONLY),
        }
    }

    fn reply(state: State, signal: Signal) -> Reply<State> {
        match (state, signal) {
            (S, Signal::ReadBlock | Signal::ReadPrivate) => becomes(S),
            (M, Signal::ReadBlock | Signal::ReadPrivate) => updates_memory(S),
            (S, Signal::ReadInvalidate | Signal::Invalidate) => becomes(I),
            (M, Signal::ReadInvalidate) => updates_memory(I),
            (M, Signal::Invalidate) => Reply::Impossible(because::ONLY),
            (S | M, Signal::Write) => Reply::Impossible(because::NO_UPDATES),
            (I, signal) => absent(signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{ProtocolSpec, check};

    #[test]
    fn nothing_that_can_happen_breaks_a_promise() {
        assert_eq!(check(&ProtocolSpec::parse("msi").unwrap().table()).findings, []);
    }
}
