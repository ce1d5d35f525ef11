//! A slow simulator with a clock, written from the sentences of `docs/bus.md`: it checks every
//! processor in every cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub use super::cpu::Outcome;
use super::cpu::{Cpu, Load, Part, Process, What};
use super::rules::reference;
use super::schedule::{Locks, Schedule, Scheduler};
use super::shares::Shares;
use super::system::{Does, Op, System};
use super::{Machine, Oracle, Ref};

#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub operation: u64,
    pub store_buffer: usize,
    pub misses: usize,
    pub window: u64,
    /// Instructions issued in a cycle, where the window fills with time.
    pub width: Option<u64>,
    pub blocking: bool,
    pub split: bool,
    pub round_robin: bool,
    pub schedule: Schedule,
}

/// A request for the bus: a new transaction, or an answer of memory of this number of cycles.
struct Wish {
    cpu: usize,
    what: What,
    block: u64,
    answer: Option<u64>,
}

/// A later effect of a processor's request.
struct Later {
    cycle: u64,
    cpu: usize,
    what: What,
    /// Block and bus cycles of a memory answer that is due; `None` if the request is done.
    answer: Option<(u64, u64)>,
}

pub struct ClockOracle {
    times: Times,
    machine: Machine,
    system: System,
    caches: Oracle,
    cpus: Vec<Cpu>,
    processes: Vec<Process>,
    shares: Shares,
    scheduler: Scheduler,
    locks: Locks,
    forced: u64,
    wishes: Vec<Wish>,
    later: Vec<Later>,
    /// Blocks that memory has yet to send.
    missing: BTreeSet<u64>,
    served_last: usize,
    bus_free: u64,
    pub bus_busy: u64,
    ids: u64,
}

