//! A slow simulator with a clock, written from the sentences of `docs/directory.md`: lists and
//! maps, a search for the next event, and the rules of DASH as code.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

mod caches;
mod events;
mod homes;
mod nodes;
mod pages;
mod places;
mod processors;
pub mod random;
mod sync;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use homenode_clock::streams::Operation;
use homenode_machine::NetworkContention;

use caches::{Asked, SlowFrame};
use events::{Happening, Planned};
use homes::SlowEntry;
use nodes::SlowNetwork;
use pages::SlowPages;
use processors::SlowProcessor;
use sync::SlowSync;

/// Where pages are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowHome {
    RoundRobin,
    Fixed(usize),
    FirstTouch,
    FirstUse,
}

/// Memories that several processors share, with a cache in front of each.
#[derive(Clone, Copy, Debug)]
pub struct SlowShared {
    pub sockets: usize,
    pub memories: usize,
    pub slices: usize,
    pub tiles: usize,
    pub near: u64,
    pub socket: u64,
    pub far: u64,
    /// Sets and ways of the cache in front of a slice, and its cycles.
    pub last_level: Option<(u64, usize, u64)>,
}

/// A machine and the times of its parts.
#[derive(Clone, Copy, Debug)]
pub struct SlowMachine {
    pub nodes: usize,
    pub block: u64,
    pub sets: u64,
    pub ways: usize,
    pub page: u64,
    pub pointers: Option<usize>,
    pub home: SlowHome,
    pub header: u64,
    pub path_bits: u64,
    pub flit_cycles: u32,
    pub link: u64,
    pub routing: u64,
    pub contention: NetworkContention,
    pub lookup: u64,
    pub latency: u64,
    pub word: u64,
    pub page_fault: u64,
    pub page_table: u64,
    pub operation: u64,
    pub instruction: u64,
    pub store_buffer: usize,
    pub sequential: bool,
    pub words: u64,
    pub pipelined: bool,
    pub answer: u64,
    pub shared: Option<SlowShared>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct SlowOutcome {
    pub cycles: u64,
    /// For each processor: cycles of operations, of waiting, and without a process.
    pub processors: Vec<(u64, u64, u64)>,
    pub counts: BTreeMap<&'static str, u64>,
}

/// A reference to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Access {
    block: u64,
    write: bool,
}

/// The operations of a processor that wait for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Waiter {
    Load,
    Store,
    Processor,
}

