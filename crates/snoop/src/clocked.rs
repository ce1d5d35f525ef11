//! Caches under a protocol, driven by a memory system of the clock with any interconnect.

use homenode_cache::{BlockAccess, CacheArrays, ClockError, WordMask, WordWaits};
use homenode_clock::streams::OpKind;
use homenode_clock::{ClockTime, MemoryReference, ReferenceCounts, ratio};

use crate::counts::BusCounts;
use crate::driver::ProtocolDriver;
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// Counts and times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BusResult {
    /// References, misses and transactions.
    pub counts: BusCounts,
    /// Times of processors and processes.
    pub time: ClockTime,
    /// Cycles for which the bus was held; `None` without a bus.
    pub bus_busy: Option<u64>,
    /// Misses and waiting by word, in order of its address divided by four; `None` on a bus.
    pub waits: Option<WordWaits>,
}

impl BusResult {
    /// The fraction of all cycles for which the bus was held; `None` without a bus or cycles.
    #[must_use]
    pub fn bus_utilisation(&self) -> Option<f64> {
        self.bus_busy.and_then(|busy| ratio(busy, self.time.cycles))
    }
}

/// The caches of all processors under one protocol. `WORDS` limits the number of caches: see
/// [`homenode_cache::HolderTable`].
pub struct ClockedCaches<F, W, const WORDS: usize> {
    /// Applies the protocol.
    pub driver: ProtocolDriver<F, W, WORDS>,
    /// Log2 of the block size in bytes.
    pub block_shift: u32,
    /// Processors, each with one cache, or with one for data and one for instructions.
    pub processors: u16,
    /// The distance from the number of a processor's cache to that of its instruction cache; 0 if
    /// they are one.
    instruction_caches: usize,
    private_kernel: bool,
}

// Hits and accesses are inlined, because each call in the clock is specialised by constants.
impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ClockedCaches<F, W, WORDS> {
    /// Empty caches.
    ///
    /// # Errors
    /// When the machine is invalid.
    pub fn new(setup: &BusSetup, table: ProtocolTable) -> Result<Self, BusSetupError> {
        let (block, _) = setup.geometry()?;
        Ok(Self {
            driver: ProtocolDriver::new(setup, table)?,
            block_shift: block.bytes().trailing_zeros(),
            processors: setup.processors,
            instruction_caches: setup.instruction_caches(),
            private_kernel: setup.private_kernel,
        })
    }

    /// The cache that a reference uses.
    #[inline(always)]
    pub fn cache(&self, reference: &MemoryReference) -> usize {
        let fetch = reference.kind == OpKind::Fetch;
        reference.processor + if fetch { self.instruction_caches } else { 0 }
    }

    /// The sets in which a processor's caches can have a block, for data and for instructions.
    pub(crate) fn sets(&self, processor: usize, block: u64) -> [usize; 2] {
        [processor, processor + self.instruction_caches]
            .map(|cache| self.driver.caches.frames.set_of(cache, block))
    }

    /// See [`homenode_clock::MemorySystem::access`].
    #[inline(always)]
    pub fn access(&self, reference: &MemoryReference) -> BlockAccess<W> {
        BlockAccess {
            cache: self.cache(reference),
            block: reference.block,
            words: W::of_bytes(reference.first, reference.last),
            write: reference.kind.writes(),
            private: reference.flags.is_private(self.private_kernel),
            flags: reference.flags,
        }
    }

    /// See [`homenode_clock::MemorySystem::perform`].
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    #[inline(always)]
    pub fn perform(&mut self, now: u64, access: &BlockAccess<W>) -> Result<(), ClockError> {
        let place = self.driver.caches.locate(access.cache, access.block);
        if self.driver.uncontended(access, place) {
            return Ok(());
        }
        let base = access.block << self.block_shift;
        let done = self.driver.access(access, place.set);
        done.map_err(|error| error.at_cycle(now, base, self.processors))
    }

    /// See [`homenode_clock::MemorySystem::switch`].
    pub(crate) fn switch(&mut self, processor: usize, process: usize) {
        if self.instruction_caches == 0 {
            return self.driver.switch(processor, process);
        }
        self.driver.switch(processor, 2 * process);
        self.driver.switch(processor + self.instruction_caches, 2 * process + 1);
    }

    /// See [`homenode_clock::MemorySystem::count`].
    #[inline(always)]
    pub fn count(&mut self, counted: ReferenceCounts) {
        let counts = &mut self.driver.caches.counts;
        counts.references += counted.references;
        counts.block_references += counted.block_references;
        counts.kernel.references += counted.kernel;
    }

    /// See [`homenode_clock::MemorySystem::discount`].
    pub(crate) fn discount(&mut self, counted: ReferenceCounts) {
        let counts = &mut self.driver.caches.counts;
        counts.references -= counted.references;
        counts.block_references -= counted.block_references;
        counts.kernel.references -= counted.kernel;
    }
}
