//! What the table says about an event, done: transactions, whose sharing they are, and what they
//! do to the other caches.

use super::CheckError;
use super::counts::Sharing;
use super::directory::{Record, Set, members};
use super::events::{Bus, Holder, Piece, Place};
use super::frames::{Frames, Story};
use super::note::{Deed, Echo};
use super::words::Words;
use crate::vocabulary::{Action, Area, Cell, Copies, Event, Reply, Signal, Source, Transaction};

impl<F: Frames<W>, W: Words> Bus<F, W> {
    /// What the table says about an event, done.
    pub(super) fn event(
        &mut self,
        piece: &Piece<W>,
        place: Place,
        event: Event,
    ) -> Result<Action<u8>, CheckError> {
        let (at, number) = place;
        let state = self.frame(at).state;
        let area = if event == Event::Replace { Area::Shared } else { piece.area() };
        let mut record = self.directory.get(number);
        let copies = self.copies(piece, record.holders & !(1 << piece.cache));
        let condition = self.table.condition(copies, area);
        let action = match self.table.cell(state, event, condition) {
            Cell::Does(action) => action,
            Cell::Impossible(what) => return Err(CheckError::impossible(piece.cache, what)),
        };
        self.move_data(piece.cache, place, action)?;
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
            let takers = self.others.iter().map(|&(_, frame)| frame).chain([at]);
            shadow.write(number, piece.words, takers);
        }
        if action.next != state {
            self.become_state(at, action.next);
        }
        if action.next != 0 {
            record.holders |= 1 << piece.cache;
        }
        self.directory.put(number, record);
        Ok(action)
    }

    /// Finds the other caches' copies, the owner's first.
    #[inline]
    pub(super) fn copies(&mut self, piece: &Piece<W>, holders: Set) -> Copies<u8> {
        self.others.clear();
        if holders == 0 {
            return Copies::None;
        }
        let mut owned = false;
        for holder in members(holders) {
            let at = self.known(holder, piece.block);
            self.others.push((holder, at));
            if self.table.role(self.frames.all()[at].state).is_owner() && !owned {
                owned = true;
                let last = self.others.len() - 1;
                self.others.swap(0, last);
            }
        }
        match (&self.others[..], owned) {
            ([], _) => Copies::None,
            (&[(_, at)], _) => Copies::One(self.frame(at).state),
            (_, true) => Copies::Owned,
            (_, false) => Copies::Several,
        }
    }

    /// The frame of a block that this cache is known to have or have lost.
    #[inline]
    fn known(&self, cache: usize, block: u64) -> usize {
        let set = self.frames.set(cache, block);
        let found = self.frames.find(set, block);
        found.expect("the directory knows who has a frame for the block")
    }

    /// Moves shadow values as the action says.
    fn move_data(
        &mut self,
        cache: usize,
        (at, number): Place,
        action: Action<u8>,
    ) -> Result<(), CheckError> {
        let Some(shadow) = &mut self.shadow else { return Ok(()) };
        match (action.source, self.others.first()) {
            (Source::Own, _) if action.transaction == Some(Transaction::UpdateBlock) => {
                shadow.update_memory(at, number);
            }
            (Source::Own, _) => {}
            (Source::Memory, _) => shadow.fetch(at, number),
            (Source::Cache, Some(&(_, supplier))) => shadow.supply(supplier, at),
            (Source::Cache, None) => {
                return Err(CheckError::impossible(cache, "no cache has the block"));
            }
        }
        Ok(())
    }

    /// Counts a transaction, and whose sharing it is.
    fn count(&mut self, piece: &Piece<W>, transaction: Transaction, source: Source) {
        let all = &mut self.counts.transactions;
        let cache = source == Source::Cache;
        match transaction {
            Transaction::ReadBlock if cache => all.read_block_cache += 1,
            Transaction::ReadBlock => all.read_block_memory += 1,
            Transaction::ReadInvalidate if cache => all.read_invalidate_cache += 1,
            Transaction::ReadInvalidate => all.read_invalidate_memory += 1,
            Transaction::UpdateBlock => all.update_block += 1,
            Transaction::Invalidate => all.invalidate += 1,
            Transaction::Write => all.write += 1,
        }
        if !matches!(transaction, Transaction::Invalidate | Transaction::Write) {
            return;
        }
        let frames = self.frames.all();
        let touched = |&(_, at): &Holder| frames[at].touched().meets(piece.words);
        let field: fn(&mut Sharing) -> &mut u64 = if piece.private {
            |sharing| &mut sharing.passive
        } else if self.others.iter().any(touched) {
            |sharing| &mut sharing.true_sharing
        } else {
            |sharing| &mut sharing.false_sharing
        };
        *field(&mut self.counts.coherence) += 1;
        if piece.kernel {
            *field(&mut self.counts.kernel.coherence) += 1;
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
        for nth in 0..others.len() {
            let (holder, at) = others[nth];
            let state = self.frame(at).state;
            let (next, memory, word) = match self.table.reply(state, signal) {
                Reply::Becomes { next, memory, word } => (next, memory, word),
                Reply::Impossible(what) => return Err(CheckError::impossible(holder, what)),
            };
            if let Some(deed) = self.log.as_mut().and_then(|log| log.last_mut()) {
                deed.echoes.push(Echo { holder, state, next, memory, word });
            }
            if let Some(shadow) = self.shadow.as_mut().filter(|_| memory) {
                shadow.update_memory(at, number);
            }
            if next == 0 {
                if !std::mem::replace(&mut told, true) {
                    // What was written before is nothing that these copies missed.
                    self.tell_writes(piece.block, *record);
                }
                let story = self.loss(state, signal);
                self.lose(piece.block, (holder, at), story);
                record.holders &= !(1 << holder);
                record.lost |= 1 << holder;
            } else if next != state {
                self.become_state(at, next);
            }
            if word && next != 0 {
                others.swap(takers, nth);
                takers += 1;
            }
        }
        others.truncate(takers);
        self.others = others;
        Ok(())
    }

    /// Those who lost the block learn which words the holders wrote since.
    pub(super) fn tell_writes(&mut self, block: u64, record: Record) {
        for holder in members(record.holders) {
            let at = self.known(holder, block);
            let written = self.frame(at).take_written();
            if written.is_empty() {
                continue;
            }
            for loser in members(record.lost) {
                let at = self.known(loser, block);
                self.frame(at).fresh.add(written);
            }
        }
    }

    /// A copy that only the line for private areas takes away is removed: it went with its process.
    fn loss(&self, state: u8, signal: Signal) -> Story {
        let shared = self.table.reply(state, Signal::ReadBlock);
        let stays = matches!(shared, Reply::Becomes { next, .. } if next != 0);
        let removed = signal == Signal::ReadPrivate && stays;
        if removed { Story::Removed } else { Story::Invalidated }
    }

    /// Another processor's transaction takes a copy away.
    fn lose(&mut self, block: u64, (holder, at): Holder, story: Story) {
        self.end_life(at);
        let set = self.frames.set(holder, block);
        self.frames.invalidate(set, at);
        let frame = self.frame(at);
        (frame.fresh, frame.state, frame.story) = (W::default(), 0, story);
    }
}
