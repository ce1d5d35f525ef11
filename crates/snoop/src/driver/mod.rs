//! The protocol driver: applies a protocol's table to all caches.
//!
//! Most references do not consult the table. A hit that needs no transaction is decided by the
//! frame's permissions ([`ProtocolDriver::hit`]). A miss that affects no other cache, and a write
//! that changes only the own copy's state, use flat arrays made from the table (`uncontended.rs`,
//! `fast_paths.rs`). For all others the driver finds or frees a frame and follows the table
//! (`transaction.rs`).

mod fast_paths;
mod fetched;
mod transaction;
mod transition;
mod uncontended;

use homenode_base::Flags;
use homenode_cache::{
    BlockAccess, BlockHolders, BlockRef, CacheArrays, CacheCounts, CacheSystem, CacheSystemSetup,
    FrameLocation, MissStatus, TraceOrderDriver, WordMask,
};

pub use homenode_cache::CheckError;
pub(crate) use transition::Transition;

use crate::counts::{BusCounts, OriginCounts, Transactions};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use crate::vocabulary::{AreaKind, ProcessorEvent, TableCell};
use fast_paths::{FastPaths, Replacement};
use fetched::FetchedBlocks;

/// A frame and the number of its block in the table of holders.
#[derive(Clone, Copy)]
struct NumberedFrame {
    frame: usize,
    number: u32,
}

/// A cache and the frame of its copy.
#[derive(Clone, Copy)]
struct HeldFrame {
    cache: usize,
    frame: usize,
}

fn area<W>(access: &BlockAccess<W>) -> AreaKind {
    if access.private { AreaKind::Private } else { AreaKind::Shared }
}

/// All caches, the protocol that keeps them coherent, and its transactions.
pub struct ProtocolDriver<F, W, const WORDS: usize = 1> {
    /// All caches.
    pub caches: CacheSystem<F, W, WORDS>,
    /// Transactions so far.
    pub transactions: Transactions,
    origins: OriginCounts,
    table: ProtocolTable,
    fast: FastPaths,
    /// What each process has fetched; `None` where no process is switched.
    fetched: Option<FetchedBlocks>,
    /// The cells used, for walks; `None` if they are not recorded.
    pub(crate) log: Option<Vec<Transition>>,
    /// The other caches' copies of the block that is referenced.
    others: Vec<HeldFrame>,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> ProtocolDriver<F, W, WORDS> {
    /// Empty caches under the protocol of this table.
    ///
    /// # Errors
    /// When the machine is invalid.
    pub fn new(setup: &BusSetup, table: ProtocolTable) -> Result<Self, BusSetupError> {
        let (block, geometries) = setup.geometries()?;
        let (words, rule, check) = (block.words(), setup.rule, setup.check);
        let geometries = &geometries;
        Ok(Self {
            caches: CacheSystem::new(CacheSystemSetup { geometries, words, rule, check }),
            transactions: Transactions::default(),
            origins: OriginCounts::default(),
            // The fast paths move no values, so checked reads go by the table.
            fast: if check { FastPaths::none() } else { FastPaths::of(&table) },
            table,
            fetched: None,
            log: None,
            others: Vec::with_capacity(geometries.len()),
        })
    }

    /// Counts the misses that switches of processes cause, in this number of caches.
    pub(crate) fn count_switches(&mut self, caches: usize) {
        self.fetched = Some(FetchedBlocks::new(caches));
    }

    /// From now on references of a cache are those of another process, which has this set of blocks
    /// for caches of its kind.
    pub(crate) fn switch(&mut self, cache: usize, set: usize) {
        self.fetched.iter_mut().for_each(|fetched| fetched.switch(cache, set));
    }

    /// Performs any reference to a block of this set.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn access(&mut self, access: &BlockAccess<W>, set: usize) -> Result<(), CheckError> {
        let found = self.caches.frames.find(set, access.block);
        let Some(at) = found.filter(|&at| self.caches.frames.all()[at].state != 0) else {
            return match self.miss(access, set, found)? {
                Some(fetched) => self.follow(access, fetched),
                None => Ok(()),
            };
        };
        self.caches.frames.touch(set, at);
        if self.caches.touch_undecided(access, at, |state| self.fast.permissions(state)) {
            return Ok(());
        }
        let number = self.caches.frame(at).number;
        self.follow(access, NumberedFrame { frame: at, number })
    }

