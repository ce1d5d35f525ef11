//! One block in a few caches, and what one event does to it.

use super::fault::Fault;
use crate::table::Table;
use crate::vocabulary::{
    Action, Area, Cell, Code, Copies, Event, Reply, Signal, Source, Transaction,
};

/// Most caches that are explored together.
pub const CACHES_MAX: usize = 4;
/// Words of the block.
pub(crate) const WORDS: usize = 2;
/// A write miss is a fetch and a write; more rounds than this never end.
const ROUNDS_MAX: usize = 4;

/// A cache's copy: which of its words are the ones last written. Which value a word has is of no
/// matter (no protocol looks at data), only whether it is the latest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Held {
    pub(crate) state: u8,
    pub(crate) latest: [bool; WORDS],
}

/// All caches and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) caches: [Held; CACHES_MAX],
    pub(crate) memory: [bool; WORDS],
}

impl World {
    /// No copies, memory up to date.
    pub(crate) const START: Self =
        Self { caches: [Held { state: 0, latest: [false; WORDS] }; CACHES_MAX], memory: [true; 2] };
}

/// An event in one cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deed {
    pub(crate) cache: usize,
    pub(crate) event: Event,
    pub(crate) word: usize,
    pub(crate) area: Area,
    /// Which of several copies supplies, where any of them may.
    pub(crate) supplier: usize,
}

/// Cells and replies that were used, and which states were left.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    pub(crate) cells: Vec<bool>,
    pub(crate) replies: Vec<bool>,
    pub(crate) seen: Vec<bool>,
    pub(crate) left: Vec<bool>,
}

impl Coverage {
    pub(crate) fn new(table: &Table) -> Self {
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

/// One deed under way.
pub(crate) struct Stage<'a> {
    pub(crate) table: &'a Table,
    pub(crate) coverage: &'a mut Coverage,
    /// What happened, in words, if anybody wants to know.
    pub(crate) story: Option<String>,
}

impl Stage<'_> {
    /// What the deed makes of the world; `None` if there is no such supplier.
    pub(crate) fn perform(&mut self, from: World, deed: Deed) -> Result<Option<World>, Fault> {
        let mut world = from;
        for _ in 0..ROUNDS_MAX {
            let (copies, suppliers) = self.others(&world, deed.cache);
            if deed.supplier >= suppliers.len().max(1) {
                return Ok(None);
            }
            let action = self.decide(&world, deed, copies)?;
            let supplier = suppliers.get(deed.supplier).copied();
            let takers = self.apply(&mut world, deed, (action, supplier))?;
            if !action.again {
                self.finish(&mut world, deed, takers)?;
                return Ok(Some(world));
            }
        }
        Err(Fault::Endless)
    }

    /// What the table says.
    fn decide(
        &mut self,
        world: &World,
        deed: Deed,
        copies: Copies<u8>,
    ) -> Result<Action<u8>, Fault> {
        let state = world.caches[deed.cache].state;
        let condition = self.table.condition(copies, deed.area);
        self.coverage.cells[self.table.cell_index(state, deed.event, condition)] = true;
        match self.table.cell(state, deed.event, condition) {
            Cell::Does(action) => {
                let bus = action.transaction.map_or("no transaction", Transaction::name);
                let from = match action.source {
                    Source::Own => String::new(),
                    Source::Memory | Source::Cache => format!(" from {}", action.source.name()),
                };
                let [old, new] = [state, action.next].map(|state| self.table.name(state));
                self.tell(&format!("{old} -> {new}, {bus}{from}"));
                Ok(action)
            }
            Cell::Impossible(why) => Err(Fault::Impossible {
                what: format!(
                    "{} in state {} while the others are in condition [{}]",
                    deed.event.name(),
                    self.table.name(state),
                    self.table.conditions()[usize::from(condition)].name
                ),
                why,
            }),
        }
    }

    /// The others' copies, and which caches may supply: the owners, else all.
    fn others(&self, world: &World, cache: usize) -> (Copies<u8>, Vec<usize>) {
        let is_copy = |other: &usize| {
            *other != cache && self.table.role(world.caches[*other].state).is_copy()
        };
        let all: Vec<usize> = (0..CACHES_MAX).filter(is_copy).collect();
        let owns = |other: &usize| self.table.role(world.caches[*other].state).is_owner();
        let owners: Vec<usize> = all.iter().copied().filter(owns).collect();
        let copies = match (all[..].len(), owners.is_empty()) {
            (0, _) => Copies::None,
            (1, _) => Copies::One(world.caches[all[0]].state),
            (_, true) => Copies::Several,
            (_, false) => Copies::Owned,
        };
        (copies, if owners.is_empty() { all } else { owners })
    }

