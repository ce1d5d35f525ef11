//! The parts of every node: a path into the mesh, a controller with lookups, and memory.

use std::collections::BTreeMap;

use homenode_machine::NetworkContention;

use super::events::{Happening, Note, Says};
use super::places::SlowWay;
use super::{SlowClock, SlowMachine};

pub(super) struct SlowNetwork {
    send_free: Vec<u64>,
    receive_free: Vec<u64>,
    /// By neighbours.
    link_free: BTreeMap<(usize, usize), u64>,
}

impl SlowNetwork {
    pub(super) fn new(machine: &SlowMachine) -> Self {
        let free = vec![0; machine.end_points()];
        let (send_free, receive_free) = (free.clone(), free);
        Self { send_free, receive_free, link_free: BTreeMap::new() }
    }
}

impl SlowClock {
    /// A message leaves its node; the last of its data can be sent at `ready`.
    pub(super) fn send(&mut self, note: Note, ready: u64) {
        let (from, to, now) = (note.from, note.to, self.now);
        if from == to {
            self.plan(ready, to, Happening::AllHere(note));
            return;
        }
        let cycles = self.cycles(&note);
        let SlowWay { places, hop, entry } = self.machine.way(from, to);
        let hops = places.len() as u64 - 1;
        self.add("hops", if note.with_reply { 0 } else { hops });
        self.add("sending", cycles);
        let waits = self.machine.contention != NetworkContention::None;
        let free = &mut self.network.send_free[from];
        let start = if waits { now.max(*free) } else { now };
        *free = (start + cycles).max(ready);
        let mut head = start;
        for link in places.windows(2) {
            if self.machine.contention == NetworkContention::Links {
                let free = self.network.link_free.entry((link[0], link[1])).or_default();
                let late = *free > head;
                head = head.max(*free);
                *free = (head + cycles).max(ready);
                if late {
                    self.see("a message waits for a link");
                }
            }
            head += hop;
        }
        if start > now {
            self.see("a message waits to leave");
        }
        head += entry;
        let tail = (head + cycles).max(ready + hops * hop + entry);
        self.plan(head, to, Happening::HeadComes(note, tail));
    }

    pub(super) fn head_comes(&mut self, note: Note, tail: u64) {
        let cycles = self.cycles(&note);
        let mut there = tail;
        if self.machine.contention != NetworkContention::None {
            let free = &mut self.network.receive_free[note.to];
            there = (self.now.max(*free) + cycles).max(tail);
            *free = there;
        }
        if there > tail {
            self.see("a message waits to come in");
        }
        if note.says == Says::Page {
            let first = note.about * self.machine.page / self.machine.block;
            let memory = self.machine.end_point(self.machine.memory_of(note.to), first);
            let (_, written) = self.access_memory(memory, self.machine.page);
            let both = written.max(there);
            self.plan(both, note.to, Happening::PageWritten(note.to, note.about));
        }
        self.plan(there, note.to, Happening::AllHere(note));
    }

    /// When the first and the last word of a transfer are available.
    pub(super) fn access_memory(&mut self, node: usize, bytes: u64) -> (u64, u64) {
        if self.memory_free[node] > self.now {
            self.see("memory is in use");
        }
        let words = (bytes.div_ceil(4) * self.machine.word).div_ceil(self.machine.words);
        let start = self.memory_free[node].max(self.now);
        let first = start + self.machine.latency;
        let busy = if self.machine.pipelined { words } else { self.machine.latency + words };
        self.memory_free[node] = start + busy;
        self.add("accessing", busy);
        self.comes_to_queue(("memory", node), start, start + busy);
        (first, first + words)
    }

    /// A task waits for a controller or a memory, begins, and is done.
    fn comes_to_queue(&mut self, queue: (&'static str, usize), start: u64, end: u64) {
        self.add("queued", 1);
        self.add("waited", start - self.now);
        let now = self.now;
        let all = self.queues.entry(queue).or_default();
        all.push(end);
        let there = all.iter().filter(|&&end| end > now).count();
        self.longest = self.longest.max(there);
    }

    /// Whether the cache in front of memory has a block; from now on it has it, if there is a
    /// cache.
    fn last_level(&mut self, at: usize, block: u64) -> Option<bool> {
        let (sets, ways, _) = self.machine.shared?.last_level?;
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let set = u64::try_from((u128::from(hash) * u128::from(sets)) >> 64).unwrap();
        let blocks = self.last_levels.entry((at, set)).or_default();
        let had = blocks.contains(&block);
        blocks.retain(|&other| other != block);
        blocks.insert(0, block);
        blocks.truncate(ways);
        Some(had)
    }

    /// A block arrives at the memory of its home.
    pub(super) fn store_block(&mut self, at: usize, block: u64) {
        if self.last_level(at, block).is_none() {
            self.access_memory(at, self.machine.block);
        }
    }

    /// A message leaves with its block, from memory or the cache in front of it.
    pub(super) fn say_block(&mut self, note: Note) {
        if self.last_level(note.from, note.about) == Some(true) {
            self.see("the last level has a block");
            self.count_message(&note);
            let (_, _, cycles) = self.machine.shared.unwrap().last_level.unwrap();
            let there = self.now + cycles;
            self.plan(there, note.from, Happening::FirstWord(note, there));
        } else {
            self.say_from_memory(note, self.machine.block);
        }
    }

    /// A cache answers.
    pub(super) fn answer(&mut self, note: Note) {
        self.count_message(&note);
        let leaves = self.now + self.machine.answer;
        if self.machine.answer == 0 {
            self.send(note, leaves);
        } else {
            self.plan(leaves, note.from, Happening::FirstWord(note, leaves));
        }
    }

    /// A message leaves with data from memory.
    pub(super) fn say_from_memory(&mut self, note: Note, bytes: u64) {
        self.count_message(&note);
        let (first, last) = self.access_memory(note.from, bytes);
        self.plan(first, note.from, Happening::FirstWord(note, last));
    }

    pub(super) fn all_here(&mut self, note: Note) {
        if note.says.is_looked_up() {
            if self.lookup_free[note.to] > self.now {
                self.see("a controller is in use");
            }
            let start = self.lookup_free[note.to].max(self.now);
            let free = start + self.machine.lookup;
            self.lookup_free[note.to] = free;
            self.add("looking_up", self.machine.lookup);
            self.comes_to_queue(("controller", note.to), start, free);
            self.plan(free, note.to, Happening::LookedUp(note));
            return;
        }
        match note.says {
            Says::Page => {}
            Says::Grant => self.plan(self.now, note.to, Happening::GoesOn(note.to)),
            Says::Wake => self.plan(self.now, note.to, Happening::Ready(note.to)),
            _ => self.comes_to_cache(&note),
        }
    }

    pub(super) fn looked_up(&mut self, note: Note) {
        match note.says {
            Says::AsksPage => {
                let page = Note::new(note.to, note.from, Says::Page, note.about);
                self.say_from_memory(page, self.machine.page);
            }
            Says::Operation(operation) => {
                let effect = Happening::Effect(note.from, operation, note.to);
                self.plan(self.now, note.from, effect);
            }
            _ => self.comes_to_home(note),
        }
    }
}
