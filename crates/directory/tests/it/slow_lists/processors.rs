//! Processors, which wait for every reference, and their requests to controllers.

use std::collections::{BTreeMap, VecDeque};

use homenode_clock::streams::Operation;

use super::controllers::Step;
use super::copies::{Has, PlainFrame};
use super::letters::{Letter, Link, Says};
use super::{PlainLists, Turn};

#[derive(Debug)]
pub(super) struct PlainProcessor {
    pub(super) steps: VecDeque<Operation>,
    /// The name under which its cycles are currently counted.
    pub(super) doing: &'static str,
    /// When it checks its next step.
    pub(super) looks_at: Option<u64>,
    gap_done: bool,
    pub(super) cycles: BTreeMap<&'static str, u64>,
}

/// An access that a processor waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainRequest {
    pub(super) block: u64,
    write: bool,
    since: u64,
    misses: bool,
    /// Whether the controller has begun it.
    taken_up: bool,
    /// The request's number, once the controller has begun it.
    pub(super) tag: Option<u64>,
    /// When it went to another node as a read.
    pub(super) sent: Option<u64>,
}

impl Default for PlainProcessor {
    fn default() -> Self {
        Self::new(&[])
    }
}

impl PlainProcessor {
    pub(super) fn new(steps: &[Operation]) -> Self {
        Self {
            steps: steps.iter().copied().collect(),
            doing: "busy",
            looks_at: Some(0),
            gap_done: false,
            cycles: BTreeMap::new(),
        }
    }

    pub(super) fn operate(&mut self, now: u64, cycles: u64) {
        (self.doing, self.looks_at) = ("busy", Some(now + cycles));
    }

    pub(super) fn wait(&mut self, what: &'static str) {
        (self.doing, self.looks_at) = (what, None);
    }
}

impl PlainLists {
    pub(super) fn look(&mut self, node: usize) {
        let now = self.now;
        let processor = &mut self.nodes[node].processor;
        processor.doing = "busy";
        let Some(step) = processor.steps.front().copied() else {
            processor.wait("idle");
            return;
        };
        if !step.kind.is_reference() {
            self.synchronise(node, step);
            return;
        }
        let gap = u64::from(step.count) * self.machine.timed.clock.processor.instruction_cycles;
        if gap > 0 && !processor.gap_done {
            processor.gap_done = true;
            processor.operate(now, gap);
            return;
        }
        let block = step.addr / self.block_bytes();
        if !self.is_mapped(block) {
            self.fault(node, block);
            return;
        }
        let operation = self.operation();
        let processor = &mut self.nodes[node].processor;
        processor.gap_done = false;
        processor.steps.pop_front();
        let write = step.kind.writes();
        self.add("references", 1);
        self.add("writes", u64::from(write));
        if !write && self.in_first_level(node, block) {
            self.see("the first level has it");
            self.touch(node, block);
            self.nodes[node].processor.operate(now, operation);
            return;
        }
        self.nodes[node].processor.wait(if write { "write" } else { "read" });
        self.ask_second_level(node, block, write);
    }

    fn first_level_place(&self, block: u64) -> u64 {
        block % (self.machine.timed.machine.first_level_bytes / self.block_bytes()).max(1)
    }

    fn in_first_level(&self, node: usize, block: u64) -> bool {
        self.nodes[node].first_level.get(&self.first_level_place(block)) == Some(&block)
    }

    fn touch(&mut self, node: usize, block: u64) {
        let used = self.next_number();
        self.in_frame(node, block).unwrap().used = used;
    }

    fn ask_second_level(&mut self, node: usize, block: u64, write: bool) {
        let has = self.has(node, block);
        let hits = has.permits(write);
        let done = self.use_bus(node, self.now, true, hits && !write);
        if hits {
            self.takes_place(node, block, write);
            self.plan(done, node, Step::Done(node));
            return;
        }
        self.nodes[node].request = Some(PlainRequest {
            block,
            write,
            since: self.now,
            misses: false,
            taken_up: false,
            tag: None,
            sent: None,
        });
        self.plan(done, node, Step::Misses(node));
    }

