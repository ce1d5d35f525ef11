//! The order in which things happen.

use std::sync::Arc;

use homenode_base::{Flags, ReferenceFilter};
use homenode_cache::{BlockAccess, CacheArrays, WordMask};
use homenode_clock::run_queue::RunQueue;
use homenode_clock::streams::{ModelledKernel, PendingOperations, SimulatedAreas, ThreadStreams};
use homenode_clock::sync::SyncObjects;
use homenode_machine::KernelModel;
use homenode_trace::ProcessorAreas;

use super::agenda::Agenda;
use super::arbiter::{Arbiter, Prices};
use super::moments::Moments;
use super::processor::{Mode, NEVER, Processor};
use super::timing::{ProcessorTime, Timing};
use super::{ClockError, ClockSetup, Simulation};
use crate::counts::Counts;
use crate::driver::{CheckError, ProtocolDriver};
use crate::setup::{Setup, SetupError};
use crate::table::Table;

/// More misses under way than any bus could serve in time.
const MISSES_MAX: u32 = 255;

/// One simulation.
pub(super) struct Run<F, W> {
    pub(super) bus: ProtocolDriver<F, W>,
    pub(super) shift: u32,
    /// Bytes in a block, less 1.
    pub(super) offset_mask: u64,
    pub(super) private_kernel: bool,
    /// From the number of a processor's cache to that of its instruction cache.
    pub(super) instructions: usize,
    pub(super) timed: ClockSetup,
    pub(super) prices: Prices,
    pub(super) now: u64,
    pub(super) agenda: Agenda,
    pub(super) processors: Vec<Processor<W>>,
    pub(super) moments: Moments,
    pub(super) arbiter: Arbiter,
    pub(super) run_queue: RunQueue,
    pub(super) sync: SyncObjects,
    pub(super) streams: Vec<PendingOperations>,
    /// Whether a process fetches instructions: if not, each of its references is one.
    pub(super) fetches: Vec<bool>,
    pub(super) blocked: Vec<bool>,
    pub(super) unfinished: usize,
    /// Where the kernel has what belongs to each processor.
    pub(super) areas: SimulatedAreas,
    /// What a kernel does when a processor takes a process, if that is made up.
    kernel: Option<ModelledKernel>,
    filter: ReferenceFilter,
    /// When the scheduler is asked next.
    pub(super) dispatch_at: u64,
    /// The processor whose turn it is to look, in a cycle that is not over.
    cursor: Option<usize>,
    forced: u64,
}

impl<F: CacheArrays<W>, W: WordMask> Run<F, W> {
    pub(super) fn new(setup: &Setup, table: Table, timed: &ClockSetup) -> Result<Self, SetupError> {
        let (block, _) = setup.geometry()?;
        let (count, processes) = (usize::from(setup.processors), timed.processes);
        let policy = (timed.scheduler.policy, timed.scheduler.aging);
        let mut timed = *timed;
        timed.processor.blocking |= timed.processor.misses_max == 0;
        timed.processor.misses_max = timed.processor.misses_max.min(MISSES_MAX);
        let slice = &mut timed.scheduler.time_slice_references;
        *slice = (*slice).max(1);
        Ok(Self {
            bus: ProtocolDriver::new(setup, table)?,
            shift: block.bytes().trailing_zeros(),
            offset_mask: block.bytes() - 1,
            private_kernel: setup.private_kernel,
            instructions: setup.instruction_caches(),
            timed,
            prices: Prices::new(timed.cycles, &timed.bus)?,
            now: 0,
            agenda: Agenda::new(count),
            processors: (0..count).map(|_| Processor::new()).collect(),
            moments: Moments::default(),
            arbiter: Arbiter::new(timed.bus.arbitration, count),
            run_queue: RunQueue::new(policy, timed.seed, (processes, count)),
            sync: SyncObjects::new(processes),
            streams: (0..processes).map(|_| PendingOperations::default()).collect(),
            fetches: vec![false; processes],
            blocked: vec![false; processes],
            unfinished: processes,
            areas: SimulatedAreas::default(),
            kernel: None,
            filter: setup.filter,
            dispatch_at: 0,
            cursor: None,
            forced: 0,
        })
    }

    /// Goes on until everything is done or a step is needed that is not known.
    fn run(&mut self) -> Result<(), ClockError> {
        while self.unfinished > 0 || !self.moments.is_empty() {
            let from = match self.cursor.take() {
                Some(at) => at,
                None => {
                    self.begin_cycle()?;
                    0
                }
            };
            let horizon = self.horizon();
            // Nobody wakes another processor in the cycle in which it looks.
            for at in self.agenda.awake(from) {
                let mut loud = self.agenda.next(at) == self.now && self.hurry(at, horizon);
                while self.agenda.next(at) == self.now {
                    if !self.look(at, std::mem::take(&mut loud))? {
                        self.cursor = Some(at);
                        return Ok(());
                    }
                }
            }
            while let Some(ask) = self.arbiter.grant(self.now) {
                self.serve(ask)?;
            }
        }
        Ok(())
    }

