//! A slow simulator written from the sentences of the table of messages: maps, lists and searches,
//! and no messages in flight.

pub mod random;

use std::collections::{BTreeMap, BTreeSet};

/// A reference, or the end of initialisation.
#[derive(Clone, Copy, Debug)]
pub struct Ref {
    pub thread: u16,
    pub write: bool,
    pub addr: u64,
    pub size: u8,
    /// Whether initialisation ends before it.
    pub init_done: bool,
}

/// Where pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    RoundRobin,
    FirstTouch,
    FirstUse,
    FirstFill(u64),
    Fixed(u16),
}

#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub nodes: u16,
    pub block: u64,
    pub sets: u64,
    pub ways: usize,
    pub page: u64,
    pub pointers: Option<usize>,
    pub home: Home,
    pub header: u64,
}

struct Line {
    block: u64,
    dirty: bool,
    last_use: u64,
}

/// The home's entry for a block.
#[derive(Default)]
struct Known {
    /// In order of arrival.
    sharers: Vec<u16>,
    too_many: bool,
    owner: Option<u16>,
}

pub struct Oracle {
    machine: Machine,
    clock: u64,
    initialised: bool,
    caches: BTreeMap<(u16, u64), Vec<Line>>,
    directory: BTreeMap<u64, Known>,
    ever: BTreeSet<(u16, u64)>,
    /// The home of each page, and whether it stays.
    homes: BTreeMap<u64, (u16, bool)>,
    fills: BTreeMap<(u64, u16), u64>,
    pub counts: BTreeMap<&'static str, u64>,
}

