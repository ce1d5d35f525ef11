//! The rows of a batch, one reference after the other.

use std::ops::Range;

use homenode_base::{AccessKind, Flags, ReferenceRole};
use homenode_cache::{BlockAccess, CacheArrays, MAY_READ, MAY_WRITE, WordMask};
use homenode_trace::Batch;

use super::CountingEngine;
use crate::counts::BusCounts;
use crate::driver::{CheckError, ProtocolDriver};
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;

/// Numbers that threads may have.
const THREADS: usize = 1 << 16;

/// Rows that are looked at before they are done.
const AHEAD: usize = 64;

/// What a row refers to, and where that may be. Whether a reference hits is often mispredicted, and
/// a misprediction throws away what the processor began ahead: so all that can be known before is
/// found out for many rows at once.
#[derive(Clone, Copy, Default)]
pub(super) struct ResolvedRow<W> {
    pub(super) block: u64,
    pub(super) set: usize,
    guess: usize,
    pub(super) words: W,
    pub(super) cache: u16,
    need: u8,
}

/// In [`ResolvedRow::need`]: the row does not count.
const LEFT_OUT: u8 = 4;
/// In [`ResolvedRow::need`], this or a higher bit: the row may touch several blocks, or is checked.
const STRADDLES_SHIFT: u32 = 3;

/// What flags say of a reference.
#[derive(Clone, Copy, Default)]
struct FlagMeaning {
    private: bool,
    kernel: bool,
    /// Whether the reference counts.
    taken: bool,
}

/// The caches, and how rows are to be read.
pub(super) struct TraceOrderEngine<F, W, const WORDS: usize> {
    pub(super) driver: ProtocolDriver<F, W, WORDS>,
    pub(super) shift: u32,
    /// Bytes in a block, less 1.
    offset_mask: u64,
    /// The cache of each thread, and how much further it is for references of each kind.
    place: Box<[u16; THREADS]>,
    further: [u16; 256],
    processors: u16,
    /// What a copy must permit for a reference of each kind to be a hit, or `LEFT_OUT`.
    need: [u8; 256],
    /// By flags.
    nature: [FlagMeaning; 256],
    private: Vec<Range<u64>>,
    private_kernel: bool,
    /// Rows before the batch, fetches and what is left out included.
    rows: u64,
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> TraceOrderEngine<F, W, WORDS> {
    pub(super) fn new(setup: &BusSetup, table: ProtocolTable) -> Result<Self, BusSetupError> {
        let (block, _) = setup.geometry()?;
        let mut place = Box::new([0; THREADS]);
        for (thread, place) in (0..=u16::MAX).zip(place.iter_mut()) {
            *place = thread % setup.processors;
        }
        let mut further = [0; 256];
        let instructions = if setup.instructions.is_some() { setup.processors } else { 0 };
        further[usize::from(AccessKind::Fetch.code())] = instructions;
        let mut need = [LEFT_OUT; 256];
        // Where reads are checked, every reference has to go by the table.
        let checked = u8::from(setup.check) << STRADDLES_SHIFT;
        for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch] {
            let permission = if kind.writes() { MAY_WRITE } else { MAY_READ };
            if kind != AccessKind::Fetch || setup.filter.fetches {
                need[usize::from(kind.code())] = checked | u8::try_from(permission).unwrap_or(0);
            }
        }
        let mut nature = [FlagMeaning::default(); 256];
        for (bits, nature) in (0..=u8::MAX).zip(nature.iter_mut()) {
            let role = setup.filter.role(AccessKind::Read, Flags(bits));
            let kernel = Flags(bits).contains(Flags::KERNEL);
            let private = role == ReferenceRole::Private && (!kernel || setup.private_kernel);
            let taken = role != ReferenceRole::Excluded;
            *nature = FlagMeaning { private, kernel, taken };
        }
        let mut private = setup.private.clone();
        private.sort_by_key(|range| range.start);
        Ok(Self {
            driver: ProtocolDriver::new(setup, table)?,
            shift: block.bytes().trailing_zeros(),
            offset_mask: block.bytes() - 1,
            place,
            further,
            processors: setup.processors,
            need,
            nature,
            private,
            private_kernel: setup.private_kernel,
            rows: 0,
        })
    }

