//! AMSD: MESI that recognises blocks which migrate from writer to writer.

use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{
    AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell, Transaction,
    absent, announce, because, becomes, fetch, labelled, silent, updates_memory,
};

use AmsdCopies::{Alone, OnlyM, OnlyMc, OnlyMd, Others};
use AmsdState::{E, I, M, Mc, Md, S, S2};
use ProcessorEvent::{Read, Replace, Write};

labelled! {
    pub(super) enum AmsdState {
        I = "I": "invalid: no copy",
        E = "E": "exclusive: the only copy, equal to memory",
        S = "S": "shared: other caches may have copies",
        S2 = "S2": "shared: the younger of exactly two copies, the other being the last writer's",
        M = "M": "modified: the only copy, memory is out of date",
        Mc = "MC": "migratory and clean: the only copy, equal to memory",
        Md = "MD": "migratory and dirty: the only copy, memory is out of date",
    }
}

labelled! {
    pub(super) enum AmsdCopies {
        Alone = "no copy": "no other cache has a copy",
        OnlyM = "only M": "one other cache has a copy, in state M",
        OnlyMc = "only MC": "one other cache has a copy, in state MC",
        OnlyMd = "only MD": "one other cache has a copy, in state MD",
        Others = "copies": "other caches have copies in E, S or S2",
    }
}

/// Source: Foglia, Giorgi and Prete 2004, section 2, after Cox and Fowler 1993 and Stenstrom,
/// Brorsson and Sandberg 1993: MESI and three states (the paper prints no table). A block is found
/// to migrate when the younger of two copies is written; from then on a read takes it along, so
/// that the write that follows needs no transaction. A second reader before the write ends that.
/// What is known of a block is lost with its last copy.
///
/// # Deviations
/// None known. S2 survives the replacement of the older copy: no transaction tells its holder.
pub const ENTRY: Entry = Entry {
    name: "amsd",
    summary: "MESI that moves blocks which migrate from writer to writer in one transaction",
    source: "Cox and Fowler 1993; Stenstrom et al. 1993; Foglia, Giorgi and Prete 2004, section 2",
    params: &[],
    example: Example {
        name: "migratory",
        summary: "A counter that goes from processor to processor",
        about: "Each processor in turn reads the counter and writes it. Once the block is known \
                to migrate, a reader takes it along and may write without asking. Two readers in \
                a row end that.",
        protocol: Some("amsd"),
        text: "0 R a0; 0 W a0; 1 R a0; 1 W a0; 2 R a0; 2 W a0; 0 R a0; 0 W a0; 1 R a0; 2 R a0; \
               2 W a0; 0 R a0; 0 W a0; 1 R a0",
    },
    build: ProtocolTable::of::<Amsd>,
};

pub(super) struct Amsd;

impl ProtocolRules for Amsd {
    type State = AmsdState;
    type Condition = AmsdCopies;

    fn role(state: AmsdState) -> Role {
        match state {
            I => Role::Invalid,
            S | S2 => Role::Copy,
            E | Mc => Role::Only,
            M | Md => Role::OnlyOwner,
        }
    }

    fn condition(copies: Copies<AmsdState>, _area: AreaKind) -> AmsdCopies {
        match copies {
            Copies::None => Alone,
            Copies::One(M) => OnlyM,
            Copies::One(Mc) => OnlyMc,
            Copies::One(Md) => OnlyMd,
            Copies::One(I | E | S | S2) | Copies::Several | Copies::Owned => Others,
        }
    }

    fn act(state: AmsdState, event: ProcessorEvent, condition: AmsdCopies) -> TableCell<AmsdState> {
        match (state, event, condition) {
            (I, Read, Alone) => fetch(Transaction::ReadBlock, DataSupplier::Memory, E),
            (I, Read, OnlyM) => fetch(Transaction::ReadBlock, DataSupplier::Cache, S2),
            (I, Read, OnlyMd) => fetch(Transaction::ReadBlock, DataSupplier::Cache, Mc),
            (I, Read, OnlyMc | Others) => fetch(Transaction::ReadBlock, DataSupplier::Cache, S),
            (I, Write, Alone) => fetch(Transaction::ReadInvalidate, DataSupplier::Memory, M),
            (I, Write, OnlyMd) => fetch(Transaction::ReadInvalidate, DataSupplier::Cache, Md),
            (I, Write, OnlyM | OnlyMc | Others) => {
                fetch(Transaction::ReadInvalidate, DataSupplier::Cache, M)
            }
            (I, Replace, Alone | OnlyM | OnlyMc | OnlyMd | Others) => {
                TableCell::Impossible(because::EMPTY)
            }
            (E, Read, Alone) => silent(E),
            (E | M, Write, Alone) | (M, Read, Alone) => silent(M),
            (Mc, Read, Alone) => silent(Mc),
            (Mc | Md, Write, Alone) | (Md, Read, Alone) => silent(Md),
            (S, Read, Alone | Others) => silent(S),
            (S, Write, Alone | Others) => announce(Transaction::Invalidate, M),
            (S2, Read, Alone | Others) => silent(S2),
            (S2, Write, Alone | Others) => announce(Transaction::Invalidate, Md),
            (E | Mc, Replace, Alone) | (S | S2, Replace, Alone | Others) => silent(I),
            (M | Md, Replace, Alone) => announce(Transaction::UpdateBlock, I),
            (E | M | Mc | Md, Read | Write | Replace, OnlyM | OnlyMc | OnlyMd | Others) => {
                TableCell::Impossible(because::ONLY)
            }
            (S | S2, Read | Write | Replace, OnlyM | OnlyMc | OnlyMd) => {
                TableCell::Impossible("M, MC and MD are the only copy, and here is another one")
            }
        }
    }

    fn reply(state: AmsdState, signal: Signal) -> Reply<AmsdState> {
        match (state, signal) {
            (E | S | S2 | Mc, Signal::ReadBlock | Signal::ReadPrivate) => becomes(S),
            (M, Signal::ReadBlock | Signal::ReadPrivate) => updates_memory(S),
            (Md, Signal::ReadBlock | Signal::ReadPrivate) => updates_memory(I),
            (E | S | S2 | Mc, Signal::ReadInvalidate) | (S | S2, Signal::Invalidate) => becomes(I),
            (M | Md, Signal::ReadInvalidate) => updates_memory(I),
            (E | M | Mc | Md, Signal::Invalidate) => Reply::Impossible(because::ONLY),
            (E | S | S2 | M | Mc | Md, Signal::Write) => Reply::Impossible(because::NO_UPDATES),
            (I, signal) => absent(signal),
        }
    }
}
