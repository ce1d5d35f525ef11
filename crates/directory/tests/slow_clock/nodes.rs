//! What every node has: a way into the mesh, a controller that looks up, and memory.

use std::collections::BTreeMap;

use homenode_machine::NetworkContention;

use super::events::{Happening, Note, Says};
use super::{SlowClock, SlowMachine};

pub(super) struct SlowNetwork {
    columns: usize,
    send_free: Vec<u64>,
    receive_free: Vec<u64>,
    /// By neighbours.
    link_free: BTreeMap<(usize, usize), u64>,
}

impl SlowNetwork {
    pub(super) fn new(machine: &SlowMachine) -> Self {
        let columns = (1..).find(|side| side * side >= machine.nodes).unwrap();
        let free = vec![0; machine.nodes];
        let (send_free, receive_free) = (free.clone(), free);
        Self { columns, send_free, receive_free, link_free: BTreeMap::new() }
    }

    /// The places on the way from one node to another: along the row, then along the column.
    fn route(&self, from: usize, to: usize) -> Vec<usize> {
        let (mut x, mut y) = (from % self.columns, from / self.columns);
        let (to_x, to_y) = (to % self.columns, to / self.columns);
        let mut places = vec![from];
        while (x, y) != (to_x, to_y) {
            if x < to_x {
                x += 1;
            } else if x > to_x {
                x -= 1;
            } else if y < to_y {
                y += 1;
            } else {
                y -= 1;
            }
            places.push(y * self.columns + x);
        }
        places
    }
}

impl SlowClock {
    /// A message leaves its node, the last of whose data are there to be sent at `ready`.
    pub(super) fn send(&mut self, note: Note, ready: u64) {
        let (from, to, now) = (note.from, note.to, self.now);
        if from == to {
            self.plan(ready, to, Happening::AllHere(note));
            return;
        }
        let cycles = self.cycles(&note);
        let places = self.network.route(from, to);
        let hops = places.len() as u64 - 1;
        let hop = self.machine.routing + self.machine.link;
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
        let tail = (head + cycles).max(ready + hops * hop);
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
            let (_, written) = self.access_memory(note.to, self.machine.page);
            let both = written.max(there);
            self.plan(both, note.to, Happening::PageWritten(note.to, note.about));
        }
        self.plan(there, note.to, Happening::AllHere(note));
    }

    /// When the first and the last word of so many bytes are there.
    pub(super) fn access_memory(&mut self, node: usize, bytes: u64) -> (u64, u64) {
        if self.memory_free[node] > self.now {
            self.see("memory is in use");
        }
        let words = bytes.div_ceil(4) * self.machine.word;
        let first = self.memory_free[node].max(self.now) + self.machine.latency;
        self.memory_free[node] = first + words;
        self.add("accessing", self.machine.latency + words);
        (first, first + words)
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
            let free = self.lookup_free[note.to].max(self.now) + self.machine.lookup;
            self.lookup_free[note.to] = free;
            self.add("looking_up", self.machine.lookup);
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
                let page = Note::new((note.to, note.from), Says::Page, note.about);
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
