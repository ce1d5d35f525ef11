//! A slow simulator with a clock, written from the sentences of `docs/bus.md`: it looks at every
//! processor in every cycle. Process i runs on processor i.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::rules::reference;
use super::{Machine, Oracle, Ref};

/// A reference of a process.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub r: Ref,
    pub fetch: bool,
    pub atomic: bool,
    /// Instructions without a reference before it, of a process that fetches none.
    pub gap: u32,
}

/// What has a time.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub operation: u64,
    pub store_buffer: usize,
    pub misses: usize,
    pub window: u64,
    pub blocking: bool,
    pub split: bool,
    pub round_robin: bool,
}

/// A reference to one block.
#[derive(Clone, Debug)]
struct Part {
    op: Op,
    block: u64,
    words: BTreeSet<u64>,
    first: bool,
    /// Whether it goes to the instruction cache, if there is one.
    beside: bool,
}

impl Part {
    /// The block and which cache it is for.
    fn place(&self) -> (u64, bool) {
        (self.block, self.beside)
    }
}

/// A load under way.
struct Load {
    id: u64,
    part: Part,
    instruction: u64,
    happened: bool,
    with_store: bool,
    followers: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Load(u64),
    Store,
    Wait,
}

#[derive(Default)]
struct Cpu {
    parts: VecDeque<Part>,
    looks_at: Option<u64>,
    instructions: u64,
    fetches: bool,
    loads: Vec<Load>,
    stores: VecDeque<Part>,
    store_asked: bool,
    store_happened: bool,
    waits: Option<Part>,
    busy: u64,
    ended_at: u64,
}

/// Somebody who wants the bus: a new transaction, or memory with an answer of so many cycles.
struct Wish {
    cpu: usize,
    what: What,
    block: u64,
    answer: Option<u64>,
}

/// When, for whom, and whether memory is due (with which block, and how long it needs the bus) or
/// all is done.
type Later = (u64, usize, What, Option<(u64, u64)>);

pub struct ClockOracle {
    times: Times,
    machine: Machine,
    caches: Oracle,
    cpus: Vec<Cpu>,
    wishes: Vec<Wish>,
    later: Vec<Later>,
    /// Blocks that memory has still to send.
    missing: BTreeSet<u64>,
    served_last: usize,
    bus_free: u64,
    pub bus_busy: u64,
    ids: u64,
}

/// What came out.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub counts: BTreeMap<String, u64>,
    pub cycles: u64,
    pub bus_busy: u64,
    /// Of each processor: operations, waiting.
    pub processors: Vec<(u64, u64)>,
}

impl ClockOracle {
    pub fn new(machine: Machine, times: Times, ops: &[Vec<Op>]) -> Self {
        let mut cpus: Vec<Cpu> = ops.iter().map(|ops| cpu(&machine, ops)).collect();
        cpus.resize_with(machine.processors, Cpu::default);
        Self {
            times,
            machine,
            caches: Oracle::new(machine),
            cpus,
            wishes: Vec::new(),
            later: Vec::new(),
            missing: BTreeSet::new(),
            served_last: machine.processors - 1,
            bus_free: 0,
            bus_busy: 0,
            ids: 0,
        }
    }

    pub fn run(mut self) -> Outcome {
        let mut cycle = 0;
        while self.cpus.iter().any(|cpu| cpu.looks_at.is_some() || !cpu.is_quiet()) {
            self.what_is_over(cycle);
            for who in 0..self.cpus.len() {
                if self.cpus[who].looks_at == Some(cycle) {
                    self.look(who, cycle);
                }
            }
            self.give_bus(cycle);
            cycle += 1;
        }
        let last = self.cpus.iter().map(|cpu| cpu.ended_at).max().unwrap();
        let processors = self.cpus.iter().map(|cpu| (cpu.busy, cpu.ended_at - cpu.busy)).collect();
        let cycles = last.max(self.bus_free);
        Outcome { counts: self.caches.finish(), cycles, bus_busy: self.bus_busy, processors }
    }

    fn what_is_over(&mut self, cycle: u64) {
        let now: Vec<_> = self.later.extract_if(.., |&mut (at, ..)| at == cycle).collect();
        for who in 0..self.cpus.len() {
            for &(_, _, what, answer) in now.iter().filter(|&&(_, cpu, ..)| cpu == who) {
                if let Some((block, cycles)) = answer {
                    self.wishes.push(Wish { cpu: who, what, block, answer: Some(cycles) });
                    continue;
                }
                self.done(who, what, cycle);
            }
        }
    }

