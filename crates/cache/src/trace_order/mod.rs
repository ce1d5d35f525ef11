//! The engine of all machines with caches for trace order: each reference completes before the next
//! one begins.
//!
//! Rows are decoded and located in the caches many at a time, then performed one by one by the
//! [`TraceOrderDriver`] of the machine's protocol.

mod setup;

use std::ops::Range;

use homenode_base::Flags;
use homenode_trace::Batch;

use crate::access::BlockAccess;
use crate::counts::CacheCounts;
use crate::error::CheckError;
use crate::frames::MAY_WRITE;
use crate::system::FrameLocation;
use crate::words::WordMask;
pub use setup::TraceOrderSetup;
use setup::{LEFT_OUT, RowMeaning, STRADDLES_SHIFT};

/// Rows that are decoded and located before the first of them is performed.
const AHEAD: usize = 64;

/// The block and words of a row, and the frame that may have them. The branch on a hit is often
/// mispredicted, and a misprediction discards the work that the host began on later rows: so
/// everything that does not depend on earlier references is computed in advance, for many rows.
#[derive(Clone, Copy, Default)]
struct ResolvedRow<W> {
    block: u64,
    set: usize,
    guess: usize,
    words: W,
    cache: u16,
    need: u8,
}

/// Performs references under the coherence protocol of a machine.
pub trait TraceOrderDriver {
    /// Sets of a block's words.
    type Words: WordMask;

    /// See [`crate::CacheSystem::locate`].
    fn locate(&self, cache: usize, block: u64) -> FrameLocation;

    /// See [`crate::CacheSystem::hit`].
    fn hit(&mut self, place: FrameLocation, block: u64, words: Self::Words, need: u64) -> bool;

    /// Performs a simple reference that is no such hit. The frame may have the block. Returns
    /// whether the reference was simple.
    fn uncontended(&mut self, access: &BlockAccess<Self::Words>, place: FrameLocation) -> bool;

    /// Performs any reference to a block of this set.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    fn access(&mut self, access: &BlockAccess<Self::Words>, set: usize) -> Result<(), CheckError>;

    /// The counts of references.
    fn cache_counts(&mut self) -> &mut CacheCounts;
}

/// A driver, and the interpretation of rows.
pub struct TraceOrderEngine<D> {
    /// Performs the references.
    pub driver: D,
    meaning: RowMeaning,
    /// Rows before the batch, with fetches and those left out.
    rows: u64,
}

impl<W: WordMask, D: TraceOrderDriver<Words = W>> TraceOrderEngine<D> {
    /// An engine before the first reference.
    #[must_use]
    pub fn new(driver: D, setup: &TraceOrderSetup<'_>) -> Self {
        Self { driver, meaning: RowMeaning::of(setup), rows: 0 }
    }

    /// Bytes in a block, as a shift.
    #[must_use]
    pub fn shift(&self) -> u32 {
        self.meaning.shift
    }

