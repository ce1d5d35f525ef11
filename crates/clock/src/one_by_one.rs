//! One operation after the other: each is over, with all that follows from it, before the next
//! begins. So people can follow what a memory system does about each.

use crate::processor::{
    ClockEvent, ClockedProcessor, MemoryReference, MemorySystem, Port, ReferenceCounts, Requester,
    Requesters, SyncCourse, SyncRequest,
};
use crate::queue::EventQueue;

/// How often an operation is tried. A page that has to be mapped, and an entry of a lookaside
/// buffer, take two tries.
const TRIES_MAX: u32 = 16;

/// A memory system with processors that do nothing by themselves: whoever has it says what is done
/// next ([`crate::Clock`] does what streams say, with many operations under way).
pub struct OneByOne<M: MemorySystem> {
    /// The memory system.
    pub memory: M,
    now: u64,
    processors: Vec<ClockedProcessor<M>>,
    queue: EventQueue<ClockEvent<M::Event>>,
    /// When the processor last went on that had waited.
    went_on: u64,
}

impl<M: MemorySystem> OneByOne<M> {
    /// At cycle 0, with nothing under way.
    #[must_use]
    pub fn new(memory: M, processors: usize) -> Self {
        Self {
            memory,
            now: 0,
            processors: (0..processors).map(|_| ClockedProcessor::new()).collect(),
            queue: EventQueue::default(),
            went_on: 0,
        }
    }

    /// A reference takes place. Returns for how many cycles its processor waited, or nothing if it
    /// cannot take place: the memory system neither does it nor says why.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn refer(&mut self, reference: &MemoryReference) -> Result<Option<u64>, M::Error> {
        let began = self.now;
        for _ in 0..TRIES_MAX {
            if self.memory.try_hit(reference) || self.performs(reference)? {
                let writes = u64::from(reference.kind.writes());
                let counted =
                    ReferenceCounts { references: 1, block_references: 1, kernel: 0, writes };
                self.memory.count(counted);
                let waited = self.went_on.saturating_sub(began);
                return Ok(Some(waited));
            }
        }
        Ok(None)
    }

    /// Does a reference that is no hit. Returns whether it has taken place; else it is tried again.
    fn performs(&mut self, reference: &MemoryReference) -> Result<bool, M::Error> {
        if !self.memory.is_mapped(reference) {
            let (memory, mut requesters) = self.split();
            memory.fault(reference, &mut requesters);
            self.settle()?;
            return Ok(false);
        }
        let access = self.memory.access(reference);
        if !self.memory.needs_request(&access) {
            self.memory.perform(self.now, &access)?;
            return Ok(true);
        }
        self.processors[reference.processor].blocking = Some(access);
        let requester = Requester::new(reference.processor, Port::Blocking);
        let (memory, mut requesters) = self.split();
        memory.request(requester, &access, &mut requesters);
        self.settle()?;
        Ok(self.processors[reference.processor].blocking.take().is_none())
    }

    /// A synchronisation operation takes effect, on memory alone: no process waits for another.
    /// Returns for how many cycles its processor waited, or nothing if it never takes effect.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn synchronise(&mut self, request: &SyncRequest) -> Result<Option<u64>, M::Error> {
        let began = self.now;
        for _ in 0..TRIES_MAX {
            let (memory, mut requesters) = self.split();
            let course = memory.synchronise(request, &mut requesters);
            self.settle()?;
            if course != SyncCourse::Later {
                return Ok(Some(self.went_on.saturating_sub(began)));
            }
        }
        Ok(None)
    }

    /// Goes on until nothing is under way, and nobody busy.
    fn settle(&mut self) -> Result<(), M::Error> {
        while let Some(time) = self.queue.next_time() {
            self.now = time;
            while let Some(event) = self.queue.pop_at(time) {
                self.event(event)?;
            }
        }
        self.now = self.now.max(self.memory.at_rest_from());
        Ok(())
    }

    fn event(&mut self, event: ClockEvent<M::Event>) -> Result<(), M::Error> {
        match event {
            ClockEvent::Memory(event) => {
                let (memory, mut requesters) = self.split();
                memory.event(event, &mut requesters)?;
            }
            ClockEvent::Complete(requester) => {
                self.processors[requester.processor()].blocking = None;
                self.went_on = self.now;
            }
            ClockEvent::Resume(_) | ClockEvent::Effect(_) => self.went_on = self.now,
            // There are no processes.
            ClockEvent::Posted(_) | ClockEvent::Ready(_) => {}
        }
        Ok(())
    }

    fn split(&mut self) -> (&mut M, Requesters<'_, M>) {
        let Self { memory, now, processors, queue, .. } = self;
        (memory, Requesters { now: *now, processors, queue })
    }
}