    fn done(&mut self, who: usize, what: What, cycle: u64) {
        let cpu = &mut self.cpus[who];
        match what {
            What::Load(id) => cpu.loads.retain(|load| load.id != id),
            What::Store => {
                cpu.stores.pop_front();
                (cpu.store_asked, cpu.store_happened) = (false, false);
                cpu.loads.retain(|load| !(load.with_store && load.happened));
            }
            What::Wait => {
                cpu.waits = None;
                cpu.looks_at = Some(cycle + self.times.operation);
            }
        }
        self.stores(who);
        let cpu = &mut self.cpus[who];
        // A processor that could not begin tries again.
        if cpu.looks_at == Some(u64::MAX) && cpu.waits.is_none() {
            cpu.looks_at = Some(cycle);
        }
    }

    fn needs_bus(&self, who: usize, part: &Part) -> bool {
        let mut states = self.caches.states.get(&part.block).cloned().unwrap_or_default();
        let private = self.is_private(part);
        let cache = who + if part.beside { self.machine.processors } else { 0 };
        let write = part.op.r.write;
        !reference(self.machine.protocol, &mut states, cache, write, private).bus.is_empty()
    }

    fn is_private(&self, part: &Part) -> bool {
        part.op.r.private && (!part.op.r.kernel || self.machine.private_kernel)
    }

    fn happen(&mut self, who: usize, part: &Part) {
        let r = Ref { thread: u16::try_from(who).unwrap(), ..part.op.r };
        self.caches.piece(r, part.block, &part.words);
    }

    fn look(&mut self, who: usize, cycle: u64) {
        let times = self.times;
        let Some(part) = self.cpus[who].parts.front().cloned() else {
            let cpu = &mut self.cpus[who];
            cpu.looks_at = if cpu.is_quiet() { None } else { Some(u64::MAX) };
            cpu.ended_at = cycle;
            return;
        };
        let cpu = &mut self.cpus[who];
        let is_instruction = part.first && (part.op.fetch || !cpu.fetches);
        let before = if is_instruction { part.op.gap } else { 0 };
        let number = cpu.instructions + u64::from(is_instruction) + u64::from(before);
        let too_far = cpu.loads.iter().any(|load| number - load.instruction >= times.window);
        let fence = part.op.atomic && !cpu.is_quiet();
        cpu.looks_at = Some(u64::MAX);
        if too_far || fence {
            return;
        }
        let begun =
            if part.op.r.write { self.store(who, &part) } else { self.load(who, &part, number) };
        if !begun {
            return;
        }
        let cpu = &mut self.cpus[who];
        if cpu.waits.is_none() {
            cpu.looks_at = Some(cycle + times.operation);
        }
        cpu.busy += times.operation;
        cpu.instructions = number;
        cpu.fetches |= part.op.fetch;
        cpu.parts.pop_front();
        if part.first {
            self.caches.count("references", part.op.r.kernel);
        }
    }

    /// Whether the load could begin.
    fn load(&mut self, who: usize, part: &Part, instruction: u64) -> bool {
        let same = |load: &&mut Load| !load.happened && load.part.place() == part.place();
        if let Some(load) = self.cpus[who].loads.iter_mut().find(same) {
            load.followers.push(part.clone());
            return true;
        }
        if !self.needs_bus(who, part) {
            self.happen(who, part);
            return true;
        }
        if self.times.blocking {
            self.wait(who, part);
            return true;
        }
        if self.cpus[who].loads.len() == self.times.misses {
            return false;
        }
        self.ids += 1;
        let id = self.ids;
        let gone = usize::from(self.cpus[who].store_happened);
        let mut stores = self.cpus[who].stores.iter().skip(gone);
        let with_store = stores.any(|store| store.place() == part.place());
        self.cpus[who].loads.push(Load {
            id,
            part: part.clone(),
            instruction,
            happened: false,
            with_store,
            followers: Vec::new(),
        });
        if !with_store {
            self.wishes.push(Wish {
                cpu: who,
                what: What::Load(id),
                block: part.block,
                answer: None,
            });
        }
        true
    }

    fn wait(&mut self, who: usize, part: &Part) {
        self.cpus[who].waits = Some(part.clone());
        self.wishes.push(Wish { cpu: who, what: What::Wait, block: part.block, answer: None });
    }

    /// Whether the store could begin.
    fn store(&mut self, who: usize, part: &Part) -> bool {
        if self.cpus[who].stores.is_empty() && !self.needs_bus(who, part) {
            self.happen(who, part);
            return true;
        }
        if self.times.blocking || self.times.store_buffer == 0 || part.op.atomic {
            if self.cpus[who].own_fetch(part) {
                return false;
            }
            self.wait(who, part);
            return true;
        }
        if self.cpus[who].stores.len() == self.times.store_buffer {
            return false;
        }
        self.cpus[who].stores.push_back(part.clone());
        self.stores(who);
        true
    }

