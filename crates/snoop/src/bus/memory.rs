//! The bus, caches and memory as a memory system of the clock.

use homenode_cache::{
    BlockAccess, CacheArrays, ClockError, FrameLocation, LoggedHit, WordMask, permission,
};
use homenode_clock::{
    ClockTime, MemoryReference, MemorySystem, ReferenceCounts, Requester, Requesters, TimedMemory,
};

use super::BusClockSetup;
use super::arbiter::{Arbiter, BusRequest};
use super::prices::TransactionPrices;
use crate::clocked::{BusResult, ClockedCaches};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// Memory is ready to send a block, for which it needs the bus for this number of cycles.
pub(super) struct MemoryAnswer {
    requester: Requester,
    block: u64,
    cycles: u64,
}

/// Caches, bus and memory.
pub(super) struct BusMemory<F, W, const WORDS: usize> {
    caches: ClockedCaches<F, W, WORDS>,
    arbiter: Arbiter,
    prices: TransactionPrices,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> BusMemory<F, W, WORDS> {
    pub(super) fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        timed: &BusClockSetup,
    ) -> Result<Self, BusSetupError> {
        let mut caches = ClockedCaches::new(setup, table)?;
        caches.driver.count_switches(setup.caches());
        Ok(Self {
            caches,
            arbiter: Arbiter::new(timed.bus.arbitration, usize::from(setup.processors)),
            prices: TransactionPrices::new(timed.cycles, &timed.bus)?,
        })
    }

    /// Where a reference may hit.
    #[inline(always)]
    fn locate(&self, reference: &MemoryReference) -> FrameLocation {
        self.caches.driver.caches.locate(self.caches.cache(reference), reference.block)
    }

    /// Before a request changes caches: rolls back later hits of its processor in the same set, and
    /// those of others in the same block. (That its processor replaces a block changes no hit of
    /// another one.)
    fn roll_back_concerned(
        &mut self,
        requester: Requester,
        block: u64,
        requesters: &mut Requesters<'_, Self>,
    ) {
        let own = requester.processor();
        for processor in 0..usize::from(self.caches.processors) {
            if processor == own && requesters.is_ahead(own) {
                let sets = self.caches.sets(own, block);
                requesters.roll_back(self, own, |hit| sets.contains(&hit.set));
            } else if requesters.is_ahead_in(processor, block) {
                requesters.roll_back(self, processor, |hit| hit.block == block);
            }
        }
    }

