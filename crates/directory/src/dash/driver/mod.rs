//! The protocol driver: applies a reference to the caches, the directory and the homes by the
//! protocol's table.
//!
//! The frame's permissions decide a hit. Any other reference is a transaction: its messages are
//! delivered in the order in which they were sent until none is in flight (`transaction.rs`), so
//! that the next reference finds all controllers at rest. Transactions of a request and its reply,
//! which are most of them, are derived from the table beforehand (`prepared.rs`), and the most
//! frequent misses are performed in one step (`simple_miss.rs`).

mod network;
mod observed;
mod prepared;
mod simple_miss;
mod transaction;

use homenode_cache::{
    BlockAccess, BlockRef, CacheArrays, CacheCounts, CacheSystem, CacheSystemSetup, CheckError,
    FrameLocation, MissStatus, TraceOrderDriver, WordMask,
};

use crate::acts::LoggedAct;
use crate::cell::ControllerCell;
use crate::counts::{DirectoryCounts, MessageCounts};
use crate::dash::table::DirectoryTable;
use crate::dash::vocabulary::CacheEvent;
use crate::dash::vocabulary::Message;
use crate::entries::{DirectoryEntries, EntryHead, NO_PAGE};
use crate::home::{HomePolicy, PageFill, PageHomes};
use crate::setup::{DirectorySetup, DirectorySetupError};
use network::MessageQueue;
use prepared::PreparedTransactions;
pub(crate) use prepared::permissions;
use transaction::DirectoryTransaction;

