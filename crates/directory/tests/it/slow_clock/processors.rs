//! Processors: one load in flight at a time, and a store buffer.

use std::collections::VecDeque;

use homenode_clock::streams::{OpKind, Operation};

use super::{Access, SlowClock, Waiter};

/// A load in flight.
#[derive(Clone, Copy, Debug)]
struct SlowLoad {
    block: u64,
    /// Whether it waits for a store to the same block, and takes place with that store.
    behind_store: bool,
    took_place: bool,
}

#[derive(Debug, Default)]
pub(super) struct SlowProcessor {
    steps: VecDeque<Operation>,
    pub(super) has_process: bool,
    /// When its process begins.
    pub(super) begins: u64,
    /// When it checks its next step.
    pub(super) looks_at: Option<u64>,
    /// Whether it checks again when a requested block arrives.
    stalls: bool,
    pub(super) operates_until: u64,
    gap_done: bool,
    load: Option<SlowLoad>,
    stores: VecDeque<Access>,
    store_asked: bool,
    store_took_place: bool,
    waits: Option<Access>,
    /// Whether it waits until it has no pending request.
    pub(super) releases: bool,
    pub(super) busy: u64,
    pub(super) delay: u64,
    pub(super) idle: u64,
}

impl SlowProcessor {
    pub(super) fn new(steps: impl Iterator<Item = Operation>) -> Self {
        Self { steps: steps.collect(), has_process: true, looks_at: Some(0), ..Self::default() }
    }

    fn is_quiet(&self) -> bool {
        self.load.is_none() && self.stores.is_empty() && self.waits.is_none()
    }

    pub(super) fn next_step(&mut self) {
        self.steps.pop_front();
    }

    fn operate(&mut self, now: u64, cycles: u64) {
        self.busy += cycles;
        self.operates_until = now + cycles;
        self.looks_at = Some(now + cycles);
    }

    /// The process leaves.
    pub(super) fn leave(&mut self) {
        (self.has_process, self.looks_at) = (false, None);
    }

    fn stall(&mut self) {
        (self.stalls, self.looks_at) = (true, None);
    }

    /// The store at the head of the buffer is over.
    fn end_store(&mut self) {
        self.stores.pop_front();
        (self.store_asked, self.store_took_place) = (false, false);
        if self.load.is_some_and(|load| load.behind_store && load.took_place) {
            self.load = None;
        }
    }
}

impl SlowClock {
    pub(super) fn look(&mut self, node: usize) {
        let processor = &mut self.processors[node];
        let Some(step) = processor.steps.front().copied() else {
            if processor.is_quiet() {
                processor.leave();
            } else {
                processor.stall();
            }
            return;
        };
        if !step.kind.is_reference() {
            if processor.is_quiet() {
                self.synchronise(node, step);
            } else {
                processor.stall();
            }
            return;
        }
        // The next instruction waits for reads.
        if processor.load.is_some() {
            processor.stall();
            return;
        }
        let gap = u64::from(step.count) * self.machine.instruction;
        if gap > 0 && !processor.gap_done {
            processor.gap_done = true;
            processor.operate(self.now, gap);
            return;
        }
        if step.kind == OpKind::Atomic && !processor.is_quiet() {
            processor.stall();
            return;
        }
        let access = Access { block: step.addr / self.machine.block, write: step.kind.writes() };
        if !self.is_mapped(access.block) {
            self.processors[node].looks_at = None;
            self.fault(node, access.block);
            return;
        }
        let begun = if access.write {
            self.store(node, access, step.kind == OpKind::Atomic)
        } else {
            self.load(node, access)
        };
        let (now, operation) = (self.now, self.machine.operation);
        let processor = &mut self.processors[node];
        if !begun {
            processor.stall();
            return;
        }
        processor.gap_done = false;
        processor.next_step();
        if processor.waits.is_none() {
            processor.operate(now, operation);
        }
        self.add("references", 1);
        self.add("writes", u64::from(access.write));
    }

    /// The processor waits for a reference.
    fn wait_for(&mut self, node: usize, access: Access) {
        let processor = &mut self.processors[node];
        (processor.waits, processor.looks_at) = (Some(access), None);
        self.ask(node, Waiter::Processor, access);
    }

    fn load(&mut self, node: usize, access: Access) -> bool {
        if self.permits(node, access) {
            self.touch(node, access.block);
            return true;
        }
        if self.machine.sequential {
            self.wait_for(node, access);
            return true;
        }
        let processor = &mut self.processors[node];
        let behind_store = processor.stores.iter().any(|store| store.block == access.block);
        processor.load = Some(SlowLoad { block: access.block, behind_store, took_place: false });
        if behind_store {
            self.see("a load comes with a store");
        } else {
            self.ask(node, Waiter::Load, access);
        }
        true
    }

    /// Returns whether the store could begin.
    fn store(&mut self, node: usize, access: Access, atomic: bool) -> bool {
        if self.processors[node].stores.is_empty() && self.permits(node, access) {
            self.touch(node, access.block);
            return true;
        }
        let room = self.machine.store_buffer;
        if self.machine.sequential || atomic || room == 0 {
            self.wait_for(node, access);
            return true;
        }
        if self.processors[node].stores.len() >= room {
            self.see("the store buffer is full");
            return false;
        }
        self.processors[node].stores.push_back(access);
        if self.processors[node].stores.len() == 1 {
            self.processors[node].store_asked = true;
            self.ask(node, Waiter::Store, access);
        }
        true
    }

    /// An operation that waited in a processor takes place.
    pub(super) fn takes_place(&mut self, node: usize, block: u64, waiter: Waiter) {
        self.touch(node, block);
        if waiter == Waiter::Store {
            self.processors[node].store_took_place = true;
            self.load_behind_store(node, block);
        }
    }

    /// A load that waits for the store takes place with it.
    fn load_behind_store(&mut self, node: usize, block: u64) {
        if let Some(load) = &mut self.processors[node].load
            && load.behind_store
            && load.block == block
        {
            load.took_place = true;
        }
    }

    /// The block for which an operation in a processor waited has arrived.
    pub(super) fn done(&mut self, node: usize, waiter: Waiter) {
        let (now, operation) = (self.now, self.machine.operation);
        let processor = &mut self.processors[node];
        match waiter {
            Waiter::Load => processor.load = None,
            Waiter::Store => processor.end_store(),
            Waiter::Processor => {
                processor.waits = None;
                processor.operate(now, operation);
            }
        }
        self.drain(node);
        let processor = &mut self.processors[node];
        if std::mem::take(&mut processor.stalls) {
            processor.looks_at = Some(now);
        }
    }

    /// Stores take place in order, up to one that needs a request.
    fn drain(&mut self, node: usize) {
        loop {
            let processor = &self.processors[node];
            let Some(&head) = processor.stores.front() else { return };
            let load = processor.load;
            let own = load.is_some_and(|load| !load.behind_store && load.block == head.block);
            if processor.store_asked || own {
                return;
            }
            if !self.permits(node, head) {
                self.processors[node].store_asked = true;
                self.ask(node, Waiter::Store, head);
                return;
            }
            self.touch(node, head.block);
            self.load_behind_store(node, head.block);
            self.processors[node].end_store();
        }
    }
}
