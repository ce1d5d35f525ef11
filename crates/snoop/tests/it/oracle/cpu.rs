//! Processes and processors of the slow simulator: their remaining and pending work.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::system::{Does, Op};

/// What a run comes to.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub counts: BTreeMap<String, u64>,
    pub cycles: u64,
    pub bus_busy: u64,
    /// For each processor: cycles of operations and of waiting.
    pub processors: Vec<(u64, u64)>,
    pub switches: u64,
    pub migrations: u64,
    pub forced: u64,
}

/// A process: its remaining steps, and whether it has fetched instructions.
pub(super) struct Process {
    pub(super) does: VecDeque<Does>,
    /// All its steps.
    pub(super) all: Vec<Does>,
    pub(super) fetches: bool,
    pub(super) ended: bool,
}

impl Process {
    pub(super) fn new(all: Vec<Does>) -> Self {
        Self { does: all.clone().into(), all, fetches: false, ended: false }
    }

    /// It restarts, if it makes any reference.
    pub(super) fn begins_again(&mut self) -> bool {
        let again = self.references() > 0;
        if again {
            *self = Self::new(std::mem::take(&mut self.all));
        }
        again
    }

    /// The number of references in all its steps.
    pub(super) fn references(&self) -> u64 {
        self.all.iter().filter(|does| matches!(does, Does::Refers(_))).count() as u64
    }
}

/// A reference to one block.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) op: Op,
    pub(super) block: u64,
    pub(super) words: BTreeSet<u64>,
    pub(super) first: bool,
    /// Whether it goes to the instruction cache, if there is one.
    pub(super) beside: bool,
}

impl Part {
    /// The block and which cache it is for.
    pub(super) fn place(&self) -> (u64, bool) {
        (self.block, self.beside)
    }
}

pub(super) struct Load {
    pub(super) id: u64,
    pub(super) part: Part,
    pub(super) instruction: u64,
    /// The cycle in which it began.
    pub(super) began: u64,
    pub(super) happened: bool,
    pub(super) with_store: bool,
    pub(super) followers: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum What {
    Load(u64),
    Store,
    Wait,
}

#[derive(Default)]
pub(super) struct Cpu {
    pub(super) process: Option<usize>,
    /// References left of the time slice.
    pub(super) left: u64,
    /// The rest of its current reference.
    pub(super) parts: VecDeque<Part>,
    /// When it checks next: `None` without a process, the maximum until an event ends its wait.
    pub(super) looks_at: Option<u64>,
    /// The end of its operation.
    pub(super) operates: u64,
    pub(super) instructions: u64,
    pub(super) loads: Vec<Load>,
    pub(super) stores: VecDeque<Part>,
    pub(super) store_asked: bool,
    pub(super) store_happened: bool,
    pub(super) waits: Option<Part>,
    pub(super) busy: u64,
    pub(super) delay: u64,
}

impl Cpu {
    pub(super) fn is_quiet(&self) -> bool {
        self.loads.is_empty() && self.stores.is_empty() && self.waits.is_none()
    }

    /// Whether a load from the block is in flight or a store to it in the buffer.
    pub(super) fn is_busy_with(&self, part: &Part) -> bool {
        let loads = self.loads.iter().map(|load| load.part.place());
        loads.chain(self.stores.iter().map(Part::place)).any(|place| place == part.place())
    }

    /// Whether the instruction is beyond the window in this cycle: the window holds a number of
    /// instructions, and with an issue width as many cycles as it takes to issue them.
    pub(super) fn is_beyond(
        &self,
        number: u64,
        cycle: u64,
        window: u64,
        width: Option<u64>,
    ) -> bool {
        self.loads.iter().any(|load| {
            let late = width.is_some_and(|width| (cycle - load.began) * width >= window);
            late || number - load.instruction >= window
        })
    }

    /// The effects of a transaction: its own reference first, then those that waited for it.
    pub(super) fn transacts(&mut self, what: What) -> Vec<Part> {
        let mut parts = Vec::new();
        let take = |load: &mut Load, parts: &mut Vec<Part>| {
            load.happened = true;
            parts.push(load.part.clone());
            parts.append(&mut load.followers);
        };
        match what {
            What::Load(id) => {
                take(self.loads.iter_mut().find(|load| load.id == id).unwrap(), &mut parts);
            }
            What::Wait => parts.push(self.waits.clone().unwrap()),
            What::Store => {
                let store = self.stores[0].clone();
                self.store_happened = true;
                let riders = self.loads.iter_mut().filter(|load| {
                    load.with_store && !load.happened && load.part.place() == store.place()
                });
                parts.push(store.clone());
                riders.for_each(|load| take(load, &mut parts));
            }
        }
        parts
    }

    pub(super) fn own_fetch(&self, part: &Part) -> bool {
        self.loads.iter().any(|load| !load.with_store && load.part.place() == part.place())
    }
}