/// All nodes: caches, directory, homes, and the messages between them.
pub(crate) struct DirectoryDriver<F, W, const WORDS: usize> {
    pub(crate) caches: CacheSystem<F, W, WORDS>,
    pub(crate) homes: PageHomes,
    entries: DirectoryEntries,
    table: DirectoryTable,
    prepared: PreparedTransactions,
    /// Accesses allowed without a transaction, by state of the copy.
    permissions: Vec<u64>,
    queue: MessageQueue,
    /// Recipients of invalidations; a field to reuse its allocation.
    invalidation_targets: Vec<u16>,
    sent: MessageCounts,
    /// Log of the table cells used, if kept: then values are checked, so that every reference goes
    /// through the table.
    pub(crate) log: Option<Vec<LoggedAct>>,
    header_bytes: u64,
    block_bytes: u64,
    counts: DirectoryCounts,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> DirectoryDriver<F, W, WORDS> {
    pub(crate) fn new(
        setup: &DirectorySetup,
        table: DirectoryTable,
        homes: Box<dyn HomePolicy>,
    ) -> Result<Self, DirectorySetupError> {
        let (block, geometry) = setup.geometry()?;
        let geometries = &vec![geometry; usize::from(setup.nodes)][..];
        let (words, rule, check) = (block.words(), setup.rule, setup.check);
        Ok(Self {
            caches: CacheSystem::new(CacheSystemSetup { geometries, words, rule, check }),
            homes: PageHomes::new(homes, setup),
            entries: DirectoryEntries::new(setup.nodes, setup.pointers),
            // Prepared transactions do not move values, which checks need.
            prepared: if check {
                PreparedTransactions::none()
            } else {
                PreparedTransactions::of(&table)
            },
            permissions: permissions(&table),
            table,
            queue: MessageQueue::new(setup.nodes),
            invalidation_targets: Vec::new(),
            sent: MessageCounts::default(),
            log: None,
            header_bytes: setup.header_bytes,
            block_bytes: block.bytes(),
            counts: DirectoryCounts::default(),
        })
    }

    /// Initialisation is over. If pages move at their first use, frames lose their permissions, so
    /// that the next use of each copy is seen.
    pub(crate) fn init_done(&mut self) {
        if self.homes.init_done() {
            self.caches.withdraw_permissions();
        }
    }

    /// The page of a block, which gets a home if it has none.
    fn page(&mut self, block: BlockRef, node: u16) -> u32 {
        let BlockRef { block, number } = block;
        self.entries.reach(number);
        let head = self.entries.head(number);
        if head.page != NO_PAGE {
            return head.page;
        }
        let page = self.homes.number(block, node);
        self.entries.put(number, EntryHead { page, ..head });
        page
    }

    fn reference(&mut self, access: &BlockAccess<W>, set: usize) -> Result<(), CheckError> {
        let found = self.caches.frames.find(set, access.block);
        let node = node(access.cache);
        let number = match found {
            Some(at) => self.caches.frame(at).number,
            None => self.caches.holders.number(access.block),
        };
        let page = self.page(BlockRef { block: access.block, number }, node);
        if self.homes.awaits_use() {
            self.homes.used(page, node);
        }
        let Some(at) = found.filter(|&at| self.caches.frames.all()[at].state != 0) else {
            let at = self.miss(access, set, found, number)?;
            self.counts.fills += 1;
            let source = self.homes.home(page);
            self.counts.local_fills += u64::from(source == node);
            self.transact(access, at, number, page)?;
            self.homes.filled(page, PageFill { node, source, block: access.block });
            return Ok(());
        };
        self.caches.frames.touch(set, at);
        if self.caches.touch_undecided(access, at, |state| self.permissions[usize::from(state)]) {
            return self.check_hit(access, at, number);
        }
        self.counts.upgrades += u64::from(access.write && !self.is_settled(at, CacheEvent::Store));
        self.transact(access, at, number, page)
    }

    /// Whether the processor's operation takes place at once.
    fn is_settled(&mut self, at: usize, event: CacheEvent) -> bool {
        let state = self.caches.frame(at).state;
        let cell = self.table.cache.cell(state, event);
        cell == ControllerCell::Does(&[crate::CacheAction::Complete], state)
    }

    /// Checks the values of a reference that needs no transaction.
    fn check_hit(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        number: u32,
    ) -> Result<(), CheckError> {
        self.observe_hit(access, at, number);
        let Some(shadow) = &mut self.caches.shadow else { return Ok(()) };
        if access.write {
            shadow.write(number, access.words, std::iter::once(at));
            return Ok(());
        }
        let stale = shadow.read(at, number, access.words);
        stale.map_or(Ok(()), |address| Err(CheckError::stale(access.cache, address)))
    }

    /// A reference to the block in a frame, performed by the table.
    fn transact(
        &mut self,
        access: &BlockAccess<W>,
        at: usize,
        number: u32,
        page: u32,
    ) -> Result<(), CheckError> {
        let event = if access.write { CacheEvent::Store } else { CacheEvent::Load };
        let home = self.homes.home(page);
        if !self.prepared_fetch(access, at, number, home) {
            let mut transaction = DirectoryTransaction::new(
                BlockRef { block: access.block, number },
                self.caches.holders.get(number),
                node(access.cache),
                at,
                home,
                event,
            );
            transaction.words = access.words;
            self.run(&mut transaction)?;
            self.caches.holders.put(number, &transaction.record);
        }
        self.caches.mark_touched(access, at);
        Ok(())
    }

    /// Classifies a miss, and replaces the victim; the frame is left without a copy. `lost` is the
    /// frame that had the block before.
    fn miss(
        &mut self,
        access: &BlockAccess<W>,
        set: usize,
        lost: Option<usize>,
        number: u32,
    ) -> Result<usize, CheckError> {
        let caches = &mut self.caches;
        let at = lost.unwrap_or_else(|| caches.frames.victim(set));
        // A replacement changes the record of another block only.
        let mut record = caches.holders.get(number);
        let status = match lost {
            Some(at) => caches.coherence_miss(access, at, &record),
            None => {
                self.replace(access.cache, at)?;
                self.caches.cold_or_replacement_miss(access, at, record.had(access.cache));
                MissStatus::Settled
            }
        };
        let caches = &mut self.caches;
        record.add_frame(access.cache);
        caches.holders.put(number, &record);
        let block = BlockRef { block: access.block, number };
        caches.claim(FrameLocation { set, frame: at }, block, status, 0);
        Ok(at)
    }

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
            let (node, block) = (node(cache), frame.block());
            let page = self.entries.head(frame.number).page;
            if !self.prepared_replacement(frame.state, frame.number, node, page) {
                let mut transaction = DirectoryTransaction::new(
                    BlockRef { block, number: frame.number },
                    record,
                    node,
                    at,
                    self.homes.home(page),
                    CacheEvent::Replace,
                );
                self.run(&mut transaction)?;
                record = transaction.record;
                if transaction.wrote_back {
                    self.count_write_back(node, page);
                }
            }
            self.caches.end_copy(at);
        }
        record.remove_frame(cache);
        self.caches.holders.put(frame.number, &record);
        Ok(())
    }

    fn count_write_back(&mut self, node: u16, page: u32) {
        self.counts.write_backs += 1;
        self.counts.local_write_backs += u64::from(self.homes.home(page) == node);
        self.homes.written_back(page, node);
    }

    /// Counts at the end of the trace; `writes` is counted by the engine.
    pub(crate) fn finish(&mut self, writes: u64) -> DirectoryCounts {
        self.caches.end_all_copies();
        self.counts(writes)
    }

    /// Counts so far, without unclassified misses.
    pub(crate) fn counts(&self, writes: u64) -> DirectoryCounts {
        let message_bytes =
            self.sent.bytes(self.header_bytes, self.block_bytes, Message::carries_block);
        let CacheCounts { references, misses, .. } = self.caches.counts;
        DirectoryCounts {
            references,
            reads: references - writes,
            writes,
            misses,
            messages: self.sent,
            message_bytes,
            pages_moved: self.homes.moved(),
            ..self.counts
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "there are at most 1,024 nodes")]
fn node(cache: usize) -> u16 {
    cache as u16
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TraceOrderDriver
    for DirectoryDriver<F, W, WORDS>
{
    type Words = W;

    fn locate(&self, cache: usize, block: u64) -> FrameLocation {
        self.caches.locate(cache, block)
    }

    fn hit(&mut self, place: FrameLocation, block: u64, words: W, need: u64) -> bool {
        self.caches.hit(place, block, words, need)
    }

    fn uncontended(&mut self, access: &BlockAccess<W>, place: FrameLocation) -> bool {
        let set = place.set;
        if self.caches.frames.lacks(set, access.block) {
            return self.simple_miss(access, set);
        }
        // The block may be in another frame than the guessed one.
        let found = self.caches.frames.find(set, access.block);
        found.is_some_and(|at| self.caches.hit_access(FrameLocation { set, frame: at }, access))
    }

    fn access(&mut self, access: &BlockAccess<W>, set: usize) -> Result<(), CheckError> {
        self.reference(access, set)
    }

    fn cache_counts(&mut self) -> &mut CacheCounts {
        &mut self.caches.counts
    }
}
