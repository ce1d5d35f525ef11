//! The directory: entries of homes, and how homes handle messages.

use std::collections::{BTreeSet, VecDeque};

use super::SlowClock;
use super::events::{Note, Says};

#[derive(Clone, Debug, Default)]
pub(super) struct SlowEntry {
    listed: BTreeSet<usize>,
    too_many: bool,
    owner: Option<usize>,
    under_way: Option<UnderWay>,
    waiting: VecDeque<Note>,
}

/// The owner was asked to send the block to a requester.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    requester: usize,
    write: bool,
    /// The owner had replaced the block before.
    written_back: bool,
    /// The requester has got the block and replaced it.
    returned: bool,
}

impl SlowClock {
    fn entry(&mut self, block: u64) -> &mut SlowEntry {
        self.entries.entry(block).or_default()
    }

    /// Home has looked up the block of a message.
    pub(super) fn comes_to_home(&mut self, note: Note) {
        if !self.home_handles(&note) {
            self.see("a request waits at home");
            self.entry(note.about).waiting.push_back(note);
            return;
        }
        while let Some(next) = self.entry(note.about).waiting.front().copied() {
            if !self.home_handles(&next) {
                return;
            }
            self.entry(note.about).waiting.pop_front();
        }
    }

    /// Returns whether home handled the message.
    fn home_handles(&mut self, note: &Note) -> bool {
        match note.says {
            Says::Read | Says::Write | Says::Upgrade => self.request_at_home(note),
            Says::SharingWriteBack | Says::OwnershipTransfer => {
                self.owner_replied(note);
                true
            }
            Says::WriteBack => {
                self.written_back(note);
                true
            }
            Says::Refuse => {
                self.refused(note);
                true
            }
            _ => unreachable!("{note:?}"),
        }
    }

    fn request_at_home(&mut self, note: &Note) -> bool {
        let (home, asks, block) = (note.to, note.from, note.about);
        let write = note.says != Says::Read;
        let entry = self.entry(block);
        if entry.under_way.is_some() {
            return false;
        }
        match entry.owner {
            // Its write-back is on the way.
            Some(owner) if owner == asks => {
                self.see("a request overtakes the write-back");
                false
            }
            Some(owner) => {
                let (requester, written_back, returned) = (asks, false, false);
                entry.under_way = Some(UnderWay { requester, write, written_back, returned });
                self.forward(home, owner, block, asks, write);
                true
            }
            None if write => {
                let has = note.says == Says::Upgrade && entry.listed.contains(&asks);
                let due = self.tell_all(home, asks, block);
                self.reply_exclusive(home, asks, block, has, due);
                true
            }
            None => {
                self.reply_data(home, asks, block);
                self.list(block, asks);
                true
            }
        }
    }

    fn forward(&mut self, home: usize, to: usize, block: u64, asks: usize, write: bool) {
        let says = if write { Says::ForwardWrite } else { Says::ForwardRead };
        self.say(Note::new(home, to, says, block).of(asks));
    }

    fn reply_data(&mut self, home: usize, to: usize, block: u64) {
        self.say_block(Note::new(home, to, Says::Data, block));
    }

    /// The requester becomes the owner; it has a copy or gets one.
    fn reply_exclusive(&mut self, home: usize, to: usize, block: u64, has: bool, due: i64) {
        let says = if has { Says::Permission } else { Says::Exclusive };
        let note = Note { due, ..Note::new(home, to, says, block) };
        if has {
            self.say(note);
        } else {
            self.say_block(note);
        }
        self.own(block, Some(to));
    }

    fn own(&mut self, block: u64, owner: Option<usize>) {
        let entry = self.entry(block);
        entry.owner = owner;
        entry.listed.clear();
        entry.too_many = false;
    }

    fn list(&mut self, block: u64, node: usize) {
        let most = self.machine.pointers.unwrap_or(usize::MAX);
        let entry = self.entry(block);
        if entry.listed.len() < most {
            entry.listed.insert(node);
        } else if !entry.listed.contains(&node) {
            entry.too_many = true;
        }
    }

    /// Invalidates all other possible copies; returns how many nodes will acknowledge.
    fn tell_all(&mut self, home: usize, asks: usize, block: u64) -> i64 {
        let nodes = self.machine.nodes;
        let entry = self.entry(block);
        let too_many = entry.too_many;
        let invalidated = if too_many { (0..nodes).collect() } else { entry.listed.clone() };
        let mut due = 0;
        for node in invalidated.into_iter().filter(|&node| node != asks) {
            if node == home {
                self.see("a copy at home goes");
                self.invalidate_here(home, block);
            } else {
                due += 1;
                self.say(Note::new(home, node, Says::Invalidate, block).of(asks));
            }
        }
        if too_many {
            self.see("all are invalidated, because too many have copies");
        }
        due
    }

    /// The owner has sent the block to the requester.
    fn owner_replied(&mut self, note: &Note) {
        let block = note.about;
        let under_way = self.entry(block).under_way.take().unwrap();
        if note.says == Says::SharingWriteBack {
            self.store_block(note.to, block);
            self.entry(block).owner = None;
            self.list(block, note.from);
            self.list(block, under_way.requester);
        } else if under_way.returned {
            self.see("a block is written back before its owner has notified home");
            self.own(block, None);
        } else {
            self.own(block, Some(under_way.requester));
        }
    }

    fn written_back(&mut self, note: &Note) {
        let block = note.about;
        self.store_block(note.to, block);
        let entry = self.entry(block);
        let owner = entry.owner;
        match &mut entry.under_way {
            None => {
                assert_eq!(owner, Some(note.from));
                self.own(block, None);
            }
            Some(under_way) if owner == Some(note.from) => under_way.written_back = true,
            Some(under_way) => {
                assert_eq!(under_way.requester, note.from);
                under_way.returned = true;
            }
        }
    }

    fn refused(&mut self, note: &Note) {
        let (home, block) = (note.to, note.about);
        let UnderWay { requester, write, written_back, .. } = self.entry(block).under_way.unwrap();
        if !written_back {
            self.see("an owner is asked again");
            self.forward(home, note.from, block, requester, write);
            return;
        }
        self.see("home answers after a write-back");
        let entry = self.entry(block);
        (entry.under_way, entry.owner) = (None, None);
        if write {
            self.reply_exclusive(home, requester, block, false, 0);
        } else {
            self.reply_data(home, requester, block);
            self.list(block, requester);
        }
    }
}
