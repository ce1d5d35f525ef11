//! Drives a memory system one operation at a time: each completes, with everything it causes,
//! before the next begins, so that a reader can follow what the memory system does for each.

use crate::processor::{
    ClockEvent, ClockedProcessor, MemoryReference, MemorySystem, Port, ReferenceCounts, Requester,
    Requesters, SyncCourse, SyncRequest,
};
use crate::queue::EventQueue;

/// Attempts per operation. A page that has to be mapped, or a TLB entry that has to be loaded,
/// takes two.
const TRIES_MAX: u32 = 16;

/// The state of a reference after [`StepDriver::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// It has completed; its processor waited for this many cycles.
    Done(u64),
    /// It is in flight.
    InFlight,
    /// It cannot complete: the memory system neither performs it nor returns an error.
    Stuck,
}

/// A memory system with processors that do nothing by themselves: the caller chooses the next
/// operation. ([`crate::Clock`] runs the streams of a trace, with many operations in flight.)
pub struct StepDriver<M: MemorySystem> {
    /// The memory system.
    pub memory: M,
    now: u64,
    processors: Vec<ClockedProcessor<M>>,
    queue: EventQueue<ClockEvent<M::Event>>,
    /// Always empty: no processor runs ahead.
    rolled_back: Vec<usize>,
    /// When each processor last resumed after a wait.
    resumed_at: Vec<u64>,
}

impl<M: MemorySystem> StepDriver<M> {
    /// At cycle 0, with nothing in flight.
    #[must_use]
    pub fn new(memory: M, processors: usize) -> Self {
        Self {
            memory,
            now: 0,
            processors: (0..processors).map(|_| ClockedProcessor::new()).collect(),
            queue: EventQueue::default(),
            rolled_back: Vec::new(),
            resumed_at: vec![0; processors],
        }
    }

    /// Performs a reference. Returns for how many cycles its processor waited; `None` if the
    /// reference cannot complete ([`StepOutcome::Stuck`]).
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn run_reference(&mut self, reference: &MemoryReference) -> Result<Option<u64>, M::Error> {
        Ok(match self.begin(reference, |_| false)? {
            StepOutcome::Done(waited) => Some(waited),
            StepOutcome::InFlight | StepOutcome::Stuck => None,
        })
    }

    /// Begins a reference, once the previous one of its processor has completed. Runs until the
    /// reference and everything it causes have completed, or until `begun` returns true.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn begin(
        &mut self,
        reference: &MemoryReference,
        begun: impl Fn(&M) -> bool,
    ) -> Result<StepOutcome, M::Error> {
        let processor = reference.processor;
        while self.processors[processor].blocking.is_some() && self.next_event()? {}
        let began = self.now;
        for _ in 0..TRIES_MAX {
            if self.memory.try_hit(reference) || self.try_miss(reference, &begun)? {
                let writes = u64::from(reference.kind.writes());
                let counted =
                    ReferenceCounts { references: 1, block_references: 1, kernel: 0, writes };
                self.memory.count(counted);
                return Ok(if self.processors[processor].blocking.is_some() {
                    StepOutcome::InFlight
                } else {
                    StepOutcome::Done(self.resumed_at[processor].saturating_sub(began))
                });
            }
        }
        Ok(StepOutcome::Stuck)
    }

    /// Issues a reference that is no hit. Returns whether it has been performed or is in flight; if
    /// not, the caller tries again.
    fn try_miss(
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

    /// Performs a synchronisation operation on the memory system alone: no process waits for
    /// another. Returns for how many cycles its processor waited; `None` if it never takes effect.
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
                let resumed_at = self.resumed_at[request.processor];
                return Ok(Some(resumed_at.saturating_sub(began)));
            }
        }
        Ok(None)
    }

    /// Runs until nothing is in flight and the memory system is idle.
    fn settle(&mut self) -> Result<(), M::Error> {
        while self.next_event()? {}
        self.rest();
        Ok(())
    }

    /// Processes the next event. Returns false if there is none.
    fn next_event(&mut self) -> Result<bool, M::Error> {
        let Some(time) = self.queue.next_time() else { return Ok(false) };
        self.now = time;
        if let Some(event) = self.queue.pop_at(time) {
            self.event(event)?;
        }
        Ok(true)
    }

    /// Advances time to when the memory system is idle; nothing is in flight.
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
                self.resumed_at[requester.processor()] = self.now;
            }
            ClockEvent::Resume(at) | ClockEvent::Effect(at) => {
                self.resumed_at[usize::from(at)] = self.now;
            }
            // The step driver has no processes.
            ClockEvent::Posted(_) | ClockEvent::Ready(_) => {}
        }
        Ok(())
    }

    fn split(&mut self) -> (&mut M, Requesters<'_, M>) {
        let Self { memory, now, processors, queue, rolled_back, .. } = self;
        (memory, Requesters { now: *now, processors, queue, rolled_back })
    }
}
