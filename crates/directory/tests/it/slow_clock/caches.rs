//! Caches: the state of a block at a node, and its pending requests.

use super::events::{Happening, Note, Says};
use super::{Access, SlowClock, Waiter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowCopy {
    None,
    Shared,
    Modified,
}

/// A frame that has or had a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlowFrame {
    block: u64,
    copy: SlowCopy,
    used: u64,
}

/// The pending request of a node for a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// The operation that waits for it.
    waiter: Option<Waiter>,
    write: bool,
    misses: bool,
    since: u64,
    /// Whether a copy in flight must be invalidated as soon as it is read.
    goes: bool,
    /// Whether the reply has arrived.
    came: bool,
    /// Acknowledgements due, less those that arrived before their number was known.
    due: i64,
}

impl SlowClock {
    fn set_of(&mut self, node: usize, block: u64) -> &mut Vec<SlowFrame> {
        let set = block % self.machine.sets;
        self.frames.entry((node, set)).or_default()
    }

    fn frame(&mut self, node: usize, block: u64) -> Option<&mut SlowFrame> {
        self.set_of(node, block).iter_mut().find(|frame| frame.block == block)
    }

    pub(super) fn copy(&mut self, node: usize, block: u64) -> SlowCopy {
        self.frame(node, block).map_or(SlowCopy::None, |frame| frame.copy)
    }

    fn set_copy(&mut self, node: usize, block: u64, copy: SlowCopy) {
        self.frame(node, block).unwrap().copy = copy;
    }

    /// Whether the node may access the block without a request.
    pub(super) fn permits(&mut self, node: usize, access: Access) -> bool {
        match self.copy(node, access.block) {
            SlowCopy::None => false,
            SlowCopy::Shared => !access.write,
            SlowCopy::Modified => true,
        }
    }

    pub(super) fn touch(&mut self, node: usize, block: u64) {
        let number = self.next_number();
        self.frame(node, block).unwrap().used = number;
    }

    /// Whether the node has a pending request for any block.
    pub(super) fn has_asked(&self, node: usize) -> bool {
        self.asked.keys().any(|&(by, _)| by == node) || !self.deferred[node].is_empty()
    }

    /// The block whose frame a block would take, if all frames of its set are in use: the least
    /// recently used one without a copy, otherwise the least recently used one.
    fn victim(&mut self, node: usize, block: u64) -> Option<u64> {
        let ways = self.machine.ways;
        let frames = self.set_of(node, block).clone();
        if frames.len() < ways {
            return None;
        }
        let has = |frame: &SlowFrame| {
            frame.copy != SlowCopy::None || self.asked.contains_key(&(node, frame.block))
        };
        frames.iter().min_by_key(|frame| (has(frame), frame.used)).map(|frame| frame.block)
    }

    /// Requests what a reference needs, once there is a frame for it.
    pub(super) fn ask(&mut self, node: usize, waiter: Waiter, access: Access) {
        let block = access.block;
        let found = self.frame(node, block).is_some();
        let victim = if found { None } else { self.victim(node, block) };
        let in_frame = if found { Some(block) } else { victim };
        if in_frame.is_some_and(|other| self.asked.contains_key(&(node, other))) {
            self.see("a request waits for its frame");
            self.deferred[node].push((waiter, access));
            return;
        }
        if self.permits(node, access) {
            self.touch(node, block);
            self.plan(self.now, node, Happening::Done(node, waiter));
            return;
        }
        let home = self.home_from_now(node, block);
        let misses = self.copy(node, block) == SlowCopy::None;
        if misses {
            self.miss(node, block, found, victim);
            self.add("fills", 1);
            self.add("local_fills", u64::from(home == self.machine.memory_of(node)));
        } else {
            self.add("upgrades", 1);
        }
        let (write, since) = (access.write, self.now);
        let asked =
            Asked { waiter: Some(waiter), write, misses, since, goes: false, came: false, due: 0 };
        self.asked.insert((node, block), asked);
        let says = match (write, misses) {
            (false, _) => Says::Read,
            (true, true) => Says::Write,
            (true, false) => Says::Upgrade,
        };
        let home = self.machine.end_point(home, block);
        self.say(Note::new(node, home, says, block));
    }

    fn miss(&mut self, node: usize, block: u64, found: bool, victim: Option<u64>) {
        let first = self.ever.insert((node, block));
        let class = match (found, first) {
            (true, _) => "invalidation",
            (false, true) => "cold",
            (false, false) => "replacement",
        };
        self.add(class, 1);
        if let Some(old) = victim {
            if self.copy(node, old) == SlowCopy::Modified {
                let home = self.home_of(old);
                self.add("write_backs", 1);
                self.add("local_write_backs", u64::from(home == self.machine.memory_of(node)));
                let home = self.machine.end_point(home, old);
                self.say(Note::new(node, home, Says::WriteBack, old));
            }
            self.set_of(node, old).retain(|frame| frame.block != old);
        }
        let used = self.next_number();
        if found {
            self.frame(node, block).unwrap().used = used;
        } else {
            self.set_of(node, block).push(SlowFrame { block, copy: SlowCopy::None, used });
        }
    }