    /// Moves data and changes states. Returns which caches take the written word.
    fn apply(
        &mut self,
        world: &mut World,
        deed: Deed,
        (action, supplier): (Action<u8>, Option<usize>),
    ) -> Result<[bool; CACHES_MAX], Fault> {
        let own = world.caches[deed.cache];
        let latest = match action.source {
            Source::Own => own.latest,
            Source::Memory => world.memory,
            Source::Cache => world.caches[supplier.ok_or(Fault::NoSupplier)?].latest,
        };
        let mut takers = [false; CACHES_MAX];
        if action.transaction == Some(Transaction::UpdateBlock) {
            world.memory = own.latest;
        }
        if let Some(signal) = action.transaction.and_then(|t| Signal::of(t, deed.area)) {
            for other in (0..CACHES_MAX).filter(|&other| other != deed.cache) {
                takers[other] = self.reply(world, other, signal)?;
            }
        }
        self.coverage.change(own.state, action.next);
        let held = &mut world.caches[deed.cache];
        held.state = action.next;
        held.latest = if self.table.role(action.next).is_copy() { latest } else { [false; WORDS] };
        Ok(takers)
    }

    /// Another cache sees the transaction. Returns whether it takes the written word.
    fn reply(&mut self, world: &mut World, other: usize, signal: Signal) -> Result<bool, Fault> {
        let held = world.caches[other];
        if !self.table.role(held.state).is_copy() {
            return Ok(false);
        }
        self.coverage.replies[Table::reply_index(held.state, signal)] = true;
        match self.table.reply(held.state, signal) {
            Reply::Becomes { next, memory, word } => {
                if memory {
                    world.memory = held.latest;
                }
                self.coverage.change(held.state, next);
                let [old, new] = [held.state, next].map(|state| self.table.name(state));
                self.tell(&format!("; cache {other}: {old} -> {new}"));
                let stays = self.table.role(next).is_copy();
                let latest = if stays { held.latest } else { [false; WORDS] };
                world.caches[other] = Held { state: next, latest };
                Ok(word && stays)
            }
            Reply::Impossible(why) => Err(Fault::Impossible {
                what: format!(
                    "a copy in state {} sees {}",
                    self.table.name(held.state),
                    signal.name()
                ),
                why,
            }),
        }
    }

    /// The processor gets its word, or gives it; then the promises must hold.
    fn finish(
        &self,
        world: &mut World,
        deed: Deed,
        takers: [bool; CACHES_MAX],
    ) -> Result<(), Fault> {
        let role = self.table.role(world.caches[deed.cache].state);
        match deed.event {
            Event::Read if !role.is_copy() => return Err(Fault::NoCopy),
            Event::Read if !world.caches[deed.cache].latest[deed.word] => {
                return Err(Fault::Stale { word: deed.word });
            }
            Event::Write if !role.is_copy() => return Err(Fault::NoCopy),
            Event::Write => {
                world.memory[deed.word] = false;
                for (other, held) in world.caches.iter_mut().enumerate() {
                    held.latest[deed.word] = other == deed.cache || takers[other];
                }
            }
            Event::Read | Event::Replace => {}
        }
        self.promises(world)
    }

    fn promises(&self, world: &World) -> Result<(), Fault> {
        let roles = world.caches.map(|held| self.table.role(held.state));
        let copies = roles.iter().filter(|role| role.is_copy()).count();
        if let Some(alone) = roles.iter().position(|role| role.is_alone()).filter(|_| copies > 1) {
            let other = roles.iter().enumerate().position(|(i, r)| i != alone && r.is_copy());
            return Err(Fault::NotAlone {
                alone,
                state: self.table.name(world.caches[alone].state),
                other: other.unwrap_or(alone),
            });
        }
        match roles.iter().filter(|role| role.is_owner()).count() {
            0 if world.memory != [true; WORDS] => Err(Fault::Lost),
            0 | 1 => Ok(()),
            _ => Err(Fault::TwoOwners),
        }
    }

    fn tell(&mut self, what: &str) {
        if let Some(story) = &mut self.story {
            story.push_str(what);
        }
    }
}