    #[inline]
    fn serve(
        &mut self,
        request: BusRequest,
        requesters: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        let BusRequest { requester, block, answer } = request;
        let now = requesters.now();
        if let Some(cycles) = answer {
            self.arbiter.hold(now, cycles);
            requesters.complete_at(now + cycles, requester);
            return Ok(());
        }
        self.roll_back_concerned(requester, block, requesters);
        let before = self.caches.driver.transactions;
        requesters.perform(requester, |access| self.caches.perform(now, access))?;
        let timing = self.prices.timing(&self.caches.driver.transactions.since(&before));
        self.arbiter.hold(now, timing.hold);
        match timing.answer {
            Some((due, cycles)) => {
                self.arbiter.expect(block);
                let answer = MemoryAnswer { requester, block, cycles };
                requesters.schedule_at(now + due, requester.rank(), answer);
            }
            // A request that turned out to need no transaction is done in the next cycle.
            None => requesters.complete_at(now + timing.ready.max(1), requester),
        }
        Ok(())
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> MemorySystem for BusMemory<F, W, WORDS> {
    type Access = BlockAccess<W>;
    type Hit = LoggedHit<W>;
    type Event = MemoryAnswer;
    type Error = ClockError;

    const ROLLS_BACK: bool = F::ORDER_IN_WORD;

    fn block_shift(&self) -> u32 {
        self.caches.block_shift
    }

    // Inlined, because each call in the clock is specialised by constants.
    #[inline(always)]
    fn try_hit(&mut self, reference: &MemoryReference) -> bool {
        let need = permission(reference.kind.writes());
        let words = W::of_bytes(reference.first, reference.last);
        let place = self.locate(reference);
        self.caches.driver.caches.hit(place, reference.block, words, need)
    }

    #[inline(always)]
    fn prefetch(&self, processor: usize, block: u64) {
        let caches = &self.caches.driver.caches;
        let place = caches.locate(processor, block);
        std::hint::black_box(caches.frames.all()[place.frame].state);
    }

    #[inline(always)]
    fn try_logged_hit(&mut self, reference: &MemoryReference) -> Option<LoggedHit<W>> {
        let need = permission(reference.kind.writes());
        let words = W::of_bytes(reference.first, reference.last);
        let place = self.locate(reference);
        self.caches.driver.caches.logged_hit(place, reference.block, words, need)
    }

    fn roll_back(&mut self, hit: &LoggedHit<W>) {
        self.caches.driver.caches.roll_back(hit);
    }

    #[inline]
    fn block_of(hit: &LoggedHit<W>) -> u64 {
        hit.block
    }

    fn same_set(&self, access: &BlockAccess<W>, hit: &LoggedHit<W>) -> bool {
        self.caches.driver.caches.frames.set_of(access.cache, access.block) == hit.set
    }

    #[inline]
    fn try_access(&mut self, access: &BlockAccess<W>) -> bool {
        let caches = &mut self.caches.driver.caches;
        let place = caches.locate(access.cache, access.block);
        caches.hit_access(place, access)
    }

    #[inline]
    fn access(&self, reference: &MemoryReference) -> BlockAccess<W> {
        self.caches.access(reference)
    }

    #[inline]
    fn same_block(one: &BlockAccess<W>, other: &BlockAccess<W>) -> bool {
        one.same_block(other)
    }

    #[inline]
    fn needs_request(&mut self, access: &BlockAccess<W>) -> bool {
        self.caches.driver.needs_transaction(access)
    }

    #[inline]
    fn perform(&mut self, now: u64, access: &BlockAccess<W>) -> Result<(), ClockError> {
        self.caches.perform(now, access)
    }

    #[inline]
    fn request(
        &mut self,
        requester: Requester,
        access: &BlockAccess<W>,
        _: &mut Requesters<'_, Self>,
    ) {
        self.arbiter.request(BusRequest { requester, block: access.block, answer: None });
    }

    #[inline]
    fn event(
        &mut self,
        MemoryAnswer { requester, block, cycles }: MemoryAnswer,
        _: &mut Requesters<'_, Self>,
    ) -> Result<(), ClockError> {
        self.arbiter.request(BusRequest { requester, block, answer: Some(cycles) });
        Ok(())
    }

    #[inline]
    fn advance(&mut self, requesters: &mut Requesters<'_, Self>) -> Result<(), ClockError> {
        while let Some(request) = self.arbiter.grant(requesters.now()) {
            self.serve(request, requesters)?;
        }
        Ok(())
    }

    #[inline]
    fn next_advance(&self, now: u64) -> Option<u64> {
        self.arbiter.next_grant(now)
    }

    /// Transactions take place after the processors have issued in a cycle.
    #[inline]
    fn undisturbed_until(&self, now: u64) -> u64 {
        self.arbiter.free_at.max(now) + 1
    }

    fn at_rest_from(&self) -> u64 {
        self.arbiter.free_at
    }

    fn switch(&mut self, processor: usize, process: usize) {
        self.caches.switch(processor, process);
    }

    #[inline]
    fn count(&mut self, counted: ReferenceCounts) {
        self.caches.count(counted);
    }

    fn discount(&mut self, counted: ReferenceCounts) {
        self.caches.discount(counted);
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TimedMemory for BusMemory<F, W, WORDS> {
    type Result = BusResult;

    fn result(&mut self, time: ClockTime) -> BusResult {
        let (counts, bus_busy) = (self.caches.driver.finish(), Some(self.arbiter.busy));
        BusResult { counts, time, bus_busy, waits: None }
    }
}
