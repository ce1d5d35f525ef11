//! The counting engine of `--order trace`: each reference completes before the next one begins.
//!
//! A reference that changes nothing but the order of use is settled by a look at the frame that its
//! set used last, or by one search of the set, which compares eight tags at a time. All others go
//! through the protocol's table (`events.rs`).

mod cache;
mod counts;
mod directory;
pub(crate) mod events;
pub(crate) mod frames;
mod note;
mod setup;
mod shadow;
mod watch;
pub(crate) mod words;

use homenode_base::{AccessKind, Flags};
use homenode_trace::Batch;

pub use counts::{Counts, KernelPart, Misses, Sharing, Transactions};
pub use directory::PROCESSORS_MAX;
pub(crate) use note::Deed;
pub use setup::{MissRule, Reading, Setup, SetupError};
pub(crate) use watch::{Loss, Watch};

use crate::table::Table;
use events::{Bus, Piece};
use frames::{FEW_MAX, Few, Frames, Many, QUIET_READ, QUIET_WRITE};
use words::{Words, word};

/// A protocol that does not do what it promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A read returned an old value.
    #[error(
        "reference {reference} of the trace: processor {processor} reads a stale value at address \
         {address:#x}; the protocol is wrong (homenode check-protocol)"
    )]
    Stale {
        /// Number of the reference in the trace, fetches included, from 0.
        reference: u64,
        /// The processor that reads.
        processor: u16,
        /// The word.
        address: u64,
    },
    /// Something happened that the protocol declares impossible.
    #[error(
        "reference {reference} of the trace: processor {processor} at address {address:#x}: \
         {what}; the protocol is wrong (homenode check-protocol)"
    )]
    Impossible {
        /// Number of the reference in the trace, fetches included, from 0.
        reference: u64,
        /// The processor.
        processor: u16,
        /// The block.
        address: u64,
        /// What happened.
        what: &'static str,
    },
}

/// Counts what one protocol does in one machine, in the order of the trace.
///
/// Time: a reference that hits quietly is one or two comparisons, or a search of its set; any other
/// takes a look at every cache with a copy. Memory: the caches' frames, and some 50 bytes for every
/// block of the trace.
pub struct Counter(Box<dyn Work>);

impl Counter {
    /// A machine with empty caches.
    ///
    /// # Errors
    /// When there can be no such machine.
    pub fn new(setup: &Setup, table: Table) -> Result<Self, SetupError> {
        let (block, _, ways) = setup.geometry()?;
        let few = ways as u64 <= FEW_MAX;
        Ok(Self(match (block.words(), few) {
            (..=32, true) => Box::new(Engine::<Few, u32>::new(setup, table)?),
            (..=64, true) => Box::new(Engine::<Few, u64>::new(setup, table)?),
            (_, true) => Box::new(Engine::<Few, [u64; 4]>::new(setup, table)?),
            (..=32, false) => Box::new(Engine::<Many, u32>::new(setup, table)?),
            (..=64, false) => Box::new(Engine::<Many, u64>::new(setup, table)?),
            (_, false) => Box::new(Engine::<Many, [u64; 4]>::new(setup, table)?),
        }))
    }

    /// Adds the references of a batch. Batches come in the order of the trace.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    pub fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        self.0.push(batch)
    }

    /// What was counted.
    #[must_use]
    pub fn finish(self) -> Counts {
        self.0.finish()
    }
}

/// [`Counter`] for one arrangement of frames and one size of blocks.
trait Work: Send {
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError>;
    fn finish(self: Box<Self>) -> Counts;
}

/// Numbers that threads may have.
const THREADS: usize = 1 << 16;

