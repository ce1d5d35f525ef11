//! What happens when a reference is not quiet: misses, transactions, and whose sharing they are.

use super::CheckError;
use super::cache::{Cache, Leaving, Quiet, READ, Story, WRITTEN};
use super::counts::{Counts, Misses, Sharing};
use super::directory::{Directory, Record, Set, members};
use super::frames::{Frames, QUIET_READ, QUIET_WRITE, block_of, is_used};
use super::note::{Deed, Echo};
use super::setup::{MissRule, Setup, SetupError};
use super::shadow::{Place, Shadow};
use super::words::Words;
use crate::table::Table;
use crate::vocabulary::{Action, Area, Cell, Copies, Event, Reply, Signal, Source, Transaction};

/// A reference to one block.
#[derive(Clone, Copy)]
pub(crate) struct Piece<W> {
    pub(crate) processor: usize,
    pub(crate) block: u64,
    pub(crate) words: W,
    pub(crate) write: bool,
    pub(crate) private: bool,
    pub(crate) kernel: bool,
}

impl<W> Piece<W> {
    fn area(&self) -> Area {
        if self.private { Area::Private } else { Area::Shared }
    }
}

/// All caches, what connects them, and what was counted.
pub(crate) struct Bus<F, W> {
    pub(crate) caches: Vec<Cache<F, W>>,
    pub(crate) counts: Counts,
    table: Table,
    quiet: Quiet,
    pub(super) directory: Directory,
    rule: MissRule,
    pub(super) shadow: Option<Shadow>,
    /// What the table was asked and said, if somebody looks on.
    pub(super) log: Option<Vec<Deed>>,
    /// Frames of the other caches' copies of the block in question.
    others: Vec<Place>,
}

impl<F: Frames, W: Words> Bus<F, W> {
    pub(crate) fn new(setup: &Setup, table: Table) -> Result<Self, SetupError> {
        let (block, sets, ways) = setup.geometry()?;
        let processors = usize::from(setup.processors);
        let words = usize::try_from(block.words()).unwrap_or(usize::MAX);
        Ok(Self {
            caches: (0..processors).map(|_| Cache::new(sets, ways)).collect(),
            counts: Counts::default(),
            quiet: Quiet::of(&table),
            table,
            directory: Directory::new(processors),
            rule: setup.rule,
            shadow: None,
            log: None,
            others: Vec::with_capacity(processors),
        }
        .checked(setup.check.then_some(words)))
    }

    /// Carries values along, in blocks of so many words.
    fn checked(mut self, words: Option<usize>) -> Self {
        let frames = self.caches.first().map_or(0, |cache| cache.frames.count());
        self.shadow = words.map(|words| Shadow::new(words, self.caches.len(), frames));
        self
    }

