//! What happens when a reference is not quiet: the frame is found or made free.

use super::CheckError;
use super::counts::{Counts, Misses};
use super::directory::{Directory, Record};
use super::frames::{Frame, Frames, QUIET_READ, QUIET_WRITE, READ, Story, WRITTEN};
use super::note::Deed;
use super::quiet::{Leaving, Quiet};
use super::setup::{MissRule, Setup, SetupError};
use super::shadow::Shadow;
use super::words::Words;
use crate::table::Table;
use crate::vocabulary::{Area, Cell, Event};

/// A reference to one block.
#[derive(Clone, Copy)]
pub(crate) struct Piece<W> {
    /// The cache that it goes to.
    pub(crate) cache: usize,
    pub(crate) block: u64,
    pub(crate) words: W,
    pub(crate) write: bool,
    pub(crate) private: bool,
    pub(crate) kernel: bool,
}

/// A frame and the number of its block in the directory.
pub(super) type Place = (usize, u32);
/// A cache and the frame of its copy.
pub(super) type Holder = (usize, usize);

impl<W> Piece<W> {
    pub(super) fn area(&self) -> Area {
        if self.private { Area::Private } else { Area::Shared }
    }
}

/// All caches, what connects them, and what was counted.
pub(crate) struct Bus<F, W> {
    pub(crate) frames: F,
    pub(crate) counts: Counts,
    pub(super) table: Table,
    pub(super) quiet: Quiet,
    pub(super) directory: Directory,
    pub(super) rule: MissRule,
    pub(super) shadow: Option<Shadow>,
    /// What the table was asked and said, if somebody looks on.
    pub(super) log: Option<Vec<Deed>>,
    /// The other caches' copies of the block in question.
    pub(super) others: Vec<Holder>,
    pub(super) words: std::marker::PhantomData<W>,
}

impl<F: Frames<W>, W: Words> Bus<F, W> {
    pub(crate) fn new(setup: &Setup, table: Table) -> Result<Self, SetupError> {
        let (block, shapes) = setup.shapes()?;
        let words = usize::try_from(block.words()).unwrap_or(usize::MAX);
        let frames = F::new(&shapes);
        Ok(Self {
            counts: Counts::default(),
            // Values that are carried along are for the table to move.
            quiet: if setup.check { Quiet::nothing() } else { Quiet::of(&table) },
            table,
            directory: Directory::new(shapes.len()),
            rule: setup.rule,
            shadow: setup.check.then(|| Shadow::new(words, frames.all().len())),
            log: None,
            others: Vec::with_capacity(shapes.len()),
            frames,
            words: std::marker::PhantomData,
        })
    }

    #[inline]
    pub(super) fn frame(&mut self, frame: usize) -> &mut Frame<W> {
        &mut self.frames.all_mut()[frame]
    }

    /// Does a reference to a frame that may have the block, if it needs nobody, as `need` says.
    /// Returns whether that was so.
    #[inline]
    pub(crate) fn quiet(
        &mut self,
        (set, at): (usize, usize),
        (block, words): (u64, W),
        need: u64,
    ) -> bool {
        let frame = &mut self.frames.all_mut()[at];
        let quiet = frame.allows(block, need);
        if quiet {
            frame.marks[usize::from(need & QUIET_WRITE != 0)].add(words);
            self.frames.touch(set, at);
        }
        quiet
    }

    /// A reference, quiet or not, to a block of this set.
    pub(crate) fn reference(&mut self, piece: &Piece<W>, set: usize) -> Result<(), CheckError> {
        let found = self.frames.find(set, piece.block);
        let Some(at) = found.filter(|&at| self.frames.all()[at].state != 0) else {
            return match self.miss(piece, (set, found))? {
                Some((at, number)) => self.follow(piece, (at, number)),
                None => Ok(()),
            };
        };
        self.frames.touch(set, at);
        if self.open_miss(piece, at) {
            return Ok(());
        }
        let number = self.frame(at).number;
        self.follow(piece, (at, number))
    }

