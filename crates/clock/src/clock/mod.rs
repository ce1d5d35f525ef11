//! The clock: processors, processes and their synchronisation over a memory system, in cycles.
//!
//! Each cycle has four steps: ready processes are dispatched to idle processors; events of the
//! queue are processed, such as arrivals of data; processors issue, lowest number first; the memory
//! system serves requests. Cycles in which nothing can happen are skipped.

mod issue;
mod live;
mod processes;
mod restart;
mod roll_back;
mod run_ahead;
mod synchronise;

pub use live::LiveClock;

use homenode_base::ReferenceFilter;
use homenode_machine::{CachedMachine, KernelModel, ProcessorModel, SchedulerModel};
use homenode_trace::ProcessorAreas;

use crate::processor::{ClockEvent, MemorySystem, Port, Requester, Requesters};
use crate::processor::{ClockedProcessor, Mode, WindowSize};
use crate::queue::EventQueue;
use crate::run_queue::RunQueue;
use crate::streams::{ModelledKernel, PendingOperations, SimulatedAreas, ThreadStreams};
use crate::sync::SyncObjects;
use crate::time::{ClockTime, ProcessorTime};
use crate::wakeup::{NEVER, WakeupTable};
use live::Alarms;
use restart::OwedShares;

/// Most misses in flight in one processor: [`Port::Mshr`] holds the register's number in 8 bits.
const MISSES_MAX: u32 = 255;

/// The configuration of a simulation, apart from its memory system and streams.
#[derive(Clone, Copy, Debug)]
pub struct ClockSetup {
    /// The model of every processor.
    pub processor: ProcessorModel,
    /// How processes are dispatched to processors.
    pub scheduler: SchedulerModel,
    /// Seed of the scheduler's random choices.
    pub seed: u64,
    /// Processes, numbered from 0.
    pub processes: usize,
}

impl ClockSetup {
    /// The processors and the scheduler of a machine, with one seed for all.
    #[must_use]
    pub const fn of(machine: &CachedMachine, processes: usize) -> Self {
        let (processor, scheduler) = (machine.processor, machine.scheduler);
        Self { processor, scheduler, seed: 1, processes }
    }
}

/// A simulation of processors and their processes over a memory system.
pub struct Clock<M: MemorySystem> {
    memory: M,
    block_shift: u32,
    /// Bytes in a block, less 1.
    offset_mask: u64,
    processor: ProcessorModel,
    window: WindowSize,
    scheduler: SchedulerModel,
    now: u64,
    wakeups: WakeupTable,
    processors: Vec<ClockedProcessor<M>>,
    queue: EventQueue<ClockEvent<M::Event>>,
    run_queue: RunQueue,
    sync: SyncObjects,
    streams: Vec<PendingOperations>,
    /// Whether a process fetches instructions; if not, each of its references counts as one.
    fetches: Vec<bool>,
    /// References that each process has begun; empty if nothing depends on them.
    begun: Vec<u64>,
    blocked: Vec<bool>,
    unfinished: usize,
    /// What is left to do if processes restart; if they do not, the run lasts until all have ended.
    shares: Option<OwedShares>,
    /// When the run ended before its processes did.
    over_at: Option<u64>,
    /// The kernel's data area of each processor.
    areas: SimulatedAreas,
    /// Generates the kernel's references at context switches, if the kernel is modelled.
    kernel: Option<ModelledKernel>,
    /// Processors whose hits were rolled back in the memory system and not yet here.
    rolled_back: Vec<usize>,
    /// The next cycle in which ready processes are dispatched.
    dispatch_at: u64,
    /// The processor that is to issue next, in a cycle that was interrupted.
    cursor: Option<usize>,
    deadlocks_broken: u64,
    /// Whether times and counts restart at the end of initialisation.
    awaits_init_done: bool,
    /// The cycle in which times and counts began.
    measured_from: u64,
    /// Whether the processes are those of a live program, which may end waits by itself.
    live: bool,
    alarms: Alarms,
}