impl ClockOracle {
    pub fn new(machine: Machine, times: Times, system: System, does: Vec<Vec<Does>>) -> Self {
        let scheduler = Scheduler::new(times.schedule, does.len(), machine.processors);
        let processes: Vec<Process> = does.into_iter().map(Process::new).collect();
        let shares = Shares::new(&processes, times.schedule.restart);
        Self {
            times,
            machine,
            system,
            caches: Oracle::new(machine),
            cpus: (0..machine.processors).map(|_| Cpu::default()).collect(),
            processes,
            shares,
            scheduler,
            locks: Locks::default(),
            forced: 0,
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
        loop {
            self.what_is_over(cycle);
            self.scheduler.begin_cycle(cycle);
            self.dispatch(cycle);
            for who in 0..self.cpus.len() {
                while self.cpus[who].looks_at == Some(cycle) {
                    self.look(who, cycle);
                }
            }
            let idle = self.cpus.iter().all(|cpu| cpu.process.is_none());
            if self.shares.is_done() && idle || self.processes.iter().all(|process| process.ended) {
                break;
            }
            self.let_go();
            self.give_bus(cycle);
            for cpu in &mut self.cpus {
                cpu.delay += u64::from(cpu.process.is_some() && cpu.operates <= cycle);
            }
            cycle += 1;
        }
        Outcome {
            counts: self.caches.finish(),
            cycles: cycle.max(self.bus_free),
            bus_busy: self.bus_busy,
            processors: self.cpus.iter().map(|cpu| (cpu.busy, cpu.delay)).collect(),
            switches: self.scheduler.switches,
            migrations: self.scheduler.migrations,
            forced: self.forced,
        }
    }

    /// Idle processors take ready processes.
    fn dispatch(&mut self, cycle: u64) {
        if self.shares.is_done() {
            return;
        }
        let idle: Vec<usize> =
            (0..self.cpus.len()).filter(|&who| self.cpus[who].process.is_none()).collect();
        for (who, process) in self.scheduler.assign(&idle, &self.shares.owed, cycle) {
            let switch = self.system.switch(process);
            self.caches.runs.insert(who, process);
            let cpu = &mut self.cpus[who];
            (cpu.process, cpu.looks_at) = (Some(process), Some(cycle));
            // The switch is not part of the time slice.
            cpu.left = self.times.schedule.slice + switch.len() as u64;
            self.shares.insert(process, switch.len() as u64);
            for does in switch.into_iter().rev() {
                self.processes[process].does.push_front(does);
            }
        }
    }

    fn what_is_over(&mut self, cycle: u64) {
        let now: Vec<_> = self.later.extract_if(.., |later| later.cycle == cycle).collect();
        for who in 0..self.cpus.len() {
            for &Later { what, answer, .. } in now.iter().filter(|later| later.cpu == who) {
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
                cpu.operates = cycle + self.times.operation;
                cpu.looks_at = Some(cpu.operates);
            }
        }
        self.stores(who);
        let cpu = &mut self.cpus[who];
        // A processor that could not begin retries.
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
        part.op.r.is_private(self.machine.private_kernel)
    }

    fn happen(&mut self, who: usize, part: &Part) {
        let r = Ref { thread: u16::try_from(who).unwrap(), ..part.op.r };
        self.caches.piece(r, part.block, &part.words);
    }

    /// The next block that the processor references, if its process's next step is a reference.
    fn next_part(&mut self, who: usize, cycle: u64) -> Option<Part> {
        let done = self.shares.is_done();
        let cpu = &mut self.cpus[who];
        let process = cpu.process.unwrap();
        if done && cpu.parts.front().is_some_and(|part| part.first) {
            // It stalled before it could begin, and others have made the last reference.
            cpu.parts.clear();
        }
        if cpu.parts.is_empty() {
            let does = self.processes[process].does.front().copied();
            let op = if let Some(Does::Refers(op)) = does { Some(op) } else { None };
            let stops = done || cpu.left == 0 && self.scheduler.is_any_ready();
            match op {
                Some(op) if !stops => {
                    cpu.left = if cpu.left == 0 { self.times.schedule.slice } else { cpu.left };
                    self.cpus[who].parts = self.parts(op, who);
                }
                // Everything before it must be complete.
                _ if !cpu.is_quiet() => cpu.looks_at = Some(u64::MAX),
                _ => {
                    if self.leaves(process, does, cycle) {
                        (self.cpus[who].process, self.cpus[who].looks_at) = (None, None);
                    }
                }
            }
        }
        self.cpus[who].parts.front().cloned()
    }

    /// A step that is not a reference. Returns whether the process leaves the processor.
    fn leaves(&mut self, process: usize, does: Option<Does>, cycle: u64) -> bool {
        if let Some(Does::Waits | Does::Takes(_) | Does::GivesBack(_)) = does {
            self.processes[process].does.pop_front();
        }
        match does {
            None => self.ends(process),
            Some(Does::Refers(_)) if self.shares.is_done() => {}
            Some(Does::Refers(_)) => self.scheduler.becomes_ready(process),
            Some(Does::Waits) => self.scheduler.waits(process, cycle),
            Some(Does::Takes(lock)) => return !self.locks.take(process, lock),
            Some(Does::GivesBack(lock)) => {
                let next = self.locks.give_back(process, lock);
                next.into_iter().for_each(|next| self.scheduler.becomes_ready(next));
                return false;
            }
        }
        true
    }

    /// A process has ended, and perhaps restarts.
    fn ends(&mut self, process: usize) {
        if self.shares.may_restart() && self.processes[process].begins_again() {
            self.shares.end_round(process);
            let stuck = |other| self.locks.has_waiting(other) || self.shares.is_vain(other);
            if (0..self.processes.len()).all(stuck) {
                let lowest = self.shares.owed.iter().position(|&owed| owed > 0).unwrap();
                self.release(lowest);
            }
            self.scheduler.becomes_ready(process);
        } else {
            self.processes[process].ended = true;
        }
    }

    /// If all wait for each other, the lowest process is released.
    fn let_go(&mut self) {
        let busy = self.cpus.iter().any(|cpu| cpu.process.is_some());
        if !busy && !self.scheduler.is_any_process_due() {
            let lowest = self.processes.iter().position(|process| !process.ended).unwrap();
            self.release(lowest);
        }
    }

    fn release(&mut self, process: usize) {
        self.locks.forget(process);
        self.scheduler.becomes_ready(process);
        self.forced += 1;
    }

    /// A reference of this processor, block by block.
    fn parts(&self, op: Op, who: usize) -> VecDeque<Part> {
        let machine = &self.machine;
        let moved = op.area.map(|area| self.system.address(area, who, machine.processors));
        let addr = moved.unwrap_or(op.r.addr);
        let of_processor = moved.is_some();
        let op = Op { r: Ref { fetch: op.fetch, addr, of_processor, ..op.r }, ..op };
        let bytes = addr..addr + u64::from(op.r.size);
        let mut blocks: Vec<u64> = bytes.clone().map(|a| a / machine.block).collect();
        blocks.dedup();
        let part = |(at, block)| Part {
            op,
            block,
            words: bytes.clone().filter(|a| a / machine.block == block).map(|a| a / 4).collect(),
            first: at == 0,
            beside: machine.instructions.is_some() && op.fetch,
        };
        blocks.into_iter().enumerate().map(part).collect()
    }

    fn look(&mut self, who: usize, cycle: u64) {
        let times = self.times;
        let Some(part) = self.next_part(who, cycle) else { return };
        let process = self.cpus[who].process.unwrap();
        let fetches = self.processes[process].fetches;
        let cpu = &mut self.cpus[who];
        let is_instruction = part.first && (part.op.fetch || !fetches);
        let counts = part.first && !part.op.fetch && !fetches;
        let before = if counts { part.op.gap } else { 0 };
        let number = cpu.instructions + u64::from(is_instruction) + u64::from(before);
        let too_far = cpu.is_beyond(number, cycle, times.window, times.width);
        let fence = part.op.atomic && !cpu.is_quiet() || part.op.fetch && cpu.is_busy_with(&part);
        cpu.looks_at = Some(u64::MAX);
        if too_far || fence {
            return;
        }
        let begun = match (part.op.r.write, part.op.fetch) {
            (true, _) => self.store(who, &part),
            (false, true) => self.fetch(who, &part),
            (false, false) => self.load(who, &part, number, cycle),
        };
        if !begun {
            return;
        }
        let cpu = &mut self.cpus[who];
        if cpu.waits.is_none() {
            cpu.operates = cycle + times.operation;
            cpu.looks_at = Some(cpu.operates);
        }
        cpu.busy += times.operation;
        cpu.instructions = number;
        cpu.parts.pop_front();
        if part.first {
            cpu.left -= 1;
            self.shares.make_reference(process);
            self.scheduler.begun[process] += 1;
            self.processes[process].fetches |= part.op.fetch;
            self.processes[process].does.pop_front();
            self.caches.count("references", part.op.r.kernel);
        }
    }

    /// Whether the load could begin.
    fn load(&mut self, who: usize, part: &Part, instruction: u64, began: u64) -> bool {
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
            began,
            happened: false,
            with_store,
            followers: Vec::new(),
        });
        if !with_store {
            let what = What::Load(id);
            self.wishes.push(Wish { cpu: who, what, block: part.block, answer: None });
        }
        true
    }

    /// Whether the fetch could begin; the processor waits for one that misses.
    fn fetch(&mut self, who: usize, part: &Part) -> bool {
        if !self.needs_bus(who, part) {
            self.happen(who, part);
            return true;
        }
        let can = self.times.blocking || self.cpus[who].loads.len() < self.times.misses;
        if can {
            self.wait(who, part);
        }
        can
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
        let later = |cycle, answer| Later { cycle, cpu: wish.cpu, what: wish.what, answer };
        if let Some(cycles) = wish.answer {
            self.missing.remove(&wish.block);
            self.hold(cycle, cycles);
            self.later.push(later(cycle + cycles, None));
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
            self.later.push(later(cycle + 64, answer));
        } else {
            let ready = memory * (64 + data) + rest;
            self.hold(cycle, ready + back);
            self.later.push(later(cycle + ready, None));
        }
    }

    fn hold(&mut self, cycle: u64, cycles: u64) {
        self.bus_free = cycle + cycles;
        self.bus_busy += cycles;
    }

    fn transact(&mut self, who: usize, what: What) {
        for part in self.cpus[who].transacts(what) {
            self.happen(who, &part);
        }
    }
}
