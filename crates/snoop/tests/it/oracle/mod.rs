//! A slow simulator written from the sentences of the specification: maps, lists and searches.
//!
//! It keeps the complete history: every write with its time, every access to every copy. Misses are
//! classified afterwards from it.

#![allow(dead_code, reason = "each test program uses its own part")]

pub mod clock;
mod cpu;
pub mod random;
pub mod rules;
pub mod schedule;
mod shares;
pub mod system;

use std::collections::{BTreeMap, BTreeSet};

use self::rules::{States, reference, written_back};
use homenode_snoop::{Entry, TABLE};

/// The protocols that the oracle knows.
pub fn protocols() -> impl Iterator<Item = &'static Entry> {
    TABLE.iter().filter(|entry| rules::PROTOCOLS.contains(&entry.name))
}

#[derive(Clone, Copy, Debug)]
pub struct Ref {
    pub thread: u16,
    pub write: bool,
    pub addr: u64,
    pub size: u8,
    pub private: bool,
    pub kernel: bool,
    /// For a private reference by the kernel: the page is the user's.
    pub user_page: bool,
    /// A reference to the kernel's data of each processor.
    pub of_processor: bool,
    pub fetch: bool,
}

impl Ref {
    /// Whether the area is private: the user's pages are, and with the option those that only the
    /// kernel references.
    pub fn is_private(&self, kernel_pages: bool) -> bool {
        self.private && (kernel_pages || self.user_page || !self.kernel)
    }

    /// The kind of its page.
    fn origin(&self) -> &'static str {
        match (self.of_processor, self.private) {
            (true, _) => "processor_area",
            (false, false) => "other",
            (false, true) if self.is_private(false) => "user_page",
            (false, true) => "kernel_page",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub protocol: &'static str,
    pub processors: usize,
    pub size: u64,
    pub block: u64,
    pub ways: usize,
    /// Bytes and ways of each processor's instruction cache, if it is separate.
    pub instructions: Option<(u64, usize)>,
    pub torrellas: bool,
    pub private_kernel: bool,
}

/// A frame that was used: a copy, or the record of one.
struct Frame {
    block: u64,
    valid: bool,
    last_use: u64,
    /// How and when the copy was lost.
    lost: Option<(&'static str, u64)>,
    /// When the previous copy was lost, and whether to a kernel miss: an invalidation miss to
    /// classify.
    judge: Option<(u64, bool)>,
    /// Words accessed during this copy's life, with times.
    touched: Vec<(u64, u64)>,
}

pub struct Oracle {
    machine: Machine,
    clock: u64,
    /// By cache and set. A processor's cache has its number; instruction caches come after those.
    caches: BTreeMap<(usize, u64), Vec<Frame>>,
    pub states: BTreeMap<u64, States>,
    ever: BTreeSet<(usize, u64)>,
    /// Time, processor and word address of every write.
    writes: Vec<(u64, usize, u64)>,
    pub counts: BTreeMap<String, u64>,
    /// By processor: the process that runs there, if any is scheduled.
    pub runs: BTreeMap<usize, usize>,
    /// What each process did to which blocks, in the order of time.
    history: Vec<Event>,
}

/// A process brought a block into a cache for instructions, or for data, or took it out.
struct Event {
    process: usize,
    instructions: bool,
    block: u64,
    brings: bool,
}

impl Oracle {
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            clock: 0,
            caches: BTreeMap::new(),
            states: BTreeMap::new(),
            ever: BTreeSet::new(),
            writes: Vec::new(),
            counts: BTreeMap::new(),
            runs: BTreeMap::new(),
            history: Vec::new(),
        }
    }

    pub fn count(&mut self, name: &str, kernel: bool) {
        *self.counts.entry(name.to_owned()).or_default() += 1;
        let bus = name.contains("read_") || ["update_block", "invalidate", "write"].contains(&name);
        if kernel && !bus {
            *self.counts.entry(format!("kernel {name}")).or_default() += 1;
        }
    }