impl<M: MemorySystem> Clock<M> {
    /// Processors over a memory system with nothing in flight, at cycle 0; all processes are ready.
    #[must_use]
    pub fn new(memory: M, processors: usize, setup: &ClockSetup) -> Self {
        let (mut processor, mut scheduler) = (setup.processor, setup.scheduler);
        processor.blocking |= processor.misses_max == 0;
        processor.misses_max = processor.misses_max.min(MISSES_MAX);
        scheduler.time_slice_references = scheduler.time_slice_references.max(1);
        let processes = setup.processes;
        let block_shift = memory.block_shift();
        Self {
            memory,
            block_shift,
            offset_mask: (1 << block_shift) - 1,
            window: WindowSize::of(&processor),
            processor,
            scheduler,
            now: 0,
            wakeups: WakeupTable::new(processors),
            processors: (0..processors).map(|_| ClockedProcessor::new()).collect(),
            queue: EventQueue::default(),
            run_queue: RunQueue::new(
                &scheduler,
                processor.operation_cycles,
                setup.seed,
                processes,
                processors,
            ),
            sync: SyncObjects::new(processes),
            streams: (0..processes).map(|_| restart::operations(&scheduler)).collect(),
            fetches: vec![false; processes],
            begun: vec![0; if restart::counts_begun(&scheduler) { processes } else { 0 }],
            blocked: vec![false; processes],
            unfinished: processes,
            shares: None,
            over_at: None,
            areas: SimulatedAreas::default(),
            kernel: None,
            rolled_back: Vec::new(),
            dispatch_at: 0,
            cursor: None,
            deadlocks_broken: 0,
            awaits_init_done: false,
            measured_from: 0,
            live: false,
            alarms: Alarms::default(),
        }
    }

    /// Sets the kernel's data area of each processor; see
    /// [`crate::streams::StreamSplitter::with_areas`].
    pub fn set_areas(&mut self, areas: &ProcessorAreas) {
        self.areas = SimulatedAreas::new(areas, self.processors.len());
    }

    /// Adds the references of a modelled kernel at context switches; see
    /// [`crate::streams::StreamSplitter::with_kernel`].
    pub fn set_kernel(&mut self, model: &KernelModel, filter: ReferenceFilter) {
        self.kernel = Some(ModelledKernel::new(*model, filter, 0));
    }

    /// Starts times and counts at the end of initialisation instead of in cycle 0.
    pub fn measure_from_init_done(&mut self) {
        self.awaits_init_done = true;
    }

