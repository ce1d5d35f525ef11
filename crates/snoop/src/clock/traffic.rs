//! What comes over the bus, and who goes on then.

use homenode_cache::{BlockAccess, CacheArrays, WordMask};

use super::ClockError;
use super::arbiter::{Ask, Port};
use super::moments::Moment;
use super::processor::Mode;
use super::run::Run;
use crate::counts::Transactions;

impl<F: CacheArrays<W>, W: WordMask> Run<F, W> {
    /// Somebody gets the bus.
    pub(super) fn serve(&mut self, ask: Ask) -> Result<(), ClockError> {
        let Ask { processor: at, port, block, answer } = ask;
        if let Some(cycles) = answer {
            self.arbiter.hold(self.now, cycles);
            self.moments.push(self.now + cycles, at, Moment::Done(port));
            return Ok(());
        }
        let before = self.bus.transactions;
        match port {
            Port::Load(slot) => self.perform_load(at, usize::from(slot))?,
            Port::Store => {
                if let Some(store) = self.processors[at].stores.front().copied() {
                    self.processors[at].head_performed = true;
                    self.perform(&store)?;
                    self.perform_riders(at, store.block)?;
                }
            }
            Port::Wait => {
                if let Some(piece) = self.processors[at].waiting {
                    self.perform(&piece)?;
                }
            }
        }
        let bill = self.prices.bill(&self.bus.transactions.since(&before));
        self.arbiter.hold(self.now, bill.hold);
        // What turns out to need no transaction is over in the next cycle.
        let (cycles, moment) = match bill.answer {
            Some((due, cycles)) => {
                self.arbiter.expect(block);
                (due, Moment::Due(port, block, cycles))
            }
            None => (bill.ready.max(1), Moment::Done(port)),
        };
        self.moments.push(self.now + cycles, at, moment);
        Ok(())
    }

    /// A load takes place, and those that joined it.
    fn perform_load(&mut self, at: usize, number: usize) -> Result<(), ClockError> {
        let slot = &mut self.processors[at].slots[number];
        slot.performed = true;
        let (load, mut joined) = (slot.load, std::mem::take(&mut slot.joined));
        self.perform(&load)?;
        joined.iter().try_for_each(|load| self.perform(load))?;
        // The list is used again.
        joined.clear();
        self.processors[at].slots[number].joined = joined;
        Ok(())
    }

    /// Loads that came with a store to their block take place.
    fn perform_riders(&mut self, at: usize, block: u64) -> Result<(), ClockError> {
        if self.processors[at].riders == 0 {
            return Ok(());
        }
        for slot in 0..self.processors[at].slots.len() {
            let s = &self.processors[at].slots[slot];
            if s.live && s.rides && !s.performed && s.load.block == block {
                self.perform_load(at, slot)?;
            }
        }
        Ok(())
    }

    /// Something that was to happen now.
    pub(super) fn happen(&mut self, who: usize, moment: Moment) -> Result<(), ClockError> {
        match moment {
            Moment::Due(port, block, cycles) => {
                self.arbiter.ask(Ask { processor: who, port, block, answer: Some(cycles) });
                return Ok(());
            }
            Moment::Ready => {
                self.wake(who);
                return Ok(());
            }
            Moment::Done(Port::Load(slot)) => {
                self.processors[who].end_load(usize::from(slot));
            }
            Moment::Done(Port::Store) => {
                let processor = &mut self.processors[who];
                processor.stores.pop_front();
                (processor.head_asked, processor.head_performed) = (false, false);
                processor.end_riders();
            }
            Moment::Done(Port::Wait) => {
                let processor = &mut self.processors[who];
                processor.waiting = None;
                processor.mode = Mode::Runs;
                processor.delay += self.now - processor.since;
                let operation = self.timed.processor.operation_cycles;
                self.agenda.wake(who, self.now + operation);
            }
        }
        let window = u64::from(self.timed.processor.window_instructions);
        self.processors[who].set_limit(window);
        self.drain_stores(who)?;
        let processor = &mut self.processors[who];
        if processor.mode == Mode::Stalls {
            processor.mode = Mode::Runs;
            processor.delay += self.now - processor.since;
            self.agenda.wake(who, self.now);
        }
        Ok(())
    }

    /// Stores take place in their order, up to one that needs the bus.
    pub(super) fn drain_stores(&mut self, at: usize) -> Result<(), ClockError> {
        while let Some(&head) = self.processors[at].stores.front()
            && !self.processors[at].head_asked
            && !self.processors[at].fetches(&head)
        {
            if self.asks_for(&head) {
                break;
            }
            self.perform(&head)?;
            self.perform_riders(at, head.block)?;
            let processor = &mut self.processors[at];
            processor.stores.pop_front();
            processor.end_riders();
        }
        Ok(())
    }

    /// Asks for the bus for the store at the head, if that needs it.
    fn asks_for(&mut self, head: &BlockAccess<W>) -> bool {
        let asks = self.bus.needs_transaction(head);
        if asks {
            let at = self.owner(head.cache);
            self.processors[at].head_asked = true;
            let (port, block) = (Port::Store, head.block);
            self.arbiter.ask(Ask { processor: at, port, block, answer: None });
        }
        asks
    }
}

impl Transactions {
    /// Those made since.
    fn since(&self, before: &Self) -> Self {
        Self {
            read_block_memory: self.read_block_memory - before.read_block_memory,
            read_block_cache: self.read_block_cache - before.read_block_cache,
            read_invalidate_memory: self.read_invalidate_memory - before.read_invalidate_memory,
            read_invalidate_cache: self.read_invalidate_cache - before.read_invalidate_cache,
            invalidate: self.invalidate - before.invalidate,
            write: self.write - before.write,
            update_block: self.update_block - before.update_block,
        }
    }
}