struct Engine<F, W> {
    bus: Bus<F, W>,
    shift: u32,
    /// Bytes in a block, less 1.
    offset_mask: u64,
    /// The processor of each thread.
    place: Box<[u8; THREADS]>,
    /// What a copy must allow for a reference of each kind to be quiet; 0 if the kind is left out.
    need: [u64; 256],
    /// Whether references with these flags are counted.
    takes: [bool; 256],
    /// Whether some flags are left out.
    chooses: bool,
    private: Vec<std::ops::Range<u64>>,
    private_kernel: bool,
    private_flag: Flags,
    /// Whether no reference is quiet, because all of them are checked.
    check: bool,
    /// Rows before the batch, fetches and what is left out included.
    rows: u64,
}

impl<F: Frames, W: Words> Engine<F, W> {
    fn new(setup: &Setup, table: Table) -> Result<Self, SetupError> {
        let (block, _, _) = setup.geometry()?;
        let reading = setup.reading;
        let mut place = Box::new([0; THREADS]);
        for (thread, place) in (0..=u16::MAX).zip(place.iter_mut()) {
            *place = u8::try_from(thread % setup.processors).unwrap_or(0);
        }
        let mut need = [0; 256];
        for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Atomic] {
            need[usize::from(kind.code())] = if kind.writes() { QUIET_WRITE } else { QUIET_READ };
        }
        if reading.fetches {
            need[usize::from(AccessKind::Fetch.code())] = QUIET_READ;
        }
        let mut takes = [true; 256];
        for (bits, takes) in (0..=u8::MAX).zip(takes.iter_mut()) {
            let has = |flag| Flags(bits).contains(flag);
            *takes = (reading.private || !has(Flags::PRIVATE))
                && (reading.synchronisation || !has(Flags::SYNC));
        }
        let mut private = setup.private.clone();
        private.sort_by_key(|range| range.start);
        Ok(Self {
            bus: Bus::new(setup, table)?,
            shift: block.bytes().trailing_zeros(),
            offset_mask: block.bytes() - 1,
            place,
            need,
            chooses: !(reading.private && reading.synchronisation),
            takes,
            private,
            private_kernel: reading.private_kernel,
            private_flag: if reading.private_areas { Flags::PRIVATE } else { Flags(0) },
            check: setup.check,
            rows: 0,
        })
    }

    /// Whether the reference is to a private area: its flag says so, or its address.
    fn is_private(&self, addr: u64, flags: Flags) -> bool {
        if flags.contains(Flags::KERNEL) && !self.private_kernel {
            return false;
        }
        let flagged = self.private_flag != Flags(0) && flags.contains(self.private_flag);
        flagged || self.private.iter().any(|range| range.contains(&addr))
    }

    /// A reference to one block that is not quiet, with the frame that has or had the block.
    #[inline(never)]
    fn slow(
        &mut self,
        (batch, row): (&Batch, usize),
        (block, words): (u64, W),
        found: Option<usize>,
    ) -> Result<(), CheckError> {
        let piece = self.piece((batch, row), (block, words), batch.addr[row]);
        let done = self.bus.reference(&piece, found);
        done.map_err(|error| self.located(error, block, row))
    }

    /// A reference that may touch several blocks.
    #[cold]
    fn straddle(&mut self, batch: &Batch, row: usize) -> Result<(), CheckError> {
        let (addr, end) = ends(batch.addr[row], batch.size[row]);
        for block in addr >> self.shift..=end >> self.shift {
            let begin = addr.max(block << self.shift);
            let last = end.min((block << self.shift) | ((1 << self.shift) - 1));
            let words = self.words(begin, last);
            let piece = self.piece((batch, row), (block, words), begin);
            let found = self.bus.caches[piece.processor].frames.find(block);
            let done = self.bus.reference(&piece, found);
            done.map_err(|error| self.located(error, block, row))?;
        }
        // The reference itself is counted in `push`.
        self.bus.counts.block_references += (end >> self.shift) - (addr >> self.shift);
        Ok(())
    }

    /// The part of a row's reference that is in one block and begins at an address.
    #[inline]
    fn piece(
        &self,
        (batch, row): (&Batch, usize),
        (block, words): (u64, W),
        begin: u64,
    ) -> Piece<W> {
        let flags = Flags(batch.flags.get(row).copied().unwrap_or(0));
        Piece {
            processor: usize::from(self.place[usize::from(batch.thread[row])]),
            block,
            words,
            write: self.need[usize::from(batch.kind[row])] == QUIET_WRITE,
            private: self.is_private(begin, flags),
            kernel: flags.contains(Flags::KERNEL),
        }
    }

    /// The words of a block from one address to another.
    fn words(&self, begin: u64, last: u64) -> W {
        W::range(word(begin & self.offset_mask), word(last & self.offset_mask))
    }

    /// Says where in the trace something went wrong.
    #[cold]
    fn located(&self, error: CheckError, block: u64, row: usize) -> CheckError {
        let at = self.rows + row as u64;
        let base = block << self.shift;
        match error {
            CheckError::Stale { processor, address, .. } => {
                CheckError::Stale { reference: at, processor, address: base + address }
            }
            CheckError::Impossible { processor, what, .. } => {
                CheckError::Impossible { reference: at, processor, address: base, what }
            }
        }
    }

    /// Does a quiet reference.
    #[inline]
    fn look(&mut self, (processor, need): (usize, u64), addr: u64, size: u8) -> Look<W> {
        let block = addr >> self.shift;
        let first = addr & self.offset_mask;
        let last = first + u64::from(size.max(1)) - 1;
        if last > self.offset_mask {
            return Look::Straddles;
        }
        let words = W::range(word(first), word(last));
        match self.bus.caches[processor].quiet((block, words), need) {
            Ok(()) => Look::Done,
            Err(found) => Look::Found((block, words), found),
        }
    }
}

