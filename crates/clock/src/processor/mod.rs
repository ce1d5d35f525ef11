//! The processor model of all timed machines: an instruction window, loads in miss status holding
//! registers, a store buffer, and at most one operation that stalls the processor itself.

mod hit_log;
mod memory_system;
mod mshr;

use std::collections::VecDeque;

use homenode_machine::ProcessorModel;

use crate::time::{StallCause, StallTime};
use crate::wakeup::NEVER;
pub(crate) use hit_log::{HITS_MAX, HitLog};
pub(crate) use memory_system::ClockEvent;
pub use memory_system::{
    MemoryReference, MemorySystem, Port, ReferenceCounts, Requester, Requesters, SyncCourse,
    SyncRequest,
};
use mshr::Mshr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It has no process.
    Idle,
    /// It issues its next operation at a known time.
    Runs,
    /// It retries when one of its requests completes.
    Stalls,
    /// It continues when the reference or synchronisation operation that it waits for is done.
    Waits,
}

/// The capacity of an instruction window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowSize {
    instructions: u64,
    /// Cycles to issue all of them; [`NEVER`] if only instructions of the trace are counted.
    cycles: u64,
}

impl WindowSize {
    pub(crate) fn of(processor: &ProcessorModel) -> Self {
        Self {
            instructions: u64::from(processor.window_instructions),
            cycles: processor.window_cycles().unwrap_or(NEVER),
        }
    }
}

pub(crate) struct ClockedProcessor<M: MemorySystem> {
    pub(crate) mode: Mode,
    /// The process that it runs; meaningless while idle.
    pub(crate) process: usize,
    /// References left of the time slice.
    pub(crate) slice_left: u64,
    pub(crate) instructions: u64,
    /// The first instruction that does not fit into the window.
    pub(crate) window_end: u64,
    /// The first cycle in which the window is full.
    pub(crate) window_full_at: u64,
    mshrs: Vec<Mshr<M::Access>>,
    /// How many of them are in use.
    mshrs_in_use: usize,
    /// How many of those wait for a store to the same block.
    behind_stores: usize,
    /// Whether the oldest load may have changed, so that the end of the window must be recomputed.
    window_changed: bool,
    pub(crate) stores: VecDeque<M::Access>,
    /// Whether the store at the head of the buffer has made its request.
    pub(crate) head_requested: bool,
    /// Whether it was performed in the caches; its data may still be in flight.
    head_performed: bool,
    /// Hits that it has performed ahead of the other processors.
    pub(crate) ahead: HitLog<M::Hit>,
    /// The reference that stalls the processor.
    pub(crate) blocking: Option<M::Access>,
    /// Whether the instructions before its next reference are done.
    pub(crate) gap_done: bool,
    /// How many blocks of a reference that straddles some are done.
    pub(crate) blocks_done: u64,
    /// Why it stalls or waits.
    pub(crate) stall: StallCause,
    /// Since when it stalls, waits or is idle.
    pub(crate) since: u64,
    pub(crate) stalls: StallTime,
    pub(crate) busy: u64,
    pub(crate) delay: u64,
    pub(crate) idle: u64,
}

impl<M: MemorySystem> ClockedProcessor<M> {
    pub(crate) fn new() -> Self {
        Self {
            mode: Mode::Idle,
            process: 0,
            slice_left: 0,
            instructions: 0,
            window_end: NEVER,
            window_full_at: NEVER,
            mshrs: Vec::new(),
            mshrs_in_use: 0,
            behind_stores: 0,
            window_changed: false,
            stores: VecDeque::new(),
            head_requested: false,
            head_performed: false,
            ahead: HitLog::new(),
            blocking: None,
            gap_done: false,
            blocks_done: 0,
            stall: StallCause::Read,
            since: 0,
            stalls: StallTime::default(),
            busy: 0,
            delay: 0,
            idle: 0,
        }
    }

    /// Ends a stall, and charges the time since its begin to its cause.
    pub(crate) fn end_stall(&mut self, now: u64) {
        self.lose(now - self.since, self.stall);
    }

