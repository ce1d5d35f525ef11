//! A slow simulator of nodes with controllers, written from the sentences of `docs/controllers.md`:
//! lists and maps, a search for the next event, and the rules of SDD and of proxies as code.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

mod controllers;
mod copies;
mod homes;
mod letters;
mod processors;
mod proxies;
pub mod random;
mod synchronising;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use homenode_clock::streams::Operation;
use homenode_directory::ProxyAllocation;
use homenode_machine::BusyStore;

use crate::controllers::ListMachine;
use controllers::{Input, Planned, Step};
use copies::PlainFrame;
use homes::BlockEntry;
use letters::{Letter, Link};
use processors::{PlainProcessor, PlainRequest};
use proxies::Owed;
use synchronising::{PlainLocks, PlainPages};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct PlainOutcome {
    pub cycles: u64,
    /// For each processor, cycles by activity.
    pub processors: Vec<BTreeMap<&'static str, u64>>,
    /// For each controller.
    pub controllers: Vec<ControllerLoad>,
    pub counts: BTreeMap<&'static str, u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControllerLoad {
    pub busy: u64,
    /// Cycles of accesses of memory.
    pub memory: u64,
    /// Messages from other nodes, how long they waited, and the longest queue.
    pub served: u64,
    pub waited: u64,
    pub longest: u64,
    /// How long messages waited for the node's input, and most of them at a time.
    pub input_waited: u64,
    pub input_longest: u64,
}

#[derive(Default)]
struct PlainNode {
    processor: PlainProcessor,
    /// The access its processor waits for, and whether the controller could not begin it.
    request: Option<PlainRequest>,
    put_off: bool,
    /// The block in each place of the first level.
    first_level: HashMap<u64, u64>,
    queue: VecDeque<(u64, Input)>,
    full: bool,
    /// Whether the controller's next task is scheduled.
    planned: bool,
    controller_free: u64,
    send_free: u64,
    receive_free: u64,
    /// When messages are received that wait for the node's input.
    receptions: Vec<u64>,
    load: ControllerLoad,
}

/// A second level, or a proxy cache.
#[derive(Default)]
struct PlainCache {
    node: usize,
    sets_and_ways: (u64, u64),
    frames: Vec<PlainFrame>,
    /// Blocks that it has replaced and that the controller has not finished, or that are only
    /// handed on.
    left: HashMap<u64, PlainFrame>,
    /// Blocks for which it had a frame.
    ever: HashSet<u64>,
    /// Requests for copies so far.
    tags: u64,
    /// Messages that wait for another state of their block.
    waiting: Vec<Letter>,
    /// Clients for which it fetches blocks, in order of arrival.
    clients: HashMap<u64, Vec<Link>>,
    /// The recipients of blocks that it hands on, and how many clients follow.
    followers: HashMap<u64, Link>,
    owed: HashMap<u64, Owed>,
    bus_free: u64,
}

/// A controller's handling of one task.
struct Turn {
    node: usize,
    /// The cache concerned; for a home, the node's second level.
    cache: usize,
    /// The time until which it is busy.
    time: u64,
    /// Messages to itself.
    own: VecDeque<Letter>,
}

pub struct PlainLists {
    machine: ListMachine,
    now: u64,
    made: u64,
    planned: Vec<Planned>,
    nodes: Vec<PlainNode>,
    /// The second levels by their nodes, and then the proxy caches, if there are any.
    caches: Vec<PlainCache>,
    directory: HashMap<u64, BlockEntry>,
    pages: PlainPages,
    locks: PlainLocks,
    counts: BTreeMap<&'static str, u64>,
    /// How often each event that tests must see happened.
    pub seen: BTreeMap<&'static str, u64>,
}

impl PlainLists {
    /// Process i runs on node i.
    pub fn new(machine: &ListMachine, programs: &[Vec<Operation>]) -> Self {
        let node = |steps: &Vec<Operation>| PlainNode {
            processor: PlainProcessor::new(steps),
            ..PlainNode::default()
        };
        Self {
            machine: machine.clone(),
            now: 0,
            made: 0,
            planned: Vec::new(),
            nodes: programs.iter().map(node).collect(),
            caches: caches(machine, programs.len()),
            directory: HashMap::new(),
            pages: PlainPages::default(),
            locks: PlainLocks::default(),
            counts: BTreeMap::new(),
            seen: BTreeMap::new(),
        }
    }