    /// Adds operations of some processes, and simulates until the next operation of a running
    /// process is unknown ([`Self::awaited`]). The division into portions does not change the
    /// result. If processes restart, operations are only stored: the length of the run depends on
    /// all of them.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn push(&mut self, added: &ThreadStreams) -> Result<(), M::Error> {
        for (process, operations) in &added.operations {
            self.streams[*process].add(operations.clone());
        }
        for &process in &added.closed {
            self.streams[process].close();
        }
        if self.scheduler.restart { Ok(()) } else { self.run() }
    }

    /// The process whose next operation the simulation needs; `None` if all processes have ended. A
    /// live front end runs that process up to its next operation.
    #[must_use]
    pub fn awaited(&self) -> Option<usize> {
        self.cursor.map(|at| self.processors[at].process)
    }

    /// Simulates the rest, given that no further operations come.
    ///
    /// # Errors
    /// What the memory system returns.
    pub fn finish(mut self) -> Result<(M, ClockTime), M::Error> {
        if self.live {
            self.end_live();
        }
        self.streams.iter_mut().for_each(PendingOperations::close);
        if self.scheduler.restart {
            self.set_shares();
        }
        self.run()?;
        let time = self.time();
        Ok((self.memory, time))
    }

    /// Simulates until the run is over or an operation is needed that is not known.
    fn run(&mut self) -> Result<(), M::Error> {
        while !self.is_over() || !self.queue.is_empty() {
            if self.cursor.take().is_none() && !self.begin_cycle()? {
                return Ok(());
            }
            if !self.issue_all()? {
                return Ok(());
            }
            let (memory, mut requesters) = self.split();
            memory.advance(&mut requesters)?;
            self.resume_earlier();
        }
        Ok(())
    }

    /// Lets the remaining processors of this cycle issue. Returns whether the operations of all of
    /// them are known.
    #[inline]
    fn issue_all(&mut self) -> Result<bool, M::Error> {
        let (horizon, most) = (self.horizon(), self.hits_ahead());
        while let Some(at) = self.wakeups.next_turn() {
            let mut missed = self.run_ahead(at, horizon, most);
            while self.wakeups.time(at) == self.now {
                if !self.issue(at, std::mem::take(&mut missed))? {
                    self.wakeups.put_back(at);
                    self.cursor = Some(at);
                    return Ok(false);
                }
            }
            self.wakeups.end_turn(at);
        }
        Ok(true)
    }

    /// Advances to the next cycle with work and performs its steps before issue. Returns false if
    /// there is none, which only a live program can resolve.
    fn begin_cycle(&mut self) -> Result<bool, M::Error> {
        let mut time = self.wakeups.earliest();
        if let Some(at) = self.queue.next_time() {
            time = time.min(at);
        }
        if let Some(at) = self.memory.next_advance(self.now) {
            time = time.min(at);
        }
        time = time.min(self.dispatch_at);
        if time == NEVER {
            if self.live {
                return Ok(false);
            }
            self.break_deadlock();
            time = self.dispatch_at;
            assert!(time != NEVER, "the memory system lost a message: no process can go on");
        }
        self.now = time;
        // Before the events: a process that they wake runs in the next cycle.
        if self.dispatch_at == self.now {
            self.dispatch_at = NEVER;
            if self.live {
                self.expire_alarms();
            }
            self.dispatch();
        }
        while let Some(event) = self.queue.pop_at(self.now) {
            self.event(event)?;
        }
        // No processor wakes another while processors issue: that takes a cycle.
        self.wakeups.begin_round(self.now);
        Ok(true)
    }

    /// The first cycle in which the states of copies may change; until then, processors may run
    /// ahead of each other.
    fn horizon(&mut self) -> u64 {
        let undisturbed = self.memory.undisturbed_until(self.now);
        let horizon = self.queue.next_time().map_or(undisturbed, |at| at.min(undisturbed));
        if self.scheduler.restart { self.before_the_end(horizon) } else { horizon }
    }

    /// Processes an event of this cycle.
    fn event(&mut self, event: ClockEvent<M::Event>) -> Result<(), M::Error> {
        match event {
            ClockEvent::Memory(event) => {
                let (memory, mut requesters) = self.split();
                memory.event(event, &mut requesters)
            }
            ClockEvent::Complete(requester) => self.complete(requester),
            ClockEvent::Resume(at) => {
                self.end_wait(usize::from(at), 0);
                Ok(())
            }
            ClockEvent::Effect(at) => {
                self.take_effect(usize::from(at));
                Ok(())
            }
            ClockEvent::Posted(request) => {
                self.take_posted_effect(&request);
                Ok(())
            }
            ClockEvent::Ready(process) => {
                self.wake(usize::from(process));
                Ok(())
            }
        }
    }

    /// Completes the request of a port.
    fn complete(&mut self, requester: Requester) -> Result<(), M::Error> {
        let at = requester.processor();
        let processor = &mut self.processors[at];
        if processor.mode == Mode::Stalls || requester.port == Port::Blocking {
            let cause = processor.waits_for(requester);
            self.memory.waited(self.now, cause, self.now - processor.since);
        }
        match requester.port {
            Port::Mshr(number) => processor.end_load(usize::from(number)),
            Port::StoreBuffer => processor.end_store(),
            Port::Blocking => {
                processor.blocking = None;
                self.end_wait(at, self.processor.operation_cycles);
            }
        }
        self.processors[at].update_window(&self.window);
        // Most loads complete while no store waits.
        if !self.processors[at].stores.is_empty() {
            self.drain_stores(at)?;
        }
        let processor = &mut self.processors[at];
        if processor.mode == Mode::Stalls {
            processor.mode = Mode::Runs;
            processor.end_stall(self.now);
            self.wakeups.wake(at, self.now);
        }
        Ok(())
    }

    /// Ends a processor's wait; it issues again after `cycles`.
    fn end_wait(&mut self, at: usize, cycles: u64) {
        let processor = &mut self.processors[at];
        processor.mode = Mode::Runs;
        processor.end_stall(self.now);
        self.wakeups.wake(at, self.now + cycles);
    }

    /// Splits the borrow into the memory system and its view of the processors.
    #[inline]
    fn split(&mut self) -> (&mut M, Requesters<'_, M>) {
        let Self { memory, now, processors, queue, rolled_back, .. } = self;
        (memory, Requesters { now: *now, processors, queue, rolled_back })
    }

    fn time(&self) -> ClockTime {
        let cycles = self.over_at.unwrap_or(self.now).max(self.memory.at_rest_from());
        let time = |processor: &ClockedProcessor<M>| ProcessorTime {
            busy: processor.busy,
            delay: processor.delay,
            idle: processor.idle + (cycles - processor.since),
        };
        ClockTime {
            cycles: cycles - self.measured_from,
            processors: self.processors.iter().map(time).collect(),
            stalls: self.processors.iter().map(|processor| processor.stalls).collect(),
            switches: self.run_queue.switches(),
            migrations: self.run_queue.migrations(),
            deadlocks_broken: self.deadlocks_broken,
            shares: self.process_shares(),
        }
    }
}
