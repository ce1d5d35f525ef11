//! All caches of a machine, and the records of their copies.

use std::marker::PhantomData;

use crate::access::BlockAccess;
use crate::classify::MissRule;
use crate::counts::CacheCounts;
use crate::frames::{
    CacheArrays, CacheFrame, CacheGeometry, MAY_READ, MAY_WRITE, MissStatus, touched_by,
};
use crate::holders::HolderTable;
use crate::shadow::ShadowValues;
use crate::waits::WaitCollector;
use crate::words::WordMask;

/// A set, and the frame of it that may have a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameLocation {
    /// The set, numbered through all caches.
    pub set: usize,
    /// The frame, numbered through all caches.
    pub frame: usize,
}

/// A block by its address and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRef {
    /// The address of the block, divided by its size.
    pub block: u64,
    /// Its number in the table of holders.
    pub number: u32,
}

/// All caches of a machine, under any coherence protocol: the engine decides what happens to which
/// copies. `WORDS` limits the number of caches: see [`HolderTable`].
pub struct CacheSystem<F, W, const WORDS: usize = 1> {
    /// The frames.
    pub frames: F,
    /// The caches that hold each block.
    pub holders: HolderTable<WORDS>,
    /// The counts.
    pub counts: CacheCounts,
    /// The values of all copies and of memory; `None` if reads are not checked.
    pub shadow: Option<ShadowValues>,
    /// Misses and waiting by word; `None` if they are not collected.
    pub waits: Option<Box<WaitCollector>>,
    pub(crate) rule: MissRule,
    block_words: u64,
    words: PhantomData<W>,
}

/// A hit, and what it changed.
#[derive(Clone, Copy, Debug)]
pub struct LoggedHit<W> {
    /// The block.
    pub block: u64,
    /// Its set, numbered through all caches.
    pub set: usize,
    frame: usize,
    /// The set's order of use before the hit.
    order: u64,
    /// The words that the copy's processor had not read, or not written, before.
    added: W,
    need: u64,
}

/// The parameters of a [`CacheSystem`].
#[derive(Clone, Copy, Debug)]
pub struct CacheSystemSetup<'a> {
    /// The geometry of each cache.
    pub geometries: &'a [CacheGeometry],
    /// Words in a block.
    pub words: u64,
    /// When an invalidation miss is true sharing.
    pub rule: MissRule,
    /// Whether every read is checked, by shadow values.
    pub check: bool,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> CacheSystem<F, W, WORDS> {
    /// Empty caches.
    #[must_use]
    pub fn new(setup: CacheSystemSetup<'_>) -> Self {
        let CacheSystemSetup { geometries, words, rule, check } = setup;
        let block_words = words;
        let words = usize::try_from(words).unwrap_or(usize::MAX);
        let frames = F::new(geometries);
        Self {
            holders: HolderTable::new(geometries.len()),
            counts: CacheCounts::default(),
            shadow: check.then(|| ShadowValues::new(words, frames.all().len())),
            waits: None,
            rule,
            block_words,
            frames,
            words: PhantomData,
        }
    }

    /// Collects misses and waiting by word from now on.
    pub fn collect_waits(&mut self) {
        self.waits = Some(Box::new(WaitCollector::new(self.frames.all().len())));
    }

    /// The first word of a reference: its address divided by four.
    pub(crate) fn word_of(&self, access: &BlockAccess<W>) -> u64 {
        access.block.wrapping_mul(self.block_words) + u64::from(access.words.first()) * W::BYTES / 4
    }

    /// A frame by its number.
    #[inline]
    pub fn frame(&mut self, at: usize) -> &mut CacheFrame<W> {
        &mut self.frames.all_mut()[at]
    }

    /// The set of a cache in which a block can be, and the frame of it that may have it.
    #[inline]
    pub fn locate(&self, cache: usize, block: u64) -> FrameLocation {
        let set = self.frames.set_of(cache, block);
        FrameLocation { set, frame: self.frames.guess(set, block) }
    }

    /// The frame of a block that this cache must have or have lost, as the table of holders says.
    #[inline]
    pub fn known_frame(&self, cache: usize, block: u64) -> usize {
        let set = self.frames.set_of(cache, block);
        let found = self.frames.find(set, block);
        found.expect("the table of holders knows who has a frame for the block")
    }

    /// Performs a reference to a frame that may have the block, if its copy permits `need`
    /// ([`MAY_READ`] or [`MAY_WRITE`]) without a transaction. Returns whether it does.
    #[inline]
    pub fn hit(&mut self, place: FrameLocation, block: u64, words: W, need: u64) -> bool {
        let frame = &mut self.frames.all_mut()[place.frame];
        let permitted = frame.permits(block, need);
        if permitted {
            frame.add_words(words, need);
            self.frames.touch(place.set, place.frame);
        }
        permitted
    }

    /// As [`Self::hit`]; returns what [`Self::roll_back`] needs to take the hit back, or `None` if
    /// the copy does not permit the reference. Only for caches with [`CacheArrays::ORDER_IN_WORD`].
    #[inline]
    pub fn logged_hit(
        &mut self,
        place: FrameLocation,
        block: u64,
        words: W,
        need: u64,
    ) -> Option<LoggedHit<W>> {
        let FrameLocation { set, frame: at } = place;
        let frame = &mut self.frames.all_mut()[at];
        if !frame.permits(block, need) {
            return None;
        }
        let added = words.without(frame.touched[touched_by(need)]);
        frame.add_words(words, need);
        let order = self.frames.order(set);
        self.frames.touch(set, at);
        Some(LoggedHit { block, set, frame: at, order, added, need })
    }

    /// Takes back a hit. Since then there were only hits in its set, which are taken back already.
    pub fn roll_back(&mut self, hit: &LoggedHit<W>) {
        let touched = &mut self.frame(hit.frame).touched[touched_by(hit.need)];
        *touched = touched.without(hit.added);
        self.frames.restore_order(hit.set, hit.order);
    }

    /// The same for a [`BlockAccess`].
    #[inline]
    pub fn hit_access(&mut self, place: FrameLocation, access: &BlockAccess<W>) -> bool {
        let need = if access.write { MAY_WRITE } else { MAY_READ };
        self.hit(place, access.block, access.words, need)
    }

    /// Gives a frame to a block that misses. It keeps the record of what others have written.
    #[inline]
    pub fn claim(&mut self, place: FrameLocation, block: BlockRef, status: MissStatus, state: u8) {
        let BlockRef { block, number } = block;
        let mut frame = CacheFrame::of(block, number);
        frame.remote_written = self.frame(place.frame).remote_written;
        (frame.state, frame.status) = (state, status);
        self.frames.fill(place.set, place.frame, block, frame);
    }

    /// The next reference to each copy goes by the slow path.
    pub fn withdraw_permissions(&mut self) {
        self.frames.all_mut().iter_mut().filter(|frame| frame.is_used()).for_each(|frame| {
            frame.permit(0);
        });
    }

    /// Sets the state of a copy and its permissions.
    #[inline]
    pub fn set_state(&mut self, at: usize, state: u8, permissions: u64) {
        let frame = self.frame(at);
        frame.state = state;
        // Every reference must go by the slow path until an undecided miss has a class.
        frame.permit(if frame.status.is_undecided() { 0 } else { permissions });
    }
}