    /// Performs a reference to the block of a frame by the table.
    fn follow(&mut self, access: &BlockAccess<W>, held: NumberedFrame) -> Result<(), CheckError> {
        let event = if access.write { ProcessorEvent::Write } else { ProcessorEvent::Read };
        while self.event(access, held, event)?.again {}
        self.caches.mark_touched(access, held.frame);
        match &mut self.caches.shadow {
            Some(shadow) if !access.write => {
                let stale = shadow.read(held.frame, held.number, access.words);
                stale.map_or(Ok(()), |address| Err(CheckError::stale(access.cache, address)))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the reference needs a transaction in the current states of all copies.
    pub fn needs_transaction(&mut self, access: &BlockAccess<W>) -> bool {
        let set = self.caches.frames.set_of(access.cache, access.block);
        let found = self.caches.frames.find(set, access.block).map(|at| *self.caches.frame(at));
        let Some(frame) = found.filter(|frame| frame.state != 0) else { return true };
        let holders = self.caches.holders.get(frame.number).holders_without(access.cache);
        let copies = self.find_copies(access.block, holders);
        let condition = self.table.condition(copies, area(access));
        let event = if access.write { ProcessorEvent::Write } else { ProcessorEvent::Read };
        match self.table.cell(frame.state, event, condition) {
            TableCell::Does(action) => action.transaction.is_some(),
            TableCell::Impossible(_) => true,
        }
    }

    #[inline]
    fn set_state(&mut self, at: usize, state: u8) {
        self.caches.set_state(at, state, self.fast.permissions(state));
    }

    /// Classifies a miss and makes room. If no other cache has a copy, it also fetches the block
    /// and returns `None`; else it returns the frame, in the invalid state.
    #[inline]
    fn miss(
        &mut self,
        access: &BlockAccess<W>,
        set: usize,
        lost: Option<usize>,
    ) -> Result<Option<NumberedFrame>, CheckError> {
        let caches = &mut self.caches;
        let (at, number) = match lost {
            Some(at) => (at, caches.frame(at).number),
            None => (caches.frames.victim(set), caches.holders.number(access.block)),
        };
        // Making room changes only the record of another block.
        let mut record = caches.holders.get(number);
        let status = match lost {
            Some(at) => {
                if let Some(fetched) = &mut self.fetched {
                    fetched.fetch(access.cache, number);
                }
                caches.coherence_miss(access, at, &record)
            }
            None => {
                self.replace(access.cache, at)?;
                let had = record.had(access.cache);
                self.caches.cold_or_replacement_miss(access, at, had);
                if let Some(fetched) = &mut self.fetched {
                    let old = self.caches.frame(at);
                    let replaced = old.is_used().then_some(old.number);
                    fetched.miss(access.cache, number, replaced, had);
                }
                MissStatus::Settled
            }
        };
        record.add_frame(access.cache);
        let uncontended = if record.holders.is_empty() {
            self.fast.uncontended_fetch(access.write, access.private)
        } else {
            None
        };
        if uncontended.is_some() {
            record.add_holder(access.cache);
        }
        let caches = &mut self.caches;
        caches.holders.put(number, &record);
        let place = FrameLocation { set, frame: at };
        caches.claim(place, BlockRef { block: access.block, number }, status, 0);
        let Some(fetch) = uncontended else {
            return Ok(Some(NumberedFrame { frame: at, number }));
        };
        caches.frame(at).touched[usize::from(access.write)] = access.words;
        self.set_state(at, fetch.state);
        self.transactions.read_invalidate_memory += u64::from(fetch.invalidate);
        self.transactions.read_block_memory += u64::from(!fetch.invalidate);
        Ok(None)
    }

    #[inline]
    fn replace(&mut self, cache: usize, at: usize) -> Result<(), CheckError> {
        let frame = *self.caches.frame(at);
        if !frame.is_used() {
            return Ok(());
        }
        let mut record = self.caches.holders.get(frame.number);
        if frame.state != 0 {
            if !record.lost.is_empty() {
                self.caches.tell_writes(frame.block(), &record);
            }
            match self.fast.replacement(frame.state) {
                Replacement::Silent => {}
                Replacement::WriteBack => self.transactions.update_block += 1,
                Replacement::ByTable => {
                    let held = NumberedFrame { frame: at, number: frame.number };
                    record = self.replace_by_table(cache, held, frame.block())?;
                }
            }
            self.caches.end_copy(at);
        }
        record.remove_frame(cache);
        self.caches.holders.put(frame.number, &record);
        Ok(())
    }

    #[cold]
    fn replace_by_table(
        &mut self,
        cache: usize,
        frame: NumberedFrame,
        block: u64,
    ) -> Result<BlockHolders<WORDS>, CheckError> {
        let (words, write, private, flags) = (W::default(), false, false, Flags(0));
        let access = BlockAccess { cache, block, words, write, private, flags };
        self.event(&access, frame, ProcessorEvent::Replace)?;
        Ok(self.caches.holders.get(frame.number))
    }

    /// The counts so far, without undecided misses.
    pub(crate) fn counts(&self) -> BusCounts {
        BusCounts::new(&self.caches.counts, self.transactions, self.origins)
    }

    /// The final counts, at the end of the trace.
    pub fn finish(&mut self) -> BusCounts {
        self.caches.end_all_copies();
        let context_switch_misses = self.fetched.as_ref().map(|fetched| fetched.misses);
        BusCounts { hits: self.caches.counts.hits(), context_switch_misses, ..self.counts() }
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TraceOrderDriver
    for ProtocolDriver<F, W, WORDS>
{
    type Words = W;

    #[inline]
    fn locate(&self, cache: usize, block: u64) -> FrameLocation {
        self.caches.locate(cache, block)
    }

    #[inline]
    fn hit(&mut self, place: FrameLocation, block: u64, words: W, need: u64) -> bool {
        self.caches.hit(place, block, words, need)
    }

    #[inline(always)]
    fn uncontended(&mut self, access: &BlockAccess<W>, place: FrameLocation) -> bool {
        Self::uncontended(self, access, place)
    }

    fn access(&mut self, access: &BlockAccess<W>, set: usize) -> Result<(), CheckError> {
        Self::access(self, access, set)
    }

    #[inline]
    fn cache_counts(&mut self) -> &mut CacheCounts {
        &mut self.caches.counts
    }
}