    /// Buffered stores happen in order until one needs the bus.
    fn stores(&mut self, who: usize) {
        loop {
            let cpu = &self.cpus[who];
            let Some(part) = cpu.stores.front().cloned() else { return };
            if cpu.store_asked || cpu.own_fetch(&part) {
                return;
            }
            if self.needs_bus(who, &part) {
                self.cpus[who].store_asked = true;
                self.wishes.push(Wish {
                    cpu: who,
                    what: What::Store,
                    block: part.block,
                    answer: None,
                });
                return;
            }
            self.happen(who, &part);
            self.cpus[who].stores.pop_front();
        }
    }

    fn give_bus(&mut self, cycle: u64) {
        if cycle < self.bus_free {
            return;
        }
        let count = self.cpus.len();
        let can = |w: &Wish| w.answer.is_some() || !self.missing.contains(&w.block);
        let first_of = |who| self.wishes.iter().position(|w| can(w) && w.cpu == who);
        let chosen = if self.times.round_robin {
            (1..=count).find_map(|step| first_of((self.served_last + step) % count))
        } else {
            self.wishes.iter().position(can)
        };
        let Some(chosen) = chosen else { return };
        let wish = self.wishes.remove(chosen);
        self.served_last = wish.cpu;
        if let Some(cycles) = wish.answer {
            self.missing.remove(&wish.block);
            self.hold(cycle, cycles);
            self.later.push((cycle + cycles, wish.cpu, wish.what, None));
            return;
        }
        let before = self.caches.counts.clone();
        self.transact(wish.cpu, wish.what);
        let made = |name: &str| {
            let count = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0);
            count(&self.caches.counts) - count(&before)
        };
        let data = self.machine.block / 8;
        let memory = made("read_block_memory") + made("read_invalidate_memory");
        let cache = made("read_block_cache") + made("read_invalidate_cache");
        let rest = cache * (8 + data) + 5 * (made("invalidate") + made("write"));
        let back = made("update_block") * (4 + data);
        if memory == 1 && self.times.split {
            self.hold(cycle, 8 + back);
            self.missing.insert(wish.block);
            let answer = Some((wish.block, data + rest));
            self.later.push((cycle + 64, wish.cpu, wish.what, answer));
        } else {
            let ready = memory * (64 + data) + rest;
            self.hold(cycle, ready + back);
            self.later.push((cycle + ready, wish.cpu, wish.what, None));
        }
    }

    fn hold(&mut self, cycle: u64, cycles: u64) {
        self.bus_free = cycle + cycles;
        self.bus_busy += cycles;
    }

    fn transact(&mut self, who: usize, what: What) {
        let mut parts = Vec::new();
        let take = |load: &mut Load, parts: &mut Vec<Part>| {
            load.happened = true;
            parts.push(load.part.clone());
            parts.append(&mut load.followers);
        };
        let cpu = &mut self.cpus[who];
        match what {
            What::Load(id) => {
                take(cpu.loads.iter_mut().find(|load| load.id == id).unwrap(), &mut parts);
            }
            What::Wait => parts.push(cpu.waits.clone().unwrap()),
            What::Store => {
                let store = cpu.stores[0].clone();
                cpu.store_happened = true;
                let riders = cpu.loads.iter_mut().filter(|load| {
                    load.with_store && !load.happened && load.part.place() == store.place()
                });
                parts.push(store.clone());
                riders.for_each(|load| take(load, &mut parts));
            }
        }
        for part in parts {
            self.happen(who, &part);
        }
    }
}

impl Cpu {
    fn is_quiet(&self) -> bool {
        self.loads.is_empty() && self.stores.is_empty() && self.waits.is_none()
    }

    fn own_fetch(&self, part: &Part) -> bool {
        self.loads.iter().any(|load| !load.with_store && load.part.place() == part.place())
    }
}

/// A processor that has all its references before it, block by block.
fn cpu(machine: &Machine, ops: &[Op]) -> Cpu {
    let mut parts = VecDeque::new();
    for &op in ops {
        let op = Op { r: Ref { fetch: op.fetch, ..op.r }, ..op };
        let bytes = op.r.addr..op.r.addr + u64::from(op.r.size);
        let mut blocks: Vec<u64> = bytes.clone().map(|a| a / machine.block).collect();
        blocks.dedup();
        for (at, block) in blocks.into_iter().enumerate() {
            let mine = bytes.clone().filter(|a| a / machine.block == block);
            parts.push_back(Part {
                op,
                block,
                words: mine.map(|a| a / 4).collect(),
                first: at == 0,
                beside: machine.instructions.is_some() && op.fetch,
            });
        }
    }
    Cpu { parts, looks_at: Some(0), ..Cpu::default() }
}
