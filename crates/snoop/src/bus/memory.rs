//! The bus, caches and memory as a memory system of the clock.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, MAY_READ, MAY_WRITE, WordMask};
use homenode_clock::streams::OpKind;
use homenode_clock::{MemoryReference, MemorySystem, ReferenceCounts, Requester, Requesters};

use super::BusClockSetup;
use super::arbiter::{Arbiter, BusRequest};
use super::prices::TransactionPrices;
use crate::counts::BusCounts;
use crate::driver::ProtocolDriver;
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// Memory is ready to send a block, for which it needs the bus for this number of cycles.
pub(super) struct MemoryAnswer {
    requester: Requester,
    block: u64,
    cycles: u64,
}

/// Caches, bus and memory. `WORDS` limits the number of caches: see
/// [`homenode_cache::HolderTable`].
pub(super) struct BusMemory<F, W, const WORDS: usize> {
    driver: ProtocolDriver<F, W, WORDS>,
    arbiter: Arbiter,
    prices: TransactionPrices,
    block_shift: u32,
    processors: u16,
    /// The distance from the number of a processor's cache to that of its instruction cache; 0 if
    /// they are one.
    instruction_caches: usize,
    private_kernel: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> BusMemory<F, W, WORDS> {
    pub(super) fn new(
        setup: &BusSetup,
        table: ProtocolTable,
        timed: &BusClockSetup,
    ) -> Result<Self, BusSetupError> {
        let (block, _) = setup.geometry()?;
        Ok(Self {
            driver: ProtocolDriver::new(setup, table)?,
            arbiter: Arbiter::new(timed.bus.arbitration, usize::from(setup.processors)),
            prices: TransactionPrices::new(timed.cycles, &timed.bus)?,
            block_shift: block.bytes().trailing_zeros(),
            processors: setup.processors,
            instruction_caches: setup.instruction_caches(),
            private_kernel: setup.private_kernel,
        })
    }

    /// Cycles for which the bus was held.
    pub(super) fn busy_cycles(&self) -> u64 {
        self.arbiter.busy
    }

    /// The final counts.
    pub(super) fn finish(&mut self) -> BusCounts {
        self.driver.finish()
    }

    #[inline(always)]
    fn cache(&self, reference: &MemoryReference) -> usize {
        let fetch = reference.kind == OpKind::Fetch;
        reference.processor + if fetch { self.instruction_caches } else { 0 }
    }

    #[inline(always)]
    fn words(reference: &MemoryReference) -> W {
        W::range(W::word(reference.first), W::word(reference.last))
    }

    /// Performs a granted request.
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
        let before = self.driver.transactions;
        requesters.perform(requester, |access| self.perform(now, access))?;
        let timing = self.prices.timing(&self.driver.transactions.since(&before));
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
    type Event = MemoryAnswer;
    type Error = ClockError;

    fn block_shift(&self) -> u32 {
        self.block_shift
    }

    // Inlined, because each call in the clock is specialised by constants.
    #[inline(always)]
    fn try_hit(&mut self, reference: &MemoryReference) -> bool {
        let need = if reference.kind.writes() { MAY_WRITE } else { MAY_READ };
        let place = self.driver.caches.locate(self.cache(reference), reference.block);
        self.driver.hit(place, reference.block, Self::words(reference), need)
    }

    #[inline]
    fn try_access(&mut self, access: &BlockAccess<W>) -> bool {
        let place = self.driver.caches.locate(access.cache, access.block);
        self.driver.caches.hit_access(place, access)
    }

    #[inline]
    fn access(&self, reference: &MemoryReference) -> BlockAccess<W> {
        BlockAccess {
            cache: self.cache(reference),
            block: reference.block,
            words: Self::words(reference),
            write: reference.kind.writes(),
            private: reference.flags.is_private(self.private_kernel),
            flags: reference.flags,
        }
    }

    #[inline]
    fn same_block(one: &BlockAccess<W>, other: &BlockAccess<W>) -> bool {
        one.block == other.block && one.cache == other.cache
    }

    #[inline]
    fn needs_request(&mut self, access: &BlockAccess<W>) -> bool {
        self.driver.needs_transaction(access)
    }

    #[inline]
    fn perform(&mut self, now: u64, access: &BlockAccess<W>) -> Result<(), ClockError> {
        let place = self.driver.caches.locate(access.cache, access.block);
        if self.driver.uncontended(access, place) {
            return Ok(());
        }
        let base = access.block << self.block_shift;
        let done = self.driver.access(access, place.set);
        done.map_err(|error| error.at_cycle(now, base, self.processors))
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

    #[inline]
    fn count(&mut self, counted: ReferenceCounts) {
        let counts = &mut self.driver.caches.counts;
        counts.references += counted.references;
        counts.block_references += counted.block_references;
        counts.kernel.references += counted.kernel;
    }
}