    /// Whether the reference is to a private area: its flag says so, or its address.
    #[inline]
    pub(super) fn is_private(&self, addr: u64, flags: u8) -> bool {
        let FlagMeaning { private, kernel, .. } = self.nature[usize::from(flags)];
        let user = !kernel || self.private_kernel;
        private || (user && self.private.iter().any(|range| range.contains(&addr)))
    }

    /// Does the references of a batch that count, and returns how many do not. If the batch is
    /// `PLAIN`, it has no flags, and no address says that its area is private.
    fn references<const PLAIN: bool>(&mut self, batch: &Batch) -> Result<u64, CheckError> {
        let mut ahead = [ResolvedRow::default(); AHEAD];
        let mut left_out = 0;
        for begin in (0..batch.len()).step_by(AHEAD) {
            let end = (begin + AHEAD).min(batch.len());
            self.look_ahead::<PLAIN>(batch, begin..end, &mut ahead);
            for (nth, ahead) in ahead[..end - begin].iter().enumerate() {
                if ahead.need >= LEFT_OUT {
                    if ahead.need & LEFT_OUT != 0 {
                        left_out += 1;
                    } else {
                        self.straddle(batch, begin + nth)?;
                    }
                    continue;
                }
                let place = (ahead.set, ahead.guess);
                if self.driver.hit(place, (ahead.block, ahead.words), u64::from(ahead.need)) {
                    continue;
                }
                let row = begin + nth;
                let access = self.block_access::<PLAIN>(batch, row, ahead);
                if !self.driver.uncontended(&access, place) {
                    self.slow::<PLAIN>(batch, row, ahead)?;
                }
            }
        }
        Ok(left_out)
    }

    /// Finds out what some rows refer to, and where in the caches that may be.
    #[inline]
    fn look_ahead<const PLAIN: bool>(
        &self,
        batch: &Batch,
        rows: Range<usize>,
        ahead: &mut [ResolvedRow<W>; AHEAD],
    ) {
        let (kinds, sizes) = (&batch.kind[rows.clone()], &batch.size[rows.clone()]);
        let (addrs, threads) = (&batch.addr[rows.clone()], &batch.thread[rows.clone()]);
        let row = addrs.iter().zip(threads).zip(kinds.iter().zip(sizes));
        for (nth, (((&addr, &thread), (&kind, &size)), ahead)) in row.zip(ahead).enumerate() {
            let cache = self.place[usize::from(thread)] + self.further[usize::from(kind)];
            let block = addr >> self.shift;
            let begin = addr & self.offset_mask;
            let last = begin + u64::from(size.saturating_sub(1));
            // Whoever ends beyond the block straddles.
            let beyond = u8::try_from(last >> self.shift & 0xff).unwrap_or(0);
            let mut need = self.need[usize::from(kind)] | beyond << STRADDLES_SHIFT;
            if !PLAIN && !self.nature(batch, rows.start + nth).taken {
                need = LEFT_OUT;
            }
            let words = W::range(W::word(begin), W::word(last));
            let (set, guess) = self.driver.caches.locate(usize::from(cache), block);
            *ahead = ResolvedRow { block, set, guess, words, cache, need };
        }
    }

    /// What the flags of a row say.
    #[inline]
    fn nature(&self, batch: &Batch, row: usize) -> FlagMeaning {
        self.nature[usize::from(batch.flags.get(row).copied().unwrap_or(0))]
    }