    fn add(&mut self, name: &'static str, count: u64) {
        *self.counts.entry(name).or_default() += count;
    }

    fn see(&mut self, name: &'static str) {
        *self.seen.entry(name).or_default() += 1;
    }

    /// A number greater than all before.
    fn next_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub fn run(&mut self) -> PlainOutcome {
        loop {
            let event = self.planned.iter().map(|planned| planned.time).min();
            let look = self.nodes.iter().filter_map(|node| node.processor.looks_at).min();
            let Some(next) = event.into_iter().chain(look).min() else { break };
            self.pass_time(next);
            while let Some(step) = self.take_event() {
                self.happens(step);
            }
            for node in 0..self.nodes.len() {
                while self.nodes[node].processor.looks_at == Some(self.now) {
                    self.look(node);
                }
            }
        }
        let last = self.nodes.iter().map(|node| node.controller_free).max().unwrap_or(0);
        self.pass_time(last.max(self.now));
        PlainOutcome {
            cycles: self.now,
            processors: self.nodes.iter().map(|node| some(&node.processor.cycles)).collect(),
            controllers: self.nodes.iter().map(|node| node.load).collect(),
            counts: some(&self.counts),
        }
    }

    fn pass_time(&mut self, until: u64) {
        let cycles = until - self.now;
        for PlainNode { processor, .. } in &mut self.nodes {
            *processor.cycles.entry(processor.doing).or_default() += cycles;
        }
        self.now = until;
    }

    /// The first event of this cycle: of the lowest node, its controller's first, and in order of
    /// creation.
    fn take_event(&mut self) -> Option<Step> {
        let now = self.now;
        let due = self.planned.iter().enumerate().filter(|(_, planned)| planned.time == now);
        let (at, _) = due.min_by_key(|(_, planned)| (planned.node, planned.class, planned.made))?;
        Some(self.planned.remove(at).step)
    }

    fn happens(&mut self, step: Step) {
        match step {
            Step::Comes(to, input) => self.comes(to, input),
            Step::Received(to, input) => self.received(to, input),
            Step::Misses(node) => self.queue_up(node, Input::Processor),
            Step::TakesUp(node) => self.take_up_next(node),
            Step::Done(node) => self.goes_on(node, self.operation()),
            Step::Ready(node) => self.nodes[node].processor.looks_at = Some(self.now + 1),
            Step::GoesOn(node) => self.goes_on(node, 0),
            Step::Effect(node, operation, home) => self.effect(node, operation, home),
        }
    }

    fn goes_on(&mut self, node: usize, cycles: u64) {
        self.nodes[node].processor.operate(self.now, cycles);
    }

    fn operation(&self) -> u64 {
        self.machine.timed.clock.processor.operation_cycles
    }

    fn block_bytes(&self) -> u64 {
        self.machine.setup.cache.block_size_bytes
    }
}

/// The second level of each node, and its proxy cache if there are any, which is direct-mapped.
fn caches(machine: &ListMachine, nodes: usize) -> Vec<PlainCache> {
    let shape = machine.setup.cache;
    let blocks = shape.size_bytes / shape.block_size_bytes;
    let of = |sets_and_ways| {
        (0..nodes).map(move |node| PlainCache { node, sets_and_ways, ..PlainCache::default() })
    };
    let mut caches: Vec<_> = of((blocks / shape.associativity, shape.associativity)).collect();
    if let ProxyAllocation::Separate { bytes } = machine.timed.proxies.allocation {
        caches.extend(of((bytes / shape.block_size_bytes, 1)));
    }
    caches
}

/// Cycles of an access with a look-up, with the block itself, or with both.
fn access(store: &BusyStore, looks_up: bool, line: bool) -> u64 {
    let parts = [(looks_up, store.lookup_cycles), (line, store.line_cycles)];
    let taken: u64 = parts.iter().map(|&(does, cycles)| if does { cycles } else { 0 }).sum();
    store.acquire_cycles + taken + store.release_cycles
}

/// Counts other than 0.
fn some(counts: &BTreeMap<&'static str, u64>) -> BTreeMap<&'static str, u64> {
    counts.clone().into_iter().filter(|&(_, count)| count > 0).collect()
}