    fn takes_place(&mut self, node: usize, block: u64, write: bool) {
        self.touch(node, block);
        if !write {
            let place = self.first_level_place(block);
            self.nodes[node].first_level.insert(place, block);
        }
    }

    /// The controller begins the request of its processor.
    pub(super) fn begin(&mut self, turn: &mut Turn) {
        turn.cache = turn.node;
        let node = turn.node;
        let request = self.nodes[node].request.as_mut().unwrap();
        request.taken_up = true;
        let PlainRequest { block, write, .. } = *request;
        let has = self.has(node, block);
        if has.permits(write) {
            self.see("a block came for a client meanwhile");
            self.use_second_level(turn, false, true);
            self.complete(node, block, turn.time);
            return;
        }
        let upgrades = write && has == Has::Shared;
        let can = has == Has::Nothing || upgrades;
        let invalidated = self.in_frame(node, block).is_some();
        if !can || !(invalidated || self.find_frame(turn, block)) {
            self.see(if can { "a request waits for a frame" } else { "a request waits" });
            self.nodes[node].put_off = true;
            return;
        }
        let home = self.home_from_now(node, block);
        let tag = if upgrades {
            self.add("upgrades", 1);
            self.next_tag(node)
        } else {
            self.miss(node, block, invalidated);
            self.add("local_fills", u64::from(home == node));
            self.fill_frame(node, block)
        };
        let request = self.nodes[node].request.as_mut().unwrap();
        (request.tag, request.misses) = (Some(tag), !upgrades);
        let requester = Link { cache: node, tag };
        let copy = self.own(node, block);
        let says = match (write, upgrades) {
            (false, _) => {
                self.set(node, block, Has::Reads { follower: false });
                self.ask_first(turn, block);
                return;
            }
            (true, false) => Says::Write,
            (true, true) => Says::Upgrade { copy },
        };
        self.set(node, block, Has::Writes { had: upgrades, gone: false });
        self.post(turn, Letter { from: node, to: home, block, requester, via: None, says });
    }

    fn miss(&mut self, node: usize, block: u64, invalidated: bool) {
        let had = self.caches[node].ever.contains(&block);
        let class = match (invalidated, had) {
            (true, _) => "invalidation",
            (false, true) => "replacement",
            (false, false) => "cold",
        };
        self.add(class, 1);
        self.add("fills", 1);
    }

    fn next_tag(&mut self, cache: usize) -> u64 {
        self.caches[cache].tags += 1;
        self.caches[cache].tags
    }

    /// A frame is for this block from now on. Returns the number of the request for it.
    pub(super) fn fill_frame(&mut self, cache: usize, block: u64) -> u64 {
        let (tag, used) = (self.next_tag(cache), self.next_number());
        let at = &mut self.caches[cache];
        at.frames.retain(|frame| frame.block != block);
        at.frames.push(PlainFrame { block, has: Has::Nothing, tag, behind: None, used });
        at.ever.insert(block);
        tag
    }

    /// A processor's access completes at this time, if it waits for this block and may access it
    /// now.
    pub(super) fn complete(&mut self, cache: usize, block: u64, ready: u64) {
        let has = self.has(cache, block);
        let waits = |request: &PlainRequest| {
            request.taken_up && request.block == block && has.permits(request.write)
        };
        // No processor waits for a proxy cache.
        let of_processor = self.nodes.get(cache).and_then(|node| node.request);
        let Some(request) = of_processor.filter(waits) else { return };
        let node = cache;
        (self.nodes[node].request, self.nodes[node].put_off) = (None, false);
        if request.misses {
            self.add("filled", 1);
            self.add("fill_cycles", ready - request.since);
        }
        if let Some(sent) = request.sent {
            self.add("answered", 1);
            self.add("answer_cycles", self.now - sent);
        }
        self.takes_place(node, block, request.write);
        self.plan(ready, node, Step::Done(node));
    }
}
