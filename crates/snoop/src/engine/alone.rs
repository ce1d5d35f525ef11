//! What is not quiet but concerns no other cache: the most frequent miss, and a copy's first write.

use std::hint::select_unpredictable;

use super::directory::Packed;
use super::events::{Bus, Piece};
use super::frames::{Frame, Frames, QUIET_READ, Story, WRITTEN};
use super::words::Words;

impl<F: Frames<W>, W: Words> Bus<F, W> {
    /// Does a reference that is not quiet but concerns no other cache, as the table says. The frame
    /// may have the block. Returns whether the reference was such a one.
    #[inline(always)]
    pub(crate) fn alone(&mut self, piece: &Piece<W>, (set, at): (usize, usize)) -> bool {
        if self.frames.lacks(set, piece.block) {
            self.fetch_alone(piece, set)
        } else {
            self.promote(piece, (set, at))
        }
    }

    /// A miss: what has to be looked at is looked at before the first question is asked, for the
    /// answer is hard to foretell.
    #[inline(always)]
    fn fetch_alone(&mut self, piece: &Piece<W>, set: usize) -> bool {
        let Some(fetch) = self.quiet.alone(piece.write, piece.private) else { return false };
        let at = self.frames.victim(set);
        let old = self.frames.all()[at];
        let number = self.directory.number(piece.block);
        let Some(records) = self.directory.packed() else { return false };
        let [gone, fetched] =
            [old.number, number].map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        let (left, new) = (Packed(records[gone]), Packed(records[fetched]));
        // One question, not several: any of them alone would be as hard to foretell.
        let concerns = self.quiet.concerns(old.state);
        if left.concerns(new, concerns) | u64::from(old.story.is_open()) != 0 {
            return false;
        }
        records[gone] = left.without(piece.cache).0;
        records[fetched] = new.only(piece.cache).0;
        self.counts.transactions.update_block += self.quiet.writes_back(old.state);
        let had = new.ever(piece.cache);
        self.counts.misses.add_cold_or_replacement(had);
        if piece.kernel {
            self.counts.kernel.misses.add_cold_or_replacement(had);
        }
        let all = &mut self.counts.transactions;
        let (block, invalidate) = (&mut all.read_block_memory, &mut all.read_invalidate_memory);
        *select_unpredictable(fetch.invalidate, invalidate, block) += 1;
        let mut frame = Frame::of(piece.block, number);
        (frame.state, frame.story) = (fetch.state, Story::None);
        frame.allow(self.quiet.bits(fetch.state));
        frame.marks[usize::from(piece.write)] = piece.words;
        self.frames.fill((set, at), piece.block, frame);
        true
    }

    /// A write that changes the state of the own copy and nothing else.
    #[inline(always)]
    fn promote(&mut self, piece: &Piece<W>, (set, at): (usize, usize)) -> bool {
        let frame = &mut self.frames.all_mut()[at];
        // An open miss allows nothing.
        if !(piece.write & frame.allows(piece.block, QUIET_READ)) {
            return false;
        }
        let Some(state) = self.quiet.promoted(frame.state) else { return false };
        frame.state = state;
        frame.allow(self.quiet.bits(state));
        frame.marks[WRITTEN].add(piece.words);
        self.frames.touch(set, at);
        true
    }
}
