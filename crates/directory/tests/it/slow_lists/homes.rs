//! Entries of homes, and how homes handle messages.

use std::collections::VecDeque;

use super::letters::{Letter, Link, Says};
use super::{PlainLists, Turn};

/// A home's entry for a block.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockEntry {
    head: Option<Link>,
    /// The owner, whose data memory lacks.
    owner: Option<Link>,
    /// Whether the owner's data are in flight to memory.
    returning: bool,
    waiting: VecDeque<Letter>,
}

impl PlainLists {
    fn entry(&mut self, block: u64) -> &mut BlockEntry {
        self.directory.entry(block).or_default()
    }

    /// Home serves a message, and then those that waited for it, in order, until one must wait
    /// again.
    pub(super) fn comes_to_home(&mut self, turn: &mut Turn, letter: Letter) {
        if !self.home_serves(turn, letter) {
            self.see("a request waits at home");
            self.entry(letter.block).waiting.push_back(letter);
            return;
        }
        while let Some(next) = self.entry(letter.block).waiting.front().copied() {
            if !self.home_serves(turn, next) {
                self.see("a request waits at home once more");
                return;
            }
            self.entry(letter.block).waiting.pop_front();
        }
    }

    /// Returns whether it handles the message.
    fn home_serves(&mut self, turn: &mut Turn, letter: Letter) -> bool {
        match letter.says {
            Says::SharingWriteBack { copy } => {
                self.use_memory(turn, true);
                let entry = self.entry(letter.block);
                assert!(entry.returning && entry.owner == Some(copy), "{letter:?}");
                (entry.owner, entry.returning) = (None, false);
            }
            Says::WriteBack { copy } => self.takes_back(turn, letter, copy),
            _ if self.entry(letter.block).returning => {
                self.use_memory(turn, false);
                return false;
            }
            Says::Read => self.serves_read(turn, letter),
            Says::Upgrade { copy } if self.is_head(letter.block, copy) => {
                self.use_memory(turn, false);
                self.answer(turn, letter, letter.requester.cache, Says::Permission);
                let entry = self.entry(letter.block);
                (entry.head, entry.owner) = (Some(letter.requester), Some(letter.requester));
            }
            Says::Write | Says::Upgrade { .. } => self.serves_write(turn, letter),
            _ => panic!("{letter:?} is not for a home"),
        }
        true
    }

    /// Whether a copy is the head of a list whose data memory has.
    fn is_head(&mut self, block: u64, copy: Link) -> bool {
        let entry = self.entry(block);
        entry.owner.is_none() && entry.head == Some(copy)
    }

    fn answer(&mut self, turn: &mut Turn, about: Letter, to: usize, says: Says) {
        self.post(turn, Letter { from: turn.cache, to, says, ..about });
    }

    fn serves_read(&mut self, turn: &mut Turn, letter: Letter) {
        let BlockEntry { head, owner, .. } = *self.entry(letter.block);
        if let Some(owner) = owner {
            self.use_memory(turn, false);
            self.answer(turn, letter, owner.cache, Says::Forward { write: false });
            self.entry(letter.block).returning = true;
        } else {
            self.use_memory(turn, true);
            let says = Says::Data { behind: head, clients: 0, ahead: false };
            self.answer(turn, letter, letter.receiver(), says);
        }
        self.entry(letter.block).head = Some(letter.requester);
    }

    fn serves_write(&mut self, turn: &mut Turn, letter: Letter) {
        let BlockEntry { head, owner, .. } = *self.entry(letter.block);
        let writer = letter.requester;
        match (owner, head) {
            (Some(owner), _) => {
                self.use_memory(turn, false);
                self.answer(turn, letter, owner.cache, Says::Forward { write: true });
            }
            (None, Some(head)) => {
                self.use_memory(turn, true);
                self.answer(turn, letter, head.cache, Says::Invalidate { copy: head });
                self.answer(turn, letter, writer.cache, Says::Exclusive { due: true });
            }
            (None, None) => {
                self.use_memory(turn, true);
                self.answer(turn, letter, writer.cache, Says::Exclusive { due: false });
            }
        }
        let entry = self.entry(letter.block);
        (entry.head, entry.owner) = (Some(writer), Some(writer));
    }

    /// A modified block is written back, unless its node was asked for it before.
    fn takes_back(&mut self, turn: &mut Turn, letter: Letter, copy: Link) {
        let entry = self.entry(letter.block);
        let owned = entry.owner == Some(copy);
        let late = !owned || entry.returning;
        if owned {
            entry.owner = None;
            if !entry.returning {
                entry.head = None;
            }
            entry.returning = false;
        }
        if late {
            self.see("a block comes back after home has forwarded a request");
        }
        self.use_memory(turn, owned);
        self.answer(turn, letter, letter.from, Says::WrittenBack { late });
    }
}