    /// Bytes and ways of a cache.
    fn shape(&self, who: usize) -> (u64, usize) {
        let unified = (self.machine.size, self.machine.ways);
        if who < self.machine.processors { unified } else { self.machine.instructions.unwrap() }
    }

    fn set_of(&self, who: usize, block: u64) -> u64 {
        let (size, ways) = self.shape(who);
        block % (size / self.machine.block / ways as u64)
    }

    /// The cache that a reference goes to.
    pub fn cache_of(&self, r: &Ref) -> usize {
        let beside = self.machine.instructions.is_some() && r.fetch;
        let processors = self.machine.processors;
        usize::from(r.thread) % processors + if beside { processors } else { 0 }
    }

    fn frame(&mut self, who: usize, block: u64) -> Option<&mut Frame> {
        let set = self.set_of(who, block);
        self.caches.get_mut(&(who, set))?.iter_mut().find(|f| f.block == block)
    }

    pub fn access(&mut self, r: Ref) {
        self.count("references", r.kernel);
        let size = u64::from(r.size);
        let mut blocks: Vec<u64> =
            (r.addr..r.addr + size).map(|a| a / self.machine.block).collect();
        blocks.dedup();
        for block in blocks {
            let words: BTreeSet<u64> = (r.addr..r.addr + size)
                .filter(|a| a / self.machine.block == block)
                .map(|a| a / 4)
                .collect();
            self.piece(r, block, &words);
        }
    }

    pub fn piece(&mut self, r: Ref, block: u64, words: &BTreeSet<u64>) {
        self.clock += 1;
        let who = self.cache_of(&r);
        let private = r.is_private(self.machine.private_kernel);
        let valid = self.frame(who, block).is_some_and(|f| f.valid);
        let judge = if valid { None } else { self.miss(r, who, private, block, words) };
        if !valid {
            self.moves(who, block, true);
        }
        let before = self.states.entry(block).or_default();
        let happened = reference(self.machine.protocol, before, who, r.write, private);
        for name in &happened.bus {
            self.count(name, r.kernel);
            if ["invalidate", "write"].contains(name) {
                let sharing = self.sharing(&happened.remote, block, words, private);
                self.count(sharing, r.kernel);
                *self.counts.entry(format!("origin {}", r.origin())).or_default() += 1;
            }
        }
        for loser in happened.lost {
            let why =
                if self.machine.protocol.starts_with("pscr") { "removal" } else { "invalidation" };
            let now = self.clock;
            let frame = self.frame(loser, block).unwrap();
            (frame.valid, frame.lost) = (false, Some((why, now)));
            self.end_of_life(loser, block);
        }
        let now = self.clock;
        let frame = self.frame(who, block).unwrap();
        if !valid {
            frame.judge = judge;
            frame.touched.clear();
        }
        (frame.valid, frame.last_use) = (true, now);
        frame.touched.extend(words.iter().map(|&word| (now, word)));
        if r.write {
            self.writes.extend(words.iter().map(|&word| (now, who, word)));
        }
    }

