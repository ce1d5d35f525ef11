//! Hits that a processor has performed ahead of the other processors, so that they can be rolled
//! back.

use super::MemorySystem;

/// The hits of one turn of a processor that lie beyond the cycle up to which no cache can change.
/// They take place at regular intervals.
pub(crate) struct HitLog<H> {
    /// In order.
    hits: Vec<H>,
    /// The cycle of the first one.
    from: u64,
    /// Cycles from one to the next.
    interval: u64,
    /// A bit for each block's number modulo 64.
    blocks: u64,
    /// How many hits the next turn may log: half as many after each time that some were rolled
    /// back, one more after each turn of which none was.
    limit: usize,
}

/// Most hits in a log. With more, fewer turns end at the limit, but more hits are rolled back.
pub(crate) const HITS_MAX: usize = 64;

impl<H: Copy> HitLog<H> {
    /// An empty log.
    pub(crate) fn new() -> Self {
        Self { hits: Vec::new(), from: 0, interval: 0, blocks: 0, limit: HITS_MAX }
    }

    /// Sets the time of the hits that are added to an empty log.
    #[inline]
    pub(crate) fn begin(&mut self, from: u64, interval: u64) {
        (self.from, self.interval) = (from, interval);
    }

    /// Empties the log, at the next turn of the processor: its hits have taken place.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.limit = HITS_MAX.min(self.limit + 1);
        self.hits.clear();
        self.blocks = 0;
    }

    /// How many hits may be added to an empty log.
    #[inline]
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    #[inline]
    pub(crate) fn push<M: MemorySystem<Hit = H>>(&mut self, hit: H) {
        self.blocks |= block_bit(M::block_of(&hit));
        self.hits.push(hit);
    }

    pub(crate) fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether a block may be among the hits.
    #[inline]
    pub(crate) fn may_have(&self, block: u64) -> bool {
        self.blocks & block_bit(block) != 0
    }

    /// Whether a hit takes place at this time or later.
    #[inline]
    pub(crate) fn reaches(&self, time: u64) -> bool {
        !self.hits.is_empty() && self.time(self.hits.len()) - self.interval >= time
    }

    /// The cycle of a hit by its position; of the processor's next turn for the length of the log.
    pub(crate) fn time(&self, at: usize) -> u64 {
        self.from + at as u64 * self.interval
    }

    /// Takes back, in the memory system, the first hit at this time or later that is `concerned`,
    /// and all after it. Returns whether there was one.
    pub(crate) fn roll_back<M: MemorySystem<Hit = H>>(
        &mut self,
        memory: &mut M,
        time: u64,
        concerned: impl Fn(&M, &H) -> bool,
    ) -> bool {
        let settled = time.saturating_sub(self.from).div_ceil(self.interval.max(1));
        let settled = usize::try_from(settled).unwrap_or(usize::MAX).min(self.hits.len());
        let first = self.hits[settled..].iter().position(|hit| concerned(memory, hit));
        let Some(first) = first else { return false };
        self.limit /= 2;
        self.hits.drain(settled + first..).rev().for_each(|hit| memory.roll_back(&hit));
        true
    }
}

#[inline]
fn block_bit(block: u64) -> u64 {
    1 << (block % 64)
}
