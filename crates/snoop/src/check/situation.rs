//! One block in a few caches, and the effect of an event.

use homenode_protocol::{BrokenPromise, Labelled};

use super::{BrokenBusPromise, FindingKind as Kind};
use crate::table::ProtocolTable;
use crate::vocabulary::{
    Action, AreaKind, Copies, DataSupplier, ProcessorEvent, Reply, Signal, TableCell, Transaction,
};

/// The maximum number of caches that are explored together.
pub const CACHES_MAX: usize = 4;
/// Words of the block.
pub(crate) const WORDS: usize = 2;
/// A write miss is a fetch and a write; an event with more rounds than this is endless.
const ROUNDS_MAX: usize = 4;

/// A cache's copy, and which of its words are the latest. A protocol never reads values, so only
/// this matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CheckedCopy {
    pub(crate) state: u8,
    pub(crate) latest: [bool; WORDS],
}

/// All caches and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CheckedCaches {
    pub(crate) caches: [CheckedCopy; CACHES_MAX],
    pub(crate) memory: [bool; WORDS],
}

impl CheckedCaches {
    /// No copies, memory up to date.
    pub(crate) const START: Self = Self {
        caches: [CheckedCopy { state: 0, latest: [false; WORDS] }; CACHES_MAX],
        memory: [true; 2],
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckStep {
    pub(crate) cache: usize,
    pub(crate) event: ProcessorEvent,
    pub(crate) word: usize,
    pub(crate) area: AreaKind,
    /// Which of several copies supplies, where any of them may.
    pub(crate) supplier: usize,
}

/// Cells and replies that were used, and states that were seen and left.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    pub(crate) cells: Vec<bool>,
    pub(crate) replies: Vec<bool>,
    pub(crate) seen: Vec<bool>,
    pub(crate) left: Vec<bool>,
}

impl Coverage {
    pub(crate) fn new(table: &ProtocolTable) -> Self {
        Self {
            cells: vec![false; table.cell_count()],
            replies: vec![false; table.reply_count()],
            seen: vec![false; table.states().len()],
            left: vec![false; table.states().len()],
        }
    }

    fn change(&mut self, from: u8, to: u8) {
        self.seen[usize::from(to)] = true;
        self.left[usize::from(from)] |= from != to;
    }
}

/// The execution of one step.
pub(crate) struct StepRun<'a> {
    pub(crate) table: &'a ProtocolTable,
    pub(crate) coverage: &'a mut Coverage,
    /// A description of what happens; `None` if it is not wanted.
    pub(crate) story: Option<&'a mut String>,
}