    /// True if a holder of a remote copy touched one of the words during that copy's life.
    fn sharing(
        &mut self,
        remote: &[usize],
        block: u64,
        words: &BTreeSet<u64>,
        private: bool,
    ) -> &'static str {
        if private {
            return "coherence_passive";
        }
        let touched = remote.iter().any(|&other| {
            self.frame(other, block).unwrap().touched.iter().any(|(_, word)| words.contains(word))
        });
        if touched { "coherence_true" } else { "coherence_false" }
    }

    /// Determines why the block is missing and finds a frame. Returns the miss to classify later.
    fn miss(
        &mut self,
        r: Ref,
        who: usize,
        private: bool,
        block: u64,
        words: &BTreeSet<u64>,
    ) -> Option<(u64, bool)> {
        let lost = self.frame(who, block).and_then(|f| f.lost);
        let had = !self.ever.insert((who, block));
        if lost.is_none() {
            let class = if had { "replacement" } else { "cold" };
            self.count(class, r.kernel);
            if self.is_of_a_switch(who, block) {
                *self.counts.entry(format!("context switch {class}")).or_default() += 1;
            }
            self.make_room(who, block);
            return None;
        }
        match lost.unwrap() {
            ("removal", _) => self.count("removal", r.kernel),
            _ if private => self.count("invalidation_passive", r.kernel),
            (_, at) if self.machine.torrellas => {
                let now = self.clock;
                let written = words.iter().any(|&w| self.written_by_another(who, w, at, now));
                let name = if written { "invalidation_true" } else { "invalidation_false" };
                self.count(name, r.kernel);
            }
            (_, at) => return Some((at, r.kernel)),
        }
        None
    }

    fn moves(&mut self, who: usize, block: u64, brings: bool) {
        let Some(&process) = self.runs.get(&(who % self.machine.processors)) else { return };
        let instructions = who >= self.machine.processors;
        self.history.push(Event { process, instructions, block, brings });
    }

    /// Whether the last that the process itself did to the block was to bring it in.
    fn is_of_a_switch(&self, who: usize, block: u64) -> bool {
        let Some(&process) = self.runs.get(&(who % self.machine.processors)) else { return false };
        let kind = who >= self.machine.processors;
        let own = |e: &&Event| (e.process, e.instructions, e.block) == (process, kind, block);
        self.history.iter().rfind(own).is_some_and(|event| event.brings)
    }

    fn written_by_another(&self, who: usize, word: u64, from: u64, until: u64) -> bool {
        let written = |at| (from..=until).contains(&at);
        self.writes.iter().any(|&(at, by, w)| by != who && w == word && written(at))
    }

    /// The copy is lost: was the miss that fetched it true sharing?
    fn end_of_life(&mut self, who: usize, block: u64) {
        let frame = self.frame(who, block).unwrap();
        let (judge, touched) = (frame.judge.take(), frame.touched.clone());
        if let Some((lost_at, kernel)) = judge {
            let essential =
                touched.iter().any(|&(at, word)| self.written_by_another(who, word, lost_at, at));
            let name = if essential { "invalidation_true" } else { "invalidation_false" };
            self.count(name, kernel);
        }
    }

    /// An unused frame, otherwise the least recently used invalidated one, otherwise the least
    /// recently used one.
    fn make_room(&mut self, who: usize, block: u64) {
        let (set, ways) = (self.set_of(who, block), self.shape(who).1);
        let frames = self.caches.entry((who, set)).or_default();
        if frames.len() == ways {
            let victim = (0..ways).min_by_key(|&i| (frames[i].valid, frames[i].last_use)).unwrap();
            let (old, valid) = (frames[victim].block, frames[victim].valid);
            if valid {
                let state = self.states.get_mut(&old).unwrap().remove(&who).unwrap();
                if written_back(self.machine.protocol).contains(&state) {
                    self.count("update_block", false);
                }
                self.end_of_life(who, old);
            }
            self.caches.get_mut(&(who, set)).unwrap().remove(victim);
            self.moves(who, old, false);
        }
        self.caches.get_mut(&(who, set)).unwrap().push(Frame {
            block,
            valid: false,
            last_use: 0,
            lost: None,
            judge: None,
            touched: Vec::new(),
        });
    }

    /// Classifies the remaining misses.
    pub fn finish(mut self) -> BTreeMap<String, u64> {
        let all: Vec<(usize, u64)> = self
            .caches
            .iter()
            .flat_map(|(&(who, _), frames)| frames.iter().map(move |f| (who, f.block)))
            .collect();
        for (who, block) in all {
            self.end_of_life(who, block);
        }
        self.counts
    }
}