    /// A message arrives at a cache.
    pub(super) fn comes_to_cache(&mut self, note: &Note) {
        match note.says {
            Says::Data | Says::Exclusive | Says::Permission => self.reply_comes(note),
            Says::Ack => self.acknowledgement_comes(note),
            Says::Invalidate => {
                self.invalidate_here(note.to, note.about);
                self.answer(Note::new(note.to, note.requester, Says::Ack, note.about));
            }
            Says::ForwardRead | Says::ForwardWrite => self.forward_comes(note),
            _ => unreachable!("{note:?}"),
        }
    }

    fn reply_comes(&mut self, note: &Note) {
        let at = (note.to, note.about);
        let sequential = self.machine.sequential;
        let asked = self.asked.get_mut(&at).unwrap();
        asked.due += note.due;
        asked.came = true;
        let Asked { due, goes, .. } = *asked;
        assert!(due >= 0, "{note:?}");
        let read = note.says == Says::Data;
        let copy = if read { SlowCopy::Shared } else { SlowCopy::Modified };
        self.set_copy(at.0, at.1, copy);
        if due == 0 || !sequential {
            self.reference_done(at.0, at.1);
        }
        if goes {
            self.see("a copy that has to go as soon as it is read");
            self.set_copy(at.0, at.1, SlowCopy::None);
        }
        if due == 0 {
            self.comes_to_rest(at.0, at.1);
        } else {
            self.see("acknowledgements due after the reply");
        }
    }

    fn acknowledgement_comes(&mut self, note: &Note) {
        let at = (note.to, note.about);
        let asked = self.asked.get_mut(&at).unwrap();
        asked.due -= 1;
        let (due, came) = (asked.due, asked.came);
        if !came {
            self.see("an acknowledgement before the reply");
        } else if due == 0 {
            self.reference_done(at.0, at.1);
            self.comes_to_rest(at.0, at.1);
        }
    }

    /// The reference for which a block was requested takes place; its data have arrived.
    fn reference_done(&mut self, node: usize, block: u64) {
        let asked = self.asked.get_mut(&(node, block)).unwrap();
        let Some(waiter) = asked.waiter.take() else { return };
        let Asked { since, write, misses, .. } = *asked;
        let cycles = self.now - since;
        if misses {
            self.add("filled", 1);
            self.add("fill_cycles", cycles);
        }
        if !write {
            self.add("read", 1);
            self.add("read_cycles", cycles);
        }
        self.takes_place(node, block, waiter);
        self.plan(self.now, node, Happening::Done(node, waiter));
    }

    /// No request for the block is pending any more: operations waiting in the node retry.
    fn comes_to_rest(&mut self, node: usize, block: u64) {
        self.asked.remove(&(node, block));
        for (waiter, access) in self.take_deferred(node) {
            self.ask(node, waiter, access);
        }
        if !self.has_asked(node) && std::mem::take(&mut self.processors[node].releases) {
            self.plan(self.now, node, Happening::GoesOn(node));
        }
    }

    /// A node's copy is invalidated.
    pub(super) fn invalidate_here(&mut self, node: usize, block: u64) {
        let copy = self.copy(node, block);
        assert_ne!(copy, SlowCopy::Modified, "{node} {block}");
        let Some(asked) = self.asked.get_mut(&(node, block)) else {
            if copy == SlowCopy::Shared {
                self.set_copy(node, block, SlowCopy::None);
            }
            return;
        };
        if !asked.write {
            asked.goes = true;
        } else if copy == SlowCopy::Shared {
            // The write misses after all.
            asked.misses = true;
            self.set_copy(node, block, SlowCopy::None);
            self.see("a copy is lost that was to be made the only one");
            *self.counts.get_mut("upgrades").unwrap() -= 1;
            self.add("fills", 1);
            let home = self.home_of(block);
            self.add("local_fills", u64::from(home == self.machine.memory_of(node)));
            self.add("invalidation", 1);
            self.touch(node, block);
        }
    }

    /// Home asks the owner to send its block to the requester.
    fn forward_comes(&mut self, note: &Note) {
        let (node, home, block) = (note.to, note.from, note.about);
        let can = self.copy(node, block) == SlowCopy::Modified
            && !self.asked.contains_key(&(node, block));
        if !can {
            self.answer(Note::new(node, home, Says::Refuse, block).of(note.requester));
            return;
        }
        let (says, tells, copy) = if note.says == Says::ForwardRead {
            (Says::Data, Says::SharingWriteBack, SlowCopy::Shared)
        } else {
            (Says::Exclusive, Says::OwnershipTransfer, SlowCopy::None)
        };
        self.answer(Note::new(node, note.requester, says, block));
        let with_reply = home == note.requester;
        let notice = Note::new(node, home, tells, block).of(note.requester);
        self.answer(Note { with_reply, ..notice });
        self.set_copy(node, block, copy);
        if with_reply {
            self.see("home itself asks an owner");
        }
    }
}