    /// Charges stall cycles to a cause.
    #[inline]
    pub(crate) fn lose(&mut self, cycles: u64, cause: StallCause) {
        self.delay += cycles;
        *self.stalls.of(cause) += cycles;
    }

    /// Executes the instructions before the next reference, once. Returns the cycles that they
    /// still take.
    #[inline]
    pub(crate) fn begin_gap(&mut self, cycles: u64) -> u64 {
        if std::mem::replace(&mut self.gap_done, true) { 0 } else { cycles }
    }

    /// Begins the log of the hits that follow the first `safe` references from now on. Returns how
    /// many references the processor may perform now, up to `ahead` of them as logged hits.
    #[inline]
    pub(crate) fn begin_log(&mut self, now: u64, cycles: u64, safe: u64, ahead: usize) -> u64 {
        if !M::ROLLS_BACK || ahead == 0 {
            return safe;
        }
        self.ahead.begin(now + safe * cycles, cycles);
        let until_full = (self.window_full_at - now).div_ceil(cycles);
        until_full.min(safe + self.ahead.limit().min(ahead) as u64)
    }

    /// Performs a reference ahead of its time, if it hits. Returns whether it did.
    #[inline(always)]
    pub(crate) fn log_hit(&mut self, memory: &mut M, reference: &MemoryReference) -> bool {
        let hit = memory.try_logged_hit(reference);
        hit.map(|hit| self.ahead.push::<M>(hit)).is_some()
    }

    /// Whether no load, store or blocking reference is in flight.
    pub(crate) fn is_drained(&self) -> bool {
        self.mshrs_in_use == 0 && self.stores.is_empty() && self.blocking.is_none()
    }

    pub(crate) fn loads_in_flight(&self) -> usize {
        self.mshrs_in_use
    }

    /// The request to which a stalled processor's wait is attributed when the request of
    /// `requester` completes: the blocking reference, the oldest load in flight, or the store if
    /// there is none.
    pub(crate) fn waits_for(&self, requester: Requester) -> Requester {
        if requester.port != Port::StoreBuffer {
            return requester;
        }
        let live = (0u8..).zip(&self.mshrs).filter(|(_, mshr)| mshr.live && !mshr.behind_store);
        match live.min_by_key(|(_, mshr)| mshr.instruction) {
            Some((number, _)) => Requester::new(requester.processor(), Port::Mshr(number)),
            None => requester,
        }
    }

    /// Merges a load with one in flight for the same block that is not yet performed. Returns false
    /// if there is none.
    pub(crate) fn merge_load(&mut self, load: &M::Access) -> bool {
        let pending = self
            .mshrs
            .iter_mut()
            .find(|mshr| mshr.live && !mshr.performed && M::same_block(&mshr.load, load));
        match pending {
            Some(mshr) => {
                mshr.merged.push(*load);
                true
            }
            None => false,
        }
    }

    /// Whether a store to the load's block waits in the buffer and is not yet performed.
    pub(crate) fn has_store(&self, load: &M::Access) -> bool {
        let mut waiting = self.stores.iter().skip(usize::from(self.head_performed));
        waiting.any(|store| M::same_block(store, load))
    }

    /// Whether any load waits for a store to its block.
    pub(crate) fn has_loads_behind_stores(&self) -> bool {
        self.behind_stores > 0
    }

    /// Whether a load of the same block that does not wait for a store is in flight.
    pub(crate) fn fetches(&self, access: &M::Access) -> bool {
        if self.mshrs_in_use == 0 {
            return false;
        }
        let mut live = self.mshrs.iter().filter(|mshr| mshr.live && !mshr.behind_store);
        live.any(|mshr| M::same_block(&mshr.load, access))
    }