impl Oracle {
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            clock: 0,
            initialised: false,
            caches: BTreeMap::new(),
            directory: BTreeMap::new(),
            ever: BTreeSet::new(),
            homes: BTreeMap::new(),
            fills: BTreeMap::new(),
            counts: BTreeMap::new(),
        }
    }

    fn add(&mut self, name: &'static str, count: u64) {
        if count > 0 {
            *self.counts.entry(name).or_default() += count;
        }
    }

    fn message(&mut self, name: &'static str, with_block: bool) {
        self.add(name, 1);
        let block = if with_block { self.machine.block } else { 0 };
        self.add("message_bytes", self.machine.header + block);
    }

    pub fn access(&mut self, r: Ref) {
        self.initialised |= r.init_done;
        self.add("references", 1);
        self.add(if r.write { "writes" } else { "reads" }, 1);
        let mut blocks: Vec<u64> =
            (r.addr..r.addr + u64::from(r.size)).map(|a| a / self.machine.block).collect();
        blocks.dedup();
        for block in blocks {
            self.piece(r.thread % self.machine.nodes, r.write, block);
        }
    }

    fn page_of(&self, block: u64) -> u64 {
        block * self.machine.block / self.machine.page
    }

    fn home(&self, block: u64) -> u16 {
        self.homes[&self.page_of(block)].0
    }

    /// The page gets a home, or a new one.
    fn place(&mut self, r: u16, block: u64) {
        let page = self.page_of(block);
        let nth = self.homes.len() as u64;
        let round_robin = u16::try_from(nth % u64::from(self.machine.nodes)).unwrap();
        let first = match self.machine.home {
            Home::RoundRobin | Home::FirstFill(_) => round_robin,
            Home::FirstTouch | Home::FirstUse => r,
            Home::Fixed(node) => node,
        };
        self.homes.entry(page).or_insert((first, false));
        if self.machine.home == Home::FirstUse && self.initialised {
            self.move_once(page, r);
        }
    }

    fn move_once(&mut self, page: u64, node: u16) {
        let (home, stays) = self.homes[&page];
        if !stays {
            self.homes.insert(page, (node, true));
            self.add("pages_moved", u64::from(home != node));
        }
    }

    fn line(&mut self, node: u16, block: u64) -> Option<&mut Line> {
        let set = block % self.machine.sets;
        self.caches.entry((node, set)).or_default().iter_mut().find(|line| line.block == block)
    }

    fn piece(&mut self, r: u16, write: bool, block: u64) {
        self.clock += 1;
        self.place(r, block);
        let found = self.line(r, block).map(|line| line.dirty);
        match (found, write) {
            (Some(true), _) | (Some(false), false) => {}
            (Some(false), true) => {
                self.add("upgrades", 1);
                let listed = self.directory[&block].sharers.contains(&r);
                self.write_valid(r, block, !listed);
            }
            (None, _) => {
                self.add("misses", 1);
                if self.ever.insert((r, block)) {
                    self.add("cold", 1);
                }
                self.make_room(r, block);
                let h = self.home(block);
                self.add("fills", 1);
                self.add("local_fills", u64::from(r == h));
                match (self.directory.entry(block).or_default().owner, write) {
                    (None, false) => self.read_valid(r, block),
                    (Some(o), false) => self.read_dirty(r, o, block),
                    (None, true) => self.write_valid(r, block, true),
                    (Some(o), true) => self.write_dirty(r, o, block),
                }
                let set = block % self.machine.sets;
                let line = Line { block, dirty: false, last_use: 0 };
                self.caches.entry((r, set)).or_default().push(line);
                self.count_fill(r, block);
            }
        }
        let now = self.clock;
        let line = self.line(r, block).unwrap();
        line.dirty |= write;
        line.last_use = now;
    }

    fn count_fill(&mut self, r: u16, block: u64) {
        let page = self.page_of(block);
        let fills = self.fills.entry((page, r)).or_default();
        *fills += 1;
        if self.machine.home == Home::FirstFill(*fills) {
            self.move_once(page, r);
        }
    }

    fn list(&mut self, block: u64, node: u16) {
        let most = self.machine.pointers.unwrap_or(usize::MAX);
        let known = self.directory.get_mut(&block).unwrap();
        if !known.sharers.contains(&node) {
            if known.sharers.len() < most {
                known.sharers.push(node);
            } else {
                known.too_many = true;
            }
        }
    }

    fn read_valid(&mut self, r: u16, block: u64) {
        if r != self.home(block) {
            self.message("request", false);
            self.message("reply", true);
        }
        self.list(block, r);
    }

    /// The messages for a block that is dirty elsewhere, and the owner's message to home.
    fn fetch_from_owner(&mut self, r: u16, o: u16, h: u16, notice: &'static str, carries: bool) {
        if o == h {
            self.message("request", false);
            self.message("reply", true);
        } else if r == h {
            self.message("forward", false);
            self.message("reply", true);
        } else {
            self.message("request", false);
            self.message("forward", false);
            self.message("reply", true);
            self.message(notice, carries);
        }
    }

    fn read_dirty(&mut self, r: u16, o: u16, block: u64) {
        let h = self.home(block);
        self.fetch_from_owner(r, o, h, "sharing_write_back", true);
        self.line(o, block).unwrap().dirty = false;
        self.directory.get_mut(&block).unwrap().owner = None;
        self.list(block, o);
        self.list(block, r);
    }

    fn write_valid(&mut self, r: u16, block: u64, with_block: bool) {
        let h = self.home(block);
        if r != h {
            self.message("request", false);
            self.message("reply", with_block);
        }
        let known = self.directory.remove(&block).unwrap();
        let invalidated: Vec<u16> =
            if known.too_many { (0..self.machine.nodes).collect() } else { known.sharers };
        for s in invalidated {
            if s != r && s != h {
                self.message("invalidate", false);
                self.message("ack", false);
            }
        }
        for s in (0..self.machine.nodes).filter(|&s| s != r) {
            self.drop_line(s, block);
        }
        self.directory.insert(block, Known { owner: Some(r), ..Known::default() });
    }

    fn write_dirty(&mut self, r: u16, o: u16, block: u64) {
        let h = self.home(block);
        self.fetch_from_owner(r, o, h, "ownership_transfer", false);
        self.drop_line(o, block);
        self.directory.insert(block, Known { owner: Some(r), ..Known::default() });
    }

    fn drop_line(&mut self, node: u16, block: u64) {
        let set = block % self.machine.sets;
        if let Some(lines) = self.caches.get_mut(&(node, set)) {
            lines.retain(|line| line.block != block);
        }
    }

    /// Replaces the least recently used copy, if all frames of the set have one.
    fn make_room(&mut self, r: u16, block: u64) {
        let lines = self.caches.entry((r, block % self.machine.sets)).or_default();
        if lines.len() < self.machine.ways {
            return;
        }
        let victim = (0..lines.len()).min_by_key(|&at| lines[at].last_use).unwrap();
        let old = lines.remove(victim);
        if old.dirty {
            let h = self.home(old.block);
            self.add("write_backs", 1);
            self.add("local_write_backs", u64::from(r == h));
            if r != h {
                self.message("write_back", true);
            }
            self.directory.insert(old.block, Known::default());
        }
    }
}