    /// A reference, quiet or not, with the frame that has or had the block.
    pub(crate) fn reference(
        &mut self,
        piece: &Piece<W>,
        found: Option<usize>,
    ) -> Result<(), CheckError> {
        let has_copy = |frame: &usize| self.caches[piece.processor].books[*frame].state != 0;
        let (frame, number) = match found.filter(has_copy) {
            Some(frame) => {
                self.caches[piece.processor].frames.touch(piece.block, frame);
                if self.open_miss(piece, frame) {
                    return Ok(());
                }
                (frame, self.caches[piece.processor].books[frame].number)
            }
            None => match self.miss(piece, found)? {
                Some(place) => place,
                None => return Ok(()),
            },
        };
        let event = if piece.write { Event::Write } else { Event::Read };
        loop {
            let action = self.event(piece, (frame, number), event)?;
            if !action.again {
                break;
            }
        }
        let cache = &mut self.caches[piece.processor];
        cache.marks[frame][if piece.write { WRITTEN } else { READ }].add(piece.words);
        match &mut self.shadow {
            Some(shadow) if !piece.write => {
                shadow.read((piece.processor, frame), number, piece.words)
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the reference needs a transaction, by the states that all copies are in now.
    pub(crate) fn asks(&mut self, piece: &Piece<W>) -> bool {
        let cache = &self.caches[piece.processor];
        let book = cache.frames.find(piece.block).map(|frame| cache.books[frame]);
        let Some(book) = book.filter(|book| book.state != 0) else { return true };
        let holders = self.directory.get(book.number).holders & !(1 << piece.processor);
        let copies = self.copies(piece, holders);
        let condition = self.table.condition(copies, piece.area());
        let event = if piece.write { Event::Write } else { Event::Read };
        match self.table.cell(book.state, event, condition) {
            Cell::Does(action) => action.transaction.is_some(),
            Cell::Impossible(_) => true,
        }
    }

    /// An open miss is true sharing once a word is touched that others wrote. Returns whether the
    /// reference is quiet but for that, and done.
    fn open_miss(&mut self, piece: &Piece<W>, frame: usize) -> bool {
        let cache = &mut self.caches[piece.processor];
        let book = &mut cache.books[frame];
        let Some(kernel) = book.story.open() else { return false };
        let state = book.state;
        if cache.fresh[frame].meets(piece.words) {
            book.story = Story::None;
            cache.become_state(&self.quiet, frame, state);
            self.count_miss(kernel, |misses| &mut misses.invalidation_true);
        }
        let (need, mark) = if piece.write { (QUIET_WRITE, WRITTEN) } else { (QUIET_READ, READ) };
        let quiet = self.quiet.bits(state) & need != 0 && self.shadow.is_none();
        if quiet {
            self.caches[piece.processor].marks[frame][mark].add(piece.words);
        }
        quiet
    }

    fn count_miss(&mut self, kernel: bool, field: impl Fn(&mut Misses) -> &mut u64) {
        *field(&mut self.counts.misses) += 1;
        if kernel {
            *field(&mut self.counts.kernel.misses) += 1;
        }
    }

    /// Says why there is no copy, and makes room. Where no other cache has one either, that is all;
    /// else the frame is left in the invalid state.
    fn miss(
        &mut self,
        piece: &Piece<W>,
        lost: Option<usize>,
    ) -> Result<Option<(usize, u32)>, CheckError> {
        let own = 1 << piece.processor;
        let cache = &mut self.caches[piece.processor];
        let (frame, number) = match lost {
            Some(frame) => (frame, cache.books[frame].number),
            None => (cache.frames.victim(piece.block), self.directory.number(piece.block)),
        };
        // Making room changes the record of another block only.
        let mut record = self.directory.get(number);
        let story = match lost {
            Some(frame) => self.invalidation_miss(piece, frame, record),
            None => {
                let had = record.ever & own != 0;
                self.count_miss(piece.kernel, |misses| {
                    if had { &mut misses.replacement } else { &mut misses.cold }
                });
                self.replace(piece.processor, frame)?;
                Story::None
            }
        };
        record.lost &= !own;
        record.ever |= own;
        let alone = if record.holders == 0 && self.shadow.is_none() {
            self.quiet.alone(piece.write, piece.private)
        } else {
            None
        };
        if alone.is_some() {
            record.holders = own;
        }
        self.directory.put(number, record);
        let cache = &mut self.caches[piece.processor];
        cache.frames.fill(piece.block, frame);
        cache.marks[frame] = [W::default(); 2];
        let book = &mut cache.books[frame];
        (book.state, book.story, book.number) = (0, story, number);
        let Some(fetch) = alone else { return Ok(Some((frame, number))) };
        cache.marks[frame][if piece.write { WRITTEN } else { READ }] = piece.words;
        cache.become_state(&self.quiet, frame, fetch.state);
        let all = &mut self.counts.transactions;
        let count = if fetch.invalidate {
            &mut all.read_invalidate_memory
        } else {
            &mut all.read_block_memory
        };
        *count += 1;
        Ok(None)
    }

    /// A miss on a frame that lost its copy to another processor. Returns what is still open.
    fn invalidation_miss(&mut self, piece: &Piece<W>, frame: usize, record: Record) -> Story {
        self.tell_writes(piece.block, record);
        let cache = &self.caches[piece.processor];
        let (story, fresh) = (cache.books[frame].story, cache.fresh[frame]);
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
    fn replace(&mut self, processor: usize, frame: usize) -> Result<(), CheckError> {
        let label = self.caches[processor].frames.label(frame);
        if !is_used(label) {
            return Ok(());
        }
        let book = &self.caches[processor].books[frame];
        let (state, number, own) = (book.state, book.number, 1 << processor);
        let mut record = self.directory.get(number);
        if state == 0 {
            record.lost &= !own;
            self.directory.put(number, record);
            return Ok(());
        }
        if record.lost != 0 {
            self.tell_writes(block_of(label), record);
        }
        let leaving = match self.shadow {
            Some(_) => Leaving::AsTheTableSays,
            None => self.quiet.leaves(state),
        };
        if leaving == Leaving::WrittenBack {
            self.counts.transactions.update_block += 1;
        } else if leaving == Leaving::AsTheTableSays {
            let piece = Piece {
                processor,
                block: block_of(label),
                words: W::default(),
                write: false,
                private: false,
                kernel: false,
            };
            self.event(&piece, (frame, number), Event::Replace)?;
            record = self.directory.get(number);
        }
        self.end_life(processor, frame);
        record.holders &= !own;
        self.directory.put(number, record);
        Ok(())
    }

    /// A copy is gone: a miss that is still open was false sharing.
    fn end_life(&mut self, processor: usize, frame: usize) {
        let cache = &mut self.caches[processor];
        if let Some(kernel) = std::mem::take(&mut cache.books[frame].story).open() {
            self.count_miss(kernel, |misses| &mut misses.invalidation_false);
        }
    }

    /// Ends all lives, at the end of the trace.
    pub(crate) fn close(&mut self) {
        for processor in 0..self.caches.len() {
            for frame in 0..self.caches[processor].books.len() {
                self.end_life(processor, frame);
            }
        }
    }

    /// Those who lost the block learn which words the holders wrote since.
    fn tell_writes(&mut self, block: u64, record: Record) {
        for holder in members(record.holders) {
            let frame = self.caches[holder].frame(block);
            let written = self.caches[holder].take_written(frame);
            if written.is_empty() {
                continue;
            }
            for loser in members(record.lost) {
                let frame = self.caches[loser].frame(block);
                self.caches[loser].fresh[frame].add(written);
            }
        }
    }

    /// What the table says about an event, done.
    fn event(
        &mut self,
        piece: &Piece<W>,
        (frame, number): (usize, u32),
        event: Event,
    ) -> Result<Action<u8>, CheckError> {
        let state = self.caches[piece.processor].books[frame].state;
        let area = if event == Event::Replace { Area::Shared } else { piece.area() };
        let mut record = self.directory.get(number);
        let copies = self.copies(piece, record.holders & !(1 << piece.processor));
        let condition = self.table.condition(copies, area);
        let action = match self.table.cell(state, event, condition) {
            Cell::Does(action) => action,
            Cell::Impossible(what) => return Err(impossible(piece.processor, what)),
        };
        let place = (piece.processor, frame);
        self.move_data(place, number, action)?;
        if let Some(transaction) = action.transaction {
            self.count(piece, transaction, action.source);
        }
        if let Some(log) = &mut self.log {
            let asked = (state, event, condition);
            let supplier = self.others.first().map(|&(holder, _)| holder);
            log.push(Deed::new(piece.block, asked, (action, supplier)));
        }
        match action.transaction.and_then(|transaction| Signal::of(transaction, area)) {
            Some(signal) => self.signal(piece, (&mut record, number), signal)?,
            None => self.others.clear(),
        }
        if let Some(shadow) = &mut self.shadow
            && event == Event::Write
            && !action.again
        {
            // Those that remain in the list take the word.
            self.others.push(place);
            shadow.write(number, piece.words, &self.others);
        }
        if action.next != state {
            self.caches[piece.processor].become_state(&self.quiet, frame, action.next);
        }
        if action.next != 0 {
            record.holders |= 1 << piece.processor;
        }
        self.directory.put(number, record);
        Ok(action)
    }

    /// Finds the other caches' copies, the owner's first.
    #[inline]
    fn copies(&mut self, piece: &Piece<W>, holders: Set) -> Copies<u8> {
        self.others.clear();
        if holders == 0 {
            return Copies::None;
        }
        let mut owned = false;
        for holder in members(holders) {
            let frame = self.caches[holder].frame(piece.block);
            self.others.push((holder, frame));
            if self.table.role(self.caches[holder].books[frame].state).is_owner() && !owned {
                owned = true;
                let last = self.others.len() - 1;
                self.others.swap(0, last);
            }
        }
        match (&self.others[..], owned) {
            ([], _) => Copies::None,
            (&[(holder, frame)], _) => Copies::One(self.caches[holder].books[frame].state),
            (_, true) => Copies::Owned,
            (_, false) => Copies::Several,
        }
    }

    /// Moves shadow values as the action says.
    fn move_data(
        &mut self,
        place: Place,
        number: u32,
        action: Action<u8>,
    ) -> Result<(), CheckError> {
        let Some(shadow) = &mut self.shadow else { return Ok(()) };
        match (action.source, self.others.first()) {
            (Source::Own, _) if action.transaction == Some(Transaction::UpdateBlock) => {
                shadow.update_memory(place, number);
            }
            (Source::Own, _) => {}
            (Source::Memory, _) => shadow.fetch(place, number),
            (Source::Cache, Some(&supplier)) => shadow.supply(supplier, place),
            (Source::Cache, None) => return Err(impossible(place.0, "no cache has the block")),
        }
        Ok(())
    }

    /// Counts a transaction, and whose sharing it is.
    fn count(&mut self, piece: &Piece<W>, transaction: Transaction, source: Source) {
        let all = &mut self.counts.transactions;
        let (cache, coherence) = (source == Source::Cache, &mut self.counts.coherence);
        match transaction {
            Transaction::ReadBlock if cache => all.read_block_cache += 1,
            Transaction::ReadBlock => all.read_block_memory += 1,
            Transaction::ReadInvalidate if cache => all.read_invalidate_cache += 1,
            Transaction::ReadInvalidate => all.read_invalidate_memory += 1,
            Transaction::UpdateBlock => all.update_block += 1,
            Transaction::Invalidate | Transaction::Write => {
                if transaction == Transaction::Invalidate {
                    all.invalidate += 1;
                } else {
                    all.write += 1;
                }
                let touched = |&(holder, frame): &Place| {
                    self.caches[holder].touched(frame).meets(piece.words)
                };
                let field: fn(&mut Sharing) -> &mut u64 = if piece.private {
                    |sharing| &mut sharing.passive
                } else if self.others.iter().any(touched) {
                    |sharing| &mut sharing.true_sharing
                } else {
                    |sharing| &mut sharing.false_sharing
                };
                *field(coherence) += 1;
                if piece.kernel {
                    *field(&mut self.counts.kernel.coherence) += 1;
                }
            }
        }
    }

    /// The other holders see the transaction. Those that take the written word remain in the list.
    fn signal(
        &mut self,
        piece: &Piece<W>,
        (record, number): (&mut Record, u32),
        signal: Signal,
    ) -> Result<(), CheckError> {
        let mut told = false;
        let mut others = std::mem::take(&mut self.others);
        let mut takers = 0;
        for at in 0..others.len() {
            let (holder, frame) = others[at];
            let state = self.caches[holder].books[frame].state;
            let (next, memory, word) = match self.table.reply(state, signal) {
                Reply::Becomes { next, memory, word } => (next, memory, word),
                Reply::Impossible(what) => return Err(impossible(holder, what)),
            };
            if let Some(deed) = self.log.as_mut().and_then(|log| log.last_mut()) {
                deed.echoes.push(Echo { holder, state, next, memory, word });
            }
            if let Some(shadow) = self.shadow.as_mut().filter(|_| memory) {
                shadow.update_memory((holder, frame), number);
            }
            if next == 0 {
                if !std::mem::replace(&mut told, true) {
                    // What was written before is nothing that these copies missed.
                    self.tell_writes(piece.block, *record);
                }
                let story = self.loss(state, signal);
                self.lose(piece.block, (holder, frame), story);
                record.holders &= !(1 << holder);
                record.lost |= 1 << holder;
            } else if next != state {
                self.caches[holder].become_state(&self.quiet, frame, next);
            }
            if word && next != 0 {
                others.swap(takers, at);
                takers += 1;
            }
        }
        others.truncate(takers);
        self.others = others;
        Ok(())
    }

    /// A copy that only the line for private areas takes away is removed: it went with its process.
    fn loss(&self, state: u8, signal: Signal) -> Story {
        let shared = self.table.reply(state, Signal::ReadBlock);
        let stays = matches!(shared, Reply::Becomes { next, .. } if next != 0);
        let removed = signal == Signal::ReadPrivate && stays;
        if removed { Story::Removed } else { Story::Invalidated }
    }

    /// Another processor's transaction takes a copy away.
    fn lose(&mut self, block: u64, (holder, frame): Place, story: Story) {
        self.end_life(holder, frame);
        let cache = &mut self.caches[holder];
        cache.frames.invalidate(block, frame);
        cache.fresh[frame] = W::default();
        let book = &mut cache.books[frame];
        (book.state, book.story) = (0, story);
    }
}

fn impossible(processor: usize, what: &'static str) -> CheckError {
    let processor = u16::try_from(processor).unwrap_or(u16::MAX);
    CheckError::Impossible { reference: 0, processor, address: 0, what }
}
