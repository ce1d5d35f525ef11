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

/// What becomes of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceCourse {
    /// It has taken place; its processor waited for so many cycles.
    Over(u64),
    /// It is under way.
    UnderWay,
    /// It cannot take place: the memory system neither does it nor says why.
    Never,
}

/// A memory system with processors that do nothing by themselves: whoever has it says what is done
/// next ([`crate::Clock`] does what streams say, with many operations under way).
pub struct OneByOne<M: MemorySystem> {
    /// The memory system.
    pub memory: M,
    now: u64,
    processors: Vec<ClockedProcessor<M>>,
    queue: EventQueue<ClockEvent<M::Event>>,
    /// When each processor last went on after it had waited.
    went_on: Vec<u64>,
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
            went_on: vec![0; processors],
        }
    }

    /// A reference takes place. Returns for how many cycles its processor waited, or nothing if it
    /// cannot take place: the memory system neither does it nor says why.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn refer(&mut self, reference: &MemoryReference) -> Result<Option<u64>, M::Error> {
        Ok(match self.begin(reference, |_| false)? {
            ReferenceCourse::Over(waited) => Some(waited),
            ReferenceCourse::UnderWay | ReferenceCourse::Never => None,
        })
    }

    /// A reference begins, once what its processor has begun before is over, and goes on until it
    /// is over with all that follows, or until `begun` says that it is under way.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn begin(
        &mut self,
        reference: &MemoryReference,
        begun: impl Fn(&M) -> bool,
    ) -> Result<ReferenceCourse, M::Error> {
        let processor = reference.processor;
        while self.processors[processor].blocking.is_some() && self.next_event()? {}
        let began = self.now;
        for _ in 0..TRIES_MAX {
            if self.memory.try_hit(reference) || self.performs(reference, &begun)? {
                let writes = u64::from(reference.kind.writes());
                let counted =
                    ReferenceCounts { references: 1, block_references: 1, kernel: 0, writes };
                self.memory.count(counted);
                return Ok(if self.processors[processor].blocking.is_some() {
                    ReferenceCourse::UnderWay
                } else {
                    ReferenceCourse::Over(self.went_on[processor].saturating_sub(began))
                });
            }
        }
        Ok(ReferenceCourse::Never)
    }

    /// Does a reference that is no hit. Returns whether it has taken place or is under way; else it
    /// is tried again.
    fn performs(
        &mut self,
        reference: &MemoryReference,
        begun: impl Fn(&M) -> bool,
    ) -> Result<bool, M::Error> {
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
        while !begun(&self.memory) {
            if !self.next_event()? {
                self.rest();
                return Ok(self.processors[reference.processor].blocking.take().is_none());
            }
        }
        Ok(true)
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
                let went_on = self.went_on[request.processor];
                return Ok(Some(went_on.saturating_sub(began)));
            }
        }
        Ok(None)
    }

    /// Goes on until nothing is under way, and nobody busy.
    fn settle(&mut self) -> Result<(), M::Error> {
        while self.next_event()? {}
        self.rest();
        Ok(())
    }

    /// What happens next happens, if anything is under way. Returns whether that is so.
    fn next_event(&mut self) -> Result<bool, M::Error> {
        let Some(time) = self.queue.next_time() else { return Ok(false) };
        self.now = time;
        if let Some(event) = self.queue.pop_at(time) {
            self.event(event)?;
        }
        Ok(true)
    }

    /// Nothing is under way: time goes on until nobody is busy.
    fn rest(&mut self) {
        self.now = self.now.max(self.memory.at_rest_from());
    }

    fn event(&mut self, event: ClockEvent<M::Event>) -> Result<(), M::Error> {
        match event {
            ClockEvent::Memory(event) => {
                let (memory, mut requesters) = self.split();
                memory.event(event, &mut requesters)?;
            }
            ClockEvent::Complete(requester) => {
                self.processors[requester.processor()].blocking = None;
                self.went_on[requester.processor()] = self.now;
            }
            ClockEvent::Resume(at) | ClockEvent::Effect(at) => {
                self.went_on[usize::from(at)] = self.now;
            }
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