pub struct SlowClock {
    machine: SlowMachine,
    now: u64,
    made: u64,
    planned: Vec<Planned>,
    network: SlowNetwork,
    lookup_free: Vec<u64>,
    memory_free: Vec<u64>,
    /// When a controller or memory has finished everything that arrived, and its longest queue.
    queues: BTreeMap<(&'static str, usize), Vec<u64>>,
    longest: usize,
    /// Caches in front of memories, by end point and set, most recently used first.
    last_levels: BTreeMap<(usize, u64), Vec<u64>>,
    /// Frames by node and set.
    frames: BTreeMap<(usize, u64), Vec<SlowFrame>>,
    /// Blocks for which nodes had a frame.
    ever: BTreeSet<(usize, u64)>,
    asked: BTreeMap<(usize, u64), Asked>,
    deferred: Vec<Vec<(Waiter, Access)>>,
    entries: BTreeMap<u64, SlowEntry>,
    pages: SlowPages,
    sync: SlowSync,
    processors: Vec<SlowProcessor>,
    counts: BTreeMap<&'static str, u64>,
    /// How often each event that tests must see happened.
    pub seen: BTreeMap<&'static str, u64>,
}

impl SlowClock {
    /// Process i runs on node i.
    pub fn new(machine: SlowMachine, programs: &[Vec<Operation>]) -> Self {
        let free = vec![0; machine.end_points()];
        let processor = |steps: &Vec<Operation>| SlowProcessor::new(steps.iter().copied());
        Self {
            machine,
            now: 0,
            made: 0,
            planned: Vec::new(),
            network: SlowNetwork::new(&machine),
            lookup_free: free.clone(),
            memory_free: free,
            queues: BTreeMap::new(),
            longest: 0,
            last_levels: BTreeMap::new(),
            frames: BTreeMap::new(),
            ever: BTreeSet::new(),
            asked: BTreeMap::new(),
            deferred: vec![Vec::new(); machine.nodes],
            entries: BTreeMap::new(),
            pages: SlowPages::default(),
            sync: SlowSync::default(),
            processors: programs.iter().map(processor).collect(),
            counts: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    fn add(&mut self, name: &'static str, count: u64) {
        if count > 0 {
            *self.counts.entry(name).or_default() += count;
        }
    }

    fn see(&mut self, name: &'static str) {
        *self.seen.entry(name).or_default() += 1;
    }

    /// A number greater than all before.
    fn next_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub fn run(&mut self) -> SlowOutcome {
        loop {
            let event = self.planned.iter().map(|planned| planned.time).min();
            let look = self.processors.iter().filter_map(|processor| processor.looks_at).min();
            let Some(next) = event.into_iter().chain(look).min() else { break };
            self.pass_time(next);
            while let Some(happening) = self.take_event() {
                self.happens(happening);
            }
            for node in 0..self.machine.nodes {
                while self.processors[node].looks_at == Some(self.now) {
                    self.look(node);
                }
            }
        }
        let last = self.memory_free.iter().copied().max().unwrap_or(0);
        self.pass_time(last.max(self.now));
        self.add("longest", self.longest as u64);
        let times = |p: &SlowProcessor| (p.busy, p.delay, p.idle);
        SlowOutcome {
            cycles: self.now,
            processors: self.processors.iter().map(times).collect(),
            counts: self.counts.clone().into_iter().filter(|&(_, count)| count > 0).collect(),
        }
    }

    /// Time advances: processors with a process and nothing to do wait.
    fn pass_time(&mut self, until: u64) {
        let (from, cycles) = (self.now, until - self.now);
        for processor in &mut self.processors {
            if !processor.has_process || processor.begins > from {
                processor.idle += cycles;
            } else if processor.operates_until <= from {
                processor.delay += cycles;
            }
        }
        self.now = until;
    }

    /// The first event of this cycle: of the lowest node, its memory's first, and in order of
    /// creation.
    fn take_event(&mut self) -> Option<Happening> {
        let now = self.now;
        let due = self.planned.iter().enumerate().filter(|(_, planned)| planned.time == now);
        let (at, _) = due.min_by_key(|(_, p)| (p.node, p.class, p.made))?;
        Some(self.planned.remove(at).happening)
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::HeadComes(note, tail) => self.head_comes(note, tail),
            Happening::AllHere(note) => self.all_here(note),
            Happening::LookedUp(note) => self.looked_up(note),
            Happening::FirstWord(note, last) => self.send(note, last),
            Happening::Trapped(node, page) => self.trapped(node, page),
            Happening::PageWritten(node, page) => self.page_written(node, page),
            Happening::PageMapped(page) => self.page_mapped(page),
            Happening::Done(node, waiter) => self.done(node, waiter),
            Happening::Ready(node) => {
                let processor = &mut self.processors[node];
                (processor.has_process, processor.begins) = (true, self.now + 1);
                processor.looks_at = Some(self.now + 1);
            }
            Happening::GoesOn(node) => self.processors[node].looks_at = Some(self.now),
            Happening::Effect(node, operation, home) => self.effect(node, operation, home),
        }
    }

    /// Blocks in a queue of a node, kept here because both controllers need it.
    fn take_deferred(&mut self, node: usize) -> VecDeque<(Waiter, Access)> {
        std::mem::take(&mut self.deferred[node]).into()
    }
}