    /// A reference to one block.
    #[inline]
    fn block_access<const PLAIN: bool>(
        &self,
        batch: &Batch,
        row: usize,
        ahead: &ResolvedRow<W>,
    ) -> BlockAccess<W> {
        let flags = if PLAIN { 0 } else { batch.flags.get(row).copied().unwrap_or(0) };
        BlockAccess {
            cache: usize::from(ahead.cache),
            block: ahead.block,
            words: ahead.words,
            write: u64::from(ahead.need) == MAY_WRITE,
            private: !PLAIN && self.is_private(batch.addr[row], flags),
            kernel: !PLAIN && self.nature[usize::from(flags)].kernel,
        }
    }

    /// A reference to one block that needs a transaction and perhaps concerns others.
    #[inline(never)]
    fn slow<const PLAIN: bool>(
        &mut self,
        batch: &Batch,
        row: usize,
        ahead: &ResolvedRow<W>,
    ) -> Result<(), CheckError> {
        let access = self.block_access::<PLAIN>(batch, row, ahead);
        let done = self.driver.access(&access, ahead.set);
        done.map_err(|error| self.located(error, access.block, row))
    }

    /// A reference that may touch several blocks.
    #[cold]
    fn straddle(&mut self, batch: &Batch, row: usize) -> Result<(), CheckError> {
        let addr = batch.addr[row];
        let end = addr.saturating_add(u64::from(batch.size[row]).saturating_sub(1));
        let flags = batch.flags.get(row).copied().unwrap_or(0);
        let (kind, thread) = (usize::from(batch.kind[row]), usize::from(batch.thread[row]));
        let need = self.need[kind];
        for block in addr >> self.shift..=end >> self.shift {
            let begin = addr.max(block << self.shift);
            let last = end.min((block << self.shift) | self.offset_mask);
            let word = |at| W::word(at & self.offset_mask);
            let access = BlockAccess {
                cache: usize::from(self.place[thread] + self.further[kind]),
                block,
                words: W::range(word(begin), word(last)),
                write: u64::from(need) & MAY_WRITE != 0,
                private: self.is_private(begin, flags),
                kernel: self.nature[usize::from(flags)].kernel,
            };
            let set = self.driver.caches.frames.set_of(access.cache, block);
            let done = self.driver.access(&access, set);
            done.map_err(|error| self.located(error, block, row))?;
        }
        // The reference itself is counted in `push`.
        self.driver.caches.counts.block_references += (end >> self.shift) - (addr >> self.shift);
        Ok(())
    }

    /// Says where in the trace something went wrong.
    #[cold]
    fn located(&self, error: CheckError, block: u64, row: usize) -> CheckError {
        let at = self.rows + row as u64;
        let base = block << self.shift;
        match error {
            CheckError::Stale { processor: cache, address, .. } => {
                let processor = cache % self.processors;
                CheckError::Stale { reference: at, processor, address: base + address }
            }
            CheckError::Impossible { processor: cache, what, .. } => {
                let processor = cache % self.processors;
                CheckError::Impossible { reference: at, processor, address: base, what }
            }
        }
    }

    /// References by the kernel that are counted.
    fn kernel_rows(&self, batch: &Batch) -> u64 {
        let counted = |(&flags, &kind): (&u8, &u8)| {
            let FlagMeaning { kernel, taken, .. } = self.nature[usize::from(flags)];
            u64::from(kernel && taken && self.need[usize::from(kind)] & LEFT_OUT == 0)
        };
        batch.flags.iter().zip(&batch.kind).map(counted).sum()
    }
}

impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> CountingEngine
    for TraceOrderEngine<F, W, WORDS>
{
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        let left_out = if batch.flags.is_empty() && self.private.is_empty() {
            self.references::<true>(batch)?
        } else {
            self.references::<false>(batch)?
        };
        let counted = batch.len() as u64 - left_out;
        self.driver.caches.counts.references += counted;
        self.driver.caches.counts.block_references += counted;
        self.driver.caches.counts.kernel.references += self.kernel_rows(batch);
        self.rows += batch.len() as u64;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> BusCounts {
        self.driver.finish()
    }
}