    /// Puts the load of an instruction into a free register and returns the register's number.
    pub(crate) fn begin_load(
        &mut self,
        load: M::Access,
        instruction: u64,
        began: u64,
        behind_store: bool,
    ) -> u8 {
        let free = self.mshrs.iter().position(|mshr| !mshr.live);
        let at = free.unwrap_or(self.mshrs.len());
        // A reused register keeps the allocation of its list.
        let merged = match self.mshrs.get_mut(at) {
            Some(mshr) => std::mem::take(&mut mshr.merged),
            None => Vec::new(),
        };
        let performed = false;
        let mshr = Mshr { live: true, instruction, began, load, performed, behind_store, merged };
        match self.mshrs.get_mut(at) {
            Some(place) => *place = mshr,
            None => self.mshrs.push(mshr),
        }
        self.mshrs_in_use += 1;
        self.behind_stores += usize::from(behind_store);
        // The window begins with the oldest load, so a younger one does not move it.
        self.window_changed |= self.mshrs_in_use == 1;
        u8::try_from(at).unwrap_or(u8::MAX)
    }

    /// Frees the register of a load whose data have arrived.
    pub(crate) fn end_load(&mut self, at: usize) {
        let mshr = &mut self.mshrs[at];
        mshr.live = false;
        self.behind_stores -= usize::from(mshr.behind_store);
        self.mshrs_in_use -= 1;
        self.window_changed = true;
    }

    /// Removes the store at the head of the buffer, and the loads that were performed with it.
    pub(crate) fn end_store(&mut self) {
        self.stores.pop_front();
        (self.head_requested, self.head_performed) = (false, false);
        if self.behind_stores == 0 {
            return;
        }
        for at in 0..self.mshrs.len() {
            let mshr = &self.mshrs[at];
            if mshr.live && mshr.behind_store && mshr.performed {
                self.end_load(at);
            }
        }
    }

    /// Recomputes the end of the window, which begins with the oldest load in flight. Loads begin
    /// in program order.
    #[inline]
    pub(crate) fn update_window(&mut self, window: &WindowSize) {
        if std::mem::take(&mut self.window_changed) {
            let live = self.mshrs.iter().filter(|mshr| mshr.live);
            let oldest = live.map(|mshr| (mshr.began, mshr.instruction)).min();
            (self.window_full_at, self.window_end) = oldest.map_or((NEVER, NEVER), |oldest| {
                (oldest.0.saturating_add(window.cycles), oldest.1 + window.instructions)
            });
        }
    }

    #[inline]
    pub(crate) fn has_requests_in_flight(&self) -> bool {
        self.mshrs_in_use > 0 || !self.stores.is_empty()
    }

    /// Whether it has a load or store of the same block in flight.
    pub(crate) fn has_in_flight(&self, access: &M::Access) -> bool {
        let mut loads = self.mshrs.iter().filter(|mshr| mshr.live);
        loads.any(|mshr| M::same_block(&mshr.load, access))
            || self.stores.iter().any(|store| M::same_block(store, access))
    }

    /// Performs a load and those merged with it.
    pub(crate) fn perform_load(
        &mut self,
        number: usize,
        mut perform: impl FnMut(&M::Access) -> Result<(), M::Error>,
    ) -> Result<(), M::Error> {
        let mshr = &mut self.mshrs[number];
        mshr.performed = true;
        perform(&mshr.load)?;
        mshr.merged.iter().try_for_each(perform)?;
        mshr.merged.clear();
        Ok(())
    }

    /// Performs the store at the head of the buffer and the loads that wait for it.
    pub(crate) fn perform_store(
        &mut self,
        mut perform: impl FnMut(&M::Access) -> Result<(), M::Error>,
    ) -> Result<(), M::Error> {
        let Some(store) = self.stores.front().copied() else { return Ok(()) };
        self.head_performed = true;
        perform(&store)?;
        if self.behind_stores == 0 {
            return Ok(());
        }
        for at in 0..self.mshrs.len() {
            let mshr = &self.mshrs[at];
            let waits = mshr.live && mshr.behind_store && !mshr.performed;
            if waits && M::same_block(&mshr.load, &store) {
                self.perform_load(at, &mut perform)?;
            }
        }
        Ok(())
    }

    /// Performs the reference that stalls the processor.
    pub(crate) fn perform_blocking(
        &mut self,
        mut perform: impl FnMut(&M::Access) -> Result<(), M::Error>,
    ) -> Result<(), M::Error> {
        match &self.blocking {
            Some(access) => perform(access),
            None => Ok(()),
        }
    }
}