    /// A reference to what a frame has, done as the table says.
    fn follow(&mut self, piece: &Piece<W>, (at, number): Place) -> Result<(), CheckError> {
        let event = if piece.write { Event::Write } else { Event::Read };
        while self.event(piece, (at, number), event)?.again {}
        self.frame(at).marks[mark(piece.write)].add(piece.words);
        match &mut self.shadow {
            Some(shadow) if !piece.write => {
                let stale = shadow.read((at, number), piece.words);
                stale.map_or(Ok(()), |address| Err(CheckError::stale(piece.cache, address)))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the reference needs a transaction, by the states that all copies are in now.
    pub(crate) fn asks(&mut self, piece: &Piece<W>) -> bool {
        let set = self.frames.set(piece.cache, piece.block);
        let found = self.frames.find(set, piece.block).map(|at| *self.frame(at));
        let Some(frame) = found.filter(|frame| frame.state != 0) else { return true };
        let holders = self.directory.get(frame.number).holders & !(1 << piece.cache);
        let copies = self.copies(piece, holders);
        let condition = self.table.condition(copies, piece.area());
        let event = if piece.write { Event::Write } else { Event::Read };
        match self.table.cell(frame.state, event, condition) {
            Cell::Does(action) => action.transaction.is_some(),
            Cell::Impossible(_) => true,
        }
    }

    /// Puts the copy in a state, and says in the label what its holder may do unasked.
    #[inline]
    pub(super) fn become_state(&mut self, at: usize, state: u8) {
        let bits = self.quiet.bits(state);
        let frame = self.frame(at);
        frame.state = state;
        // An open miss has to see every reference until it is known what it was.
        frame.allow(if frame.story.open().is_some() { 0 } else { bits });
    }

    /// An open miss is true sharing once a word is touched that others wrote. Returns whether the
    /// reference is quiet but for that, and done.
    fn open_miss(&mut self, piece: &Piece<W>, at: usize) -> bool {
        let frame = self.frame(at);
        let Some(kernel) = frame.story.open() else { return false };
        let state = frame.state;
        if frame.fresh.meets(piece.words) {
            frame.story = Story::None;
            self.become_state(at, state);
            self.count_miss(kernel, |misses| &mut misses.invalidation_true);
        }
        let need = if piece.write { QUIET_WRITE } else { QUIET_READ };
        let quiet = self.quiet.bits(state) & need != 0;
        if quiet {
            self.frame(at).marks[mark(piece.write)].add(piece.words);
        }
        quiet
    }

    #[inline]
    fn count_miss(&mut self, kernel: bool, field: impl Fn(&mut Misses) -> &mut u64) {
        *field(&mut self.counts.misses) += 1;
        if kernel {
            *field(&mut self.counts.kernel.misses) += 1;
        }
    }

    /// Says why there is no copy, and makes room. Where no other cache has one either, that is all;
    /// else the frame is left in the invalid state.
    #[inline]
    fn miss(
        &mut self,
        piece: &Piece<W>,
        (set, lost): (usize, Option<usize>),
    ) -> Result<Option<Place>, CheckError> {
        let own = 1 << piece.cache;
        let (at, number) = match lost {
            Some(at) => (at, self.frame(at).number),
            None => (self.frames.victim(set), self.directory.number(piece.block)),
        };
        // Making room changes the record of another block only.
        let mut record = self.directory.get(number);
        let story = match lost {
            Some(at) => self.invalidation_miss(piece, at, record),
            None => {
                let had = record.ever & own != 0;
                self.counts.misses.add_cold_or_replacement(had);
                if piece.kernel {
                    self.counts.kernel.misses.add_cold_or_replacement(had);
                }
                self.replace(piece.cache, at)?;
                Story::None
            }
        };
        record.lost &= !own;
        record.ever |= own;
        let alone =
            if record.holders == 0 { self.quiet.alone(piece.write, piece.private) } else { None };
        if alone.is_some() {
            record.holders = own;
        }
        self.directory.put(number, record);
        let fresh = self.frame(at).fresh;
        let frame = Frame { story, fresh, ..Frame::of(piece.block, number) };
        self.frames.fill((set, at), piece.block, frame);
        let Some(fetch) = alone else { return Ok(Some((at, number))) };
        self.frame(at).marks[mark(piece.write)] = piece.words;
        self.become_state(at, fetch.state);
        let all = &mut self.counts.transactions;
        all.read_invalidate_memory += u64::from(fetch.invalidate);
        all.read_block_memory += u64::from(!fetch.invalidate);
        Ok(None)
    }

    /// A miss on a frame that lost its copy to another processor. Returns what is still open.
    fn invalidation_miss(&mut self, piece: &Piece<W>, at: usize, record: Record) -> Story {
        self.tell_writes(piece.block, record);
        let Frame { story, fresh, .. } = *self.frame(at);
        let field: fn(&mut Misses) -> &mut u64 = if story == Story::Removed {
            |misses| &mut misses.removal
        } else if piece.private {
            |misses| &mut misses.invalidation_passive
        } else if fresh.meets(piece.words) {
            |misses| &mut misses.invalidation_true
        } else if self.rule == MissRule::Torrellas || fresh.is_empty() {
            |misses| &mut misses.invalidation_false
        } else {
            return if piece.kernel { Story::OpenKernel } else { Story::Open };
        };
        self.count_miss(piece.kernel, field);
        Story::None
    }

    /// Takes what is in a frame out of it.
    #[inline]
    fn replace(&mut self, cache: usize, at: usize) -> Result<(), CheckError> {
        let frame = *self.frame(at);
        if !frame.is_used() {
            return Ok(());
        }
        let own = 1 << cache;
        let mut record = self.directory.get(frame.number);
        if frame.state != 0 {
            if record.lost != 0 {
                self.tell_writes(frame.block(), record);
            }
            let leaving = self.quiet.leaves(frame.state);
            if leaving == Leaving::AsTheTableSays {
                record = self.replace_by_table(cache, (at, frame.number), frame.block())?;
            } else {
                let written = u64::from(leaving == Leaving::WrittenBack);
                self.counts.transactions.update_block += written;
            }
            self.end_life(at);
        }
        record.lost &= !own;
        record.holders &= !own;
        self.directory.put(frame.number, record);
        Ok(())
    }

    #[cold]
    fn replace_by_table(
        &mut self,
        cache: usize,
        place: Place,
        block: u64,
    ) -> Result<Record, CheckError> {
        let words = W::default();
        let piece = Piece { cache, block, words, write: false, private: false, kernel: false };
        self.event(&piece, place, Event::Replace)?;
        Ok(self.directory.get(place.1))
    }

    /// A copy is gone: a miss that is still open was false sharing.
    #[inline]
    pub(super) fn end_life(&mut self, at: usize) {
        if let Some(kernel) = std::mem::take(&mut self.frame(at).story).open() {
            self.count_miss(kernel, |misses| &mut misses.invalidation_false);
        }
    }

    /// Ends all lives, at the end of the trace.
    pub(crate) fn close(&mut self) {
        for at in 0..self.frames.all().len() {
            self.end_life(at);
        }
    }
}

/// Position in [`Frame::marks`].
#[inline]
fn mark(write: bool) -> usize {
    if write { WRITTEN } else { READ }
}