    /// Performs consecutive rows of a batch. Batches, and the rows of each, must come in the order
    /// of the trace.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, batch: &Batch, rows: Range<usize>) -> Result<(), CheckError> {
        let left_out = self.references(batch, rows.clone())?;
        let counted = rows.len() as u64 - left_out;
        let kernel = self.meaning.kernel_rows(batch, rows.clone());
        let counts = self.driver.cache_counts();
        counts.references += counted;
        counts.block_references += counted;
        counts.kernel.references += kernel;
        self.rows += rows.len() as u64;
        Ok(())
    }

    /// The number of writes among some rows, without those left out.
    #[must_use]
    pub fn writes(&self, batch: &Batch, rows: Range<usize>) -> u64 {
        let pieces = rows.clone().step_by(AHEAD);
        pieces.map(|at| self.meaning.writes(batch, at..(at + AHEAD).min(rows.end))).sum()
    }

    /// Whether the reference is to a private area, by its flags or its address.
    #[inline]
    #[must_use]
    pub fn is_private(&self, addr: u64, flags: u8) -> bool {
        self.meaning.is_private(addr, flags)
    }

    /// Performs the references of a batch, and returns the number of those left out.
    fn references(&mut self, batch: &Batch, rows: Range<usize>) -> Result<u64, CheckError> {
        let mut ahead = [ResolvedRow::default(); AHEAD];
        let mut users = [0; AHEAD];
        let processors = self.meaning.processors;
        let mut user_of_row = batch.turns.row_by_row(rows.start, |thread| thread % processors);
        let mut left_out = 0;
        for begin in rows.clone().step_by(AHEAD) {
            let end = (begin + AHEAD).min(rows.end);
            // Not in `look_ahead`, whose loop has no register left.
            for (user, of_row) in users[..end - begin].iter_mut().zip(&mut user_of_row) {
                *user = of_row;
            }
            if self.meaning.takes_all(batch, begin..end) {
                self.look_ahead::<true>(batch, begin..end, &users, &mut ahead);
            } else {
                self.look_ahead::<false>(batch, begin..end, &users, &mut ahead);
            }
            for (nth, ahead) in ahead[..end - begin].iter().enumerate() {
                if ahead.need >= LEFT_OUT {
                    if ahead.need & LEFT_OUT != 0 {
                        left_out += 1;
                    } else {
                        self.straddle(batch, begin + nth, ahead.cache, rows.start)?;
                    }
                    continue;
                }
                let place = FrameLocation { set: ahead.set, frame: ahead.guess };
                if self.driver.hit(place, ahead.block, ahead.words, u64::from(ahead.need)) {
                    continue;
                }
                let row = begin + nth;
                let access = self.block_access(batch, row, ahead);
                if !self.driver.uncontended(&access, place) {
                    let set = ahead.set;
                    self.slow(&access, set, row - rows.start)?;
                }
            }
        }
        Ok(left_out)
    }

    /// Decodes some rows and locates them in the caches. With `ALL`, flags exclude none of them.
    #[inline]
    fn look_ahead<const ALL: bool>(
        &self,
        batch: &Batch,
        rows: Range<usize>,
        users: &[u16; AHEAD],
        ahead: &mut [ResolvedRow<W>; AHEAD],
    ) {
        let RowMeaning { further, shift, offset_mask, need, .. } = &self.meaning;
        let (kinds, sizes) = (&batch.kind[rows.clone()], &batch.size[rows.clone()]);
        let row = batch.addr[rows.clone()].iter().zip(users).zip(kinds.iter().zip(sizes));
        for (nth, (((&addr, &user), (&kind, &size)), ahead)) in row.zip(ahead).enumerate() {
            let cache = user + further[usize::from(kind)];
            let block = addr >> shift;
            let begin = addr & offset_mask;
            let last = begin + u64::from(size.saturating_sub(1));
            // A reference that ends beyond its block straddles.
            let beyond = u8::try_from(last >> shift & 0xff).unwrap_or(0);
            let mut need = need[usize::from(kind)] | beyond << STRADDLES_SHIFT;
            if !ALL && !self.meaning.nature(batch, rows.start + nth).taken {
                need = LEFT_OUT;
            }
            let words = W::of_bytes(begin, last);
            let FrameLocation { set, frame: guess } = self.driver.locate(usize::from(cache), block);
            *ahead = ResolvedRow { block, set, guess, words, cache, need };
        }
    }

    /// A reference to one block.
    #[inline]
    fn block_access(&self, batch: &Batch, row: usize, ahead: &ResolvedRow<W>) -> BlockAccess<W> {
        let flags = batch.flags.get(row).copied().unwrap_or(0);
        BlockAccess {
            cache: usize::from(ahead.cache),
            block: ahead.block,
            words: ahead.words,
            write: u64::from(ahead.need) == MAY_WRITE,
            private: self.is_private(batch.addr[row], flags),
            flags: Flags(flags),
        }
    }

    /// Performs a reference to one block that may need a transaction or affect other caches. `row`
    /// counts from the first row of this call.
    #[inline(never)]
    fn slow(&mut self, access: &BlockAccess<W>, set: usize, row: usize) -> Result<(), CheckError> {
        let done = self.driver.access(access, set);
        done.map_err(|error| self.located(error, access.block, row))
    }

    /// Performs a reference that may touch several blocks. `first` is the first row of this call,
    /// from which the rows of errors are counted.
    #[cold]
    fn straddle(
        &mut self,
        batch: &Batch,
        row: usize,
        cache: u16,
        first: usize,
    ) -> Result<(), CheckError> {
        let RowMeaning { shift, offset_mask, .. } = self.meaning;
        let addr = batch.addr[row];
        let end = addr.saturating_add(u64::from(batch.size[row]).saturating_sub(1));
        let flags = batch.flags.get(row).copied().unwrap_or(0);
        let need = self.meaning.need[usize::from(batch.kind[row])];
        for block in addr >> shift..=end >> shift {
            let begin = addr.max(block << shift);
            let last = end.min((block << shift) | offset_mask);
            let word = |at| W::word(at & offset_mask);
            let access = BlockAccess {
                cache: usize::from(cache),
                block,
                words: W::range(word(begin), word(last)),
                write: u64::from(need) & MAY_WRITE != 0,
                private: self.is_private(begin, flags),
                flags: Flags(flags),
            };
            let FrameLocation { set, .. } = self.driver.locate(access.cache, block);
            let done = self.driver.access(&access, set);
            done.map_err(|error| self.located(error, block, row - first))?;
        }
        // The reference itself is counted in `push`.
        self.driver.cache_counts().block_references += (end >> shift) - (addr >> shift);
        Ok(())
    }

    /// Adds the place in the trace to an error.
    #[cold]
    fn located(&self, error: CheckError, block: u64, row: usize) -> CheckError {
        let base = block << self.meaning.shift;
        error.located(self.rows + row as u64, base, self.meaning.processors)
    }
}