/// What a look at the cache says about a reference.
enum Look<W> {
    /// It was quiet.
    Done,
    /// It is not; these are its block and words, and the frame that has or had the block.
    Found((u64, W), Option<usize>),
    /// It touches several blocks.
    Straddles,
}

/// The first and the last byte of a reference.
#[inline]
fn ends(addr: u64, size: u8) -> (u64, u64) {
    (addr, addr.saturating_add(u64::from(size).saturating_sub(1)))
}

impl<F: Frames, W: Words> Work for Engine<F, W> {
    fn push(&mut self, batch: &Batch) -> Result<(), CheckError> {
        let rows = batch.len();
        let (kinds, sizes) = (&batch.kind[..rows], &batch.size[..rows]);
        let (addrs, threads) = (&batch.addr[..rows], &batch.thread[..rows]);
        let flags = batch.flags.get(..rows).filter(|_| self.chooses);
        let mut left_out = 0;
        for row in 0..rows {
            let need = self.need[usize::from(kinds[row])];
            if need == 0 || flags.is_some_and(|f| !self.takes[usize::from(f[row])]) {
                left_out += 1;
                continue;
            }
            let processor = usize::from(self.place[usize::from(threads[row])]);
            if self.check {
                self.straddle(batch, row)?;
                continue;
            }
            match self.look((processor, need), addrs[row], sizes[row]) {
                Look::Done => {}
                Look::Found(part, found) => self.slow((batch, row), part, found)?,
                Look::Straddles => self.straddle(batch, row)?,
            }
        }
        let counted = rows as u64 - left_out;
        self.bus.counts.references += counted;
        self.bus.counts.block_references += counted;
        self.bus.counts.kernel.references += self.kernel_rows(batch);
        self.rows += rows as u64;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Counts {
        self.bus.close();
        let mut counts = self.bus.counts;
        counts.hits = counts.block_references - counts.misses.total();
        counts
    }
}

impl<F: Frames, W: Words> Engine<F, W> {
    /// References by the kernel that are counted.
    fn kernel_rows(&self, batch: &Batch) -> u64 {
        let counted = |(&flags, &kind): (&u8, &u8)| {
            let takes = self.need[usize::from(kind)] != 0 && self.takes[usize::from(flags)];
            u64::from(takes && Flags(flags).contains(Flags::KERNEL))
        };
        batch.flags.iter().zip(&batch.kind).map(counted).sum()
    }
}