impl StepRun<'_> {
    /// The situation after the step; `None` if there is no such supplier.
    pub(crate) fn perform(
        &mut self,
        from: CheckedCaches,
        step: CheckStep,
    ) -> Result<Option<CheckedCaches>, BrokenBusPromise> {
        let mut situation = from;
        for _ in 0..ROUNDS_MAX {
            let (copies, suppliers) = self.others(&situation, step.cache);
            if step.supplier >= suppliers.len().max(1) {
                return Ok(None);
            }
            let action = self.decide(&situation, step, copies)?;
            let supplier = suppliers.get(step.supplier).copied();
            let takers = self.apply(&mut situation, step, action, supplier)?;
            if !action.again {
                self.finish(&mut situation, step, takers)?;
                return Ok(Some(situation));
            }
        }
        broken(Kind::Endless, "the event happens again without end")
    }

    fn decide(
        &mut self,
        situation: &CheckedCaches,
        step: CheckStep,
        copies: Copies<u8>,
    ) -> Result<Action<u8>, BrokenBusPromise> {
        let state = situation.caches[step.cache].state;
        let condition = self.table.condition(copies, step.area);
        self.coverage.cells[self.table.cell_index(state, step.event, condition)] = true;
        match self.table.cell(state, step.event, condition) {
            TableCell::Does(action) => {
                let bus = action.transaction.map_or("no transaction", Transaction::name);
                let from = match action.source {
                    DataSupplier::Own => String::new(),
                    DataSupplier::Memory | DataSupplier::Cache => {
                        format!(" from {}", action.source.name())
                    }
                };
                let [old, new] = [state, action.next].map(|state| self.table.name(state));
                self.append(&format!("{old} -> {new}, {bus}{from}"));
                Ok(action)
            }
            TableCell::Impossible(why) => {
                let (event, state) = (step.event.name(), self.table.name(state));
                let condition = self.table.conditions()[usize::from(condition)].name;
                let others = format!("while the others are in condition [{condition}]");
                impossible(&format!("{event} in state {state} {others}"), why)
            }
        }
    }

    /// The others' copies, and which caches may supply: the owners, else all.
    fn others(&self, situation: &CheckedCaches, cache: usize) -> (Copies<u8>, Vec<usize>) {
        let is_copy = |other: &usize| {
            *other != cache && self.table.role(situation.caches[*other].state).is_copy()
        };
        let all: Vec<usize> = (0..CACHES_MAX).filter(is_copy).collect();
        let owns = |other: &usize| self.table.role(situation.caches[*other].state).is_owner();
        let owners: Vec<usize> = all.iter().copied().filter(owns).collect();
        let copies = match (all[..].len(), owners.is_empty()) {
            (0, _) => Copies::None,
            (1, _) => Copies::One(situation.caches[all[0]].state),
            (_, true) => Copies::Several,
            (_, false) => Copies::Owned,
        };
        (copies, if owners.is_empty() { all } else { owners })
    }

    /// Moves data and changes states. Returns which caches take the written word.
    fn apply(
        &mut self,
        situation: &mut CheckedCaches,
        step: CheckStep,
        action: Action<u8>,
        supplier: Option<usize>,
    ) -> Result<[bool; CACHES_MAX], BrokenBusPromise> {
        let own = situation.caches[step.cache];
        let latest = match action.source {
            DataSupplier::Own => own.latest,
            DataSupplier::Memory => situation.memory,
            DataSupplier::Cache => match supplier {
                Some(supplier) => situation.caches[supplier].latest,
                None => {
                    let message = "a cache is to supply the block, but none has it";
                    return broken(Kind::NoSupplier, message);
                }
            },
        };
        let mut takers = [false; CACHES_MAX];
        if action.transaction == Some(Transaction::UpdateBlock) {
            situation.memory = own.latest;
        }
        if let Some(signal) = action.transaction.and_then(|t| Signal::of(t, step.area)) {
            for other in (0..CACHES_MAX).filter(|&other| other != step.cache) {
                takers[other] = self.reply(situation, other, signal)?;
            }
        }
        self.coverage.change(own.state, action.next);
        let held = &mut situation.caches[step.cache];
        held.state = action.next;
        held.latest = if self.table.role(action.next).is_copy() { latest } else { [false; WORDS] };
        Ok(takers)
    }

    /// Another cache sees the transaction. Returns whether it takes the written word.
    fn reply(
        &mut self,
        situation: &mut CheckedCaches,
        other: usize,
        signal: Signal,
    ) -> Result<bool, BrokenBusPromise> {
        let held = situation.caches[other];
        if !self.table.role(held.state).is_copy() {
            return Ok(false);
        }
        self.coverage.replies[ProtocolTable::reply_index(held.state, signal)] = true;
        match self.table.reply(held.state, signal) {
            Reply::Becomes { next, memory, word } => {
                if memory {
                    situation.memory = held.latest;
                }
                self.coverage.change(held.state, next);
                let [old, new] = [held.state, next].map(|state| self.table.name(state));
                self.append(&format!("; cache {other}: {old} -> {new}"));
                let stays = self.table.role(next).is_copy();
                let latest = if stays { held.latest } else { [false; WORDS] };
                situation.caches[other] = CheckedCopy { state: next, latest };
                Ok(word && stays)
            }
            Reply::Impossible(why) => {
                let (state, signal) = (self.table.name(held.state), signal.name());
                impossible(&format!("a copy in state {state} sees {signal}"), why)
            }
        }
    }

    /// The processor gets its word, or gives it; then the promises must hold.
    fn finish(
        &self,
        situation: &mut CheckedCaches,
        step: CheckStep,
        takers: [bool; CACHES_MAX],
    ) -> Result<(), BrokenBusPromise> {
        let role = self.table.role(situation.caches[step.cache].state);
        match step.event {
            ProcessorEvent::Read | ProcessorEvent::Write if !role.is_copy() => {
                return broken(Kind::NoCopy, "the processor is left without a copy");
            }
            ProcessorEvent::Read if !situation.caches[step.cache].latest[step.word] => {
                let message = format!("the read of word {} returns an old value", step.word);
                return broken(Kind::StaleRead, message);
            }
            ProcessorEvent::Write => {
                situation.memory[step.word] = false;
                for (other, held) in situation.caches.iter_mut().enumerate() {
                    held.latest[step.word] = other == step.cache || takers[other];
                }
            }
            ProcessorEvent::Read | ProcessorEvent::Replace => {}
        }
        self.promises(situation)
    }

    fn promises(&self, situation: &CheckedCaches) -> Result<(), BrokenBusPromise> {
        let roles = situation.caches.map(|held| self.table.role(held.state));
        let copies = roles.iter().filter(|role| role.is_copy()).count();
        if let Some(alone) = roles.iter().position(|role| role.is_alone()).filter(|_| copies > 1) {
            let other = roles.iter().enumerate().position(|(i, r)| i != alone && r.is_copy());
            let state = self.table.name(situation.caches[alone].state);
            let has = format!("cache {} has a copy as well", other.unwrap_or(alone));
            return broken(Kind::NotAlone, format!("cache {alone} is in state {state}, but {has}"));
        }
        match roles.iter().filter(|role| role.is_owner()).count() {
            0 if situation.memory != [true; WORDS] => {
                let message = "memory is out of date and no cache answers for the block";
                broken(Kind::LostWrite, message)
            }
            0 | 1 => Ok(()),
            _ => broken(Kind::TwoOwners, "two caches own the block"),
        }
    }

    fn append(&mut self, what: &str) {
        if let Some(story) = &mut self.story {
            story.push_str(what);
        }
    }
}

fn broken<T>(kind: Kind, message: impl Into<String>) -> Result<T, BrokenBusPromise> {
    Err(BrokenPromise::new(kind, message))
}

fn impossible<T>(what: &str, why: &str) -> Result<T, BrokenBusPromise> {
    broken(Kind::NotImpossible, format!("{what}: declared impossible ({why})"))
}
