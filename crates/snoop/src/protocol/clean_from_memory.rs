//! Protocols whose clean blocks come from memory: a property that any protocol can have.
//!
//! States, transactions and what the other caches do are those of the protocol. A cache supplies a
//! block only if it owns it, because memory is out of date; every other block comes from memory.

use std::marker::PhantomData;

use homenode_protocol::Labelled;

use crate::table::ProtocolRules;
use crate::vocabulary::{
    AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Role, Signal, TableCell,
};

/// A protocol whose caches say on the bus whether one of them owns the block.
pub(super) trait OwnerRules: ProtocolRules {
    /// The protocol's conditions, told apart by whether another cache owns the block.
    type Finer: Labelled;

    /// The condition for these copies in other caches and this area.
    fn finer(copies: Copies<Self::State>, area: AreaKind) -> Self::Finer;

    /// The protocol's own condition.
    fn whole(finer: Self::Finer) -> Self::Condition;

    /// Whether other caches have copies, all of which equal memory.
    fn is_clean(finer: Self::Finer) -> bool;

    /// Why a copy in this state never meets the condition, if it does not though the protocol's own
    /// condition allows it.
    fn excluded(state: Self::State, finer: Self::Finer) -> Option<&'static str>;
}

/// The protocol with clean blocks from memory.
pub(super) struct CleanFromMemory<P>(PhantomData<P>);

impl<P: OwnerRules> ProtocolRules for CleanFromMemory<P> {
    type State = P::State;
    type Condition = P::Finer;

    fn role(state: P::State) -> Role {
        P::role(state)
    }

    fn condition(copies: Copies<P::State>, area: AreaKind) -> P::Finer {
        P::finer(copies, area)
    }

    fn act(state: P::State, event: ProcessorEvent, finer: P::Finer) -> TableCell<P::State> {
        if let Some(why) = P::excluded(state, finer) {
            return TableCell::Impossible(why);
        }
        let mut cell = P::act(state, event, P::whole(finer));
        if let TableCell::Does(action) = &mut cell
            && action.source == DataSupplier::Cache
            && P::is_clean(finer)
        {
            action.source = DataSupplier::Memory;
        }
        cell
    }

    fn reply(state: P::State, signal: Signal) -> Reply<P::State> {
        P::reply(state, signal)
    }
}