    /// The next cycle in which something can happen, up to where processors look.
    fn begin_cycle(&mut self) -> Result<(), ClockError> {
        let mut time = self.agenda.earliest();
        if let Some(at) = self.moments.next() {
            time = time.min(at);
        }
        if let Some(at) = self.arbiter.next_grant(self.now) {
            time = time.min(at);
        }
        time = time.min(self.dispatch_at);
        if time == NEVER {
            self.force();
            time = self.dispatch_at;
        }
        self.now = time;
        // Before anybody whose wait is over now becomes ready: that one runs in the next cycle.
        if self.dispatch_at == self.now {
            self.dispatch_at = NEVER;
            self.dispatch();
        }
        while let Some((who, moment)) = self.moments.take(self.now) {
            self.happen(who, moment)?;
        }
        Ok(())
    }

    /// Nobody can go on: processes wait for each other, as they did not when they were traced.
    fn force(&mut self) {
        if let Some(process) = self.blocked.iter().position(|&blocked| blocked) {
            self.sync.break_deadlock(process);
            self.forced += 1;
            self.wake(process);
        }
    }

    /// A process is ready; it comes to a processor in the next cycle at the earliest.
    pub(super) fn wake(&mut self, process: usize) {
        self.blocked[process] = false;
        self.run_queue.add(process);
        self.dispatch_at = self.now + 1;
    }

    /// Ready processes come to idle processors.
    fn dispatch(&mut self) {
        if self.run_queue.is_empty() {
            return;
        }
        let idle: Vec<usize> =
            (0..self.processors.len()).filter(|&p| self.processors[p].mode == Mode::Idle).collect();
        for (at, process) in self.run_queue.assign(&idle) {
            let processor = &mut self.processors[at];
            processor.idle += self.now - processor.since;
            (processor.mode, processor.process) = (Mode::Runs, process);
            processor.left = self.timed.scheduler.time_slice_references;
            if let Some(kernel) = &self.kernel {
                let made = kernel.switch(process);
                // The switch is no part of the process's slice.
                processor.left = processor.left.saturating_add(made.len() as u64);
                self.streams[process].insert(made);
            }
            self.agenda.wake(at, self.now);
        }
    }

    /// Does a reference in the caches.
    pub(super) fn perform(&mut self, piece: &BlockAccess<W>) -> Result<(), ClockError> {
        let set = self.bus.caches.frames.set_of(piece.cache, piece.block);
        let guess = self.bus.caches.frames.guess(set, piece.block);
        if self.bus.uncontended(piece, (set, guess)) {
            return Ok(());
        }
        let (cycle, base) = (self.now, piece.block << self.shift);
        let count = u16::try_from(self.processors.len()).unwrap_or(u16::MAX);
        self.bus.access(piece, set).map_err(|error| match error {
            CheckError::Stale { processor: cache, address, .. } => {
                ClockError::Stale { cycle, processor: cache % count, address: base + address }
            }
            CheckError::Impossible { processor: cache, what, .. } => {
                ClockError::Impossible { cycle, processor: cache % count, address: base, what }
            }
        })
    }

    /// The processor that has a cache.
    #[inline]
    pub(super) fn owner(&self, cache: usize) -> usize {
        // There are at most two a processor.
        cache - if cache < self.processors.len() { 0 } else { self.processors.len() }
    }

    /// Whether a reference is to a private area.
    pub(super) fn is_private(&self, flags: Flags) -> bool {
        flags.contains(Flags::PRIVATE) && (self.private_kernel || !flags.contains(Flags::KERNEL))
    }

    fn timing(&self) -> Timing {
        let cycles = self.now.max(self.arbiter.free_at);
        let time = |processor: &Processor<W>| ProcessorTime {
            busy: processor.busy,
            delay: processor.delay,
            idle: processor.idle + (cycles - processor.since),
        };
        Timing {
            cycles,
            bus_busy: self.arbiter.busy,
            processors: self.processors.iter().map(time).collect(),
            switches: self.run_queue.switches(),
            migrations: self.run_queue.migrations(),
            forced: self.forced,
        }
    }
}

impl<F: CacheArrays<W>, W: WordMask> Simulation for Run<F, W> {
    fn place(&mut self, areas: &ProcessorAreas) {
        self.areas = SimulatedAreas::new(areas, self.processors.len());
    }

    fn model(&mut self, model: &KernelModel) {
        self.kernel = Some(ModelledKernel::new(*model, self.filter, 0));
    }

    fn push(&mut self, added: &ThreadStreams) -> Result<(), ClockError> {
        for (process, operations) in &added.operations {
            self.streams[*process].add(Arc::clone(operations));
        }
        for &process in &added.closed {
            self.streams[process].close();
        }
        self.run()
    }

    fn finish(mut self: Box<Self>) -> Result<(Counts, Timing), ClockError> {
        self.streams.iter_mut().for_each(PendingOperations::close);
        self.run()?;
        Ok((self.bus.finish(), self.timing()))
    }
}
