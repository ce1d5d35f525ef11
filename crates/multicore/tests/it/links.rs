//! The machine with links: latencies worked by hand, and cycle for cycle what a slow simulator of
//! blocking processors with caches without limit does.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use homenode_base::Rng;
use homenode_cache::WaitCause;
use homenode_clock::ClockSetup;
use homenode_clock::streams::{OpKind, Operation, ThreadStreams};
use homenode_machine::{CacheShape, CachedMachine, LinkLatencies, LinkModel};
use homenode_multicore::{LinkClockSetup, link_clock};
use homenode_snoop::{BusResult, BusSetup, ProtocolSpec};

const PAGE: u64 = 4096;
const BLOCK: u64 = 64;

/// A reference to a word.
fn item(kind: OpKind, addr: u64) -> Operation {
    Operation { size: 4, ..Operation::new(kind, addr) }
}

/// Two sockets with two last levels each; all latencies differ.
fn links() -> LinkModel {
    let machine = CachedMachine::parse("spr-2s-lines").unwrap();
    let latency = LinkLatencies {
        last_level: 40,
        same_last_level: 60,
        same_socket: 100,
        cross_socket: 200,
        memory: 150,
        remote_memory: 300,
    };
    let own = machine.links(BLOCK).unwrap();
    let last_level = CacheShape { size_bytes: 1 << 16, associativity: 16, ..own.last_level };
    LinkModel { latency, last_levels: 2, last_level, ..own }
}

/// A machine, and what of it has a time.
struct Given {
    setup: BusSetup,
    timed: LinkClockSetup,
}

/// A machine with blocking processors, a process on each.
fn given(processors: u16, cache_bytes: u64) -> Given {
    let machine = CachedMachine::parse("spr-2s-lines").unwrap();
    let setup = BusSetup {
        check: true,
        ..BusSetup::new(
            processors,
            CacheShape { size_bytes: cache_bytes, block_size_bytes: BLOCK, associativity: 4 },
        )
    };
    let mut clock = ClockSetup::of(&machine, usize::from(processors));
    clock.processor.blocking = true;
    Given { setup, timed: LinkClockSetup { clock, links: links(), page_bytes: PAGE } }
}

fn run(given: &Given, processes: &[Vec<Operation>], portion: usize) -> BusResult {
    let table = ProtocolSpec::parse("mesi").unwrap().table();
    let mut clock = link_clock(&given.setup, table, &given.timed).unwrap();
    for portion in ThreadStreams::portions(processes, portion) {
        clock.push(&portion).unwrap();
    }
    clock.finish().unwrap()
}

/// Cycles of one reference after another, each on its processor of eight, with nothing beside it.
fn one_after_another(references: &[(usize, OpKind, u64)], cache_bytes: u64) -> Vec<u64> {
    let mut last = 0;
    let mut found = Vec::new();
    for upto in 1..=references.len() {
        // Each reference waits at a condition for the one before it.
        let mut processes = vec![Vec::new(); 8];
        for (number, &(processor, kind, addr)) in (0..).zip(&references[..upto]) {
            if number > 0 {
                let depart = Operation { count: 1, ..Operation::new(OpKind::Depart, number) };
                processes[processor].push(depart);
            }
            processes[processor].push(item(kind, addr));
            processes[processor].push(Operation::new(OpKind::Arrive, number + 1));
        }
        let result = run(&given(8, cache_bytes), &processes, 1000);
        found.push(result.time.cycles - last);
        last = result.time.cycles;
    }
    found
}

/// With eight processors 0 and 1 share a last level, 2 and 3 have the other one of their socket, 4
/// to 7 are in the other socket. A process that waited goes on in the cycle after it was woken.
#[test]
fn latencies_are_those_of_the_table() {
    use OpKind::{Read, Write};
    let (hit, wake) = (1, 1);
    let expected = [
        ((0, Read, 0), 150 + hit), // its own memory, which is the page's home now
        ((0, Write, 0), hit),      // exclusive: no other copy
        ((1, Read, 4), 60 + hit + wake), // the core beside it
        ((2, Read, 0), 60 + 40 + hit + wake), // the other last level of the socket: 100
        ((4, Read, 0), 200 + hit + wake), // the other socket
        ((5, Read, 0), 60 + hit + wake), // the nearest of those that have it
        ((1, Write, 0), 200 + hit + wake), // the farthest of those that have to forget it
        ((4, Read, 64), 300 + hit + wake), // the home of the page is the other socket's
        ((4, Read, 4096), 150 + hit), // a page of its own socket
        ((4, Write, 0), 200 + hit), // from the other socket, and no other core has it
    ];
    let references: Vec<(usize, OpKind, u64)> = expected.iter().map(|&(one, _)| one).collect();
    let cycles: Vec<u64> = expected.iter().map(|&(_, cycles)| cycles).collect();
    assert_eq!(one_after_another(&references, 1 << 16), cycles);
}

#[test]
fn evicted_blocks_go_to_the_last_level() {
    use OpKind::{Read, Write};
    // Four blocks fill the only set; the fifth takes the place of the first.
    let mut references: Vec<(usize, OpKind, u64)> =
        (0..5).map(|block| (0, Write, block * BLOCK)).collect();
    references.push((0, Read, 0));
    // The next block evicted is 1: its copy is in the last level of processors 0 and 1.
    references.push((1, Read, BLOCK));
    // A core of another last level has to go to memory.
    references.push((2, Read, 2 * BLOCK));
    let found = one_after_another(&references, 4 * BLOCK);
    assert_eq!(found[5..7], [40 + 1, 40 + 2]);
    assert_eq!(found[7], 100 + 2, "the cache of processor 0 still has it");
}

/// A processor of the slow simulator.
#[derive(Clone, Debug, Default)]
struct Core {
    next: usize,
    /// When it issues its next reference.
    ready: u64,
    /// When its request arrives, while there is one that has not.
    arrives: Option<u64>,
    /// When it has its data, while it waits for them.
    done: Option<u64>,
    since: u64,
    busy: u64,
    delay: u64,
}

/// State of a copy: E and M alone, S with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Copy {
    Exclusive,
    Shared,
}

/// Blocking processors, caches without limit, MESI, transactions on a block one after the other.
struct Slow<'a> {
    processes: &'a [Vec<Operation>],
    cores: Vec<Core>,
    copies: BTreeMap<u64, BTreeMap<usize, Copy>>,
    /// Blocks with a transaction: who waits for its end.
    busy: BTreeMap<u64, VecDeque<usize>>,
    /// Ends of transactions, in the order in which they began.
    ends: Vec<(u64, u64)>,
    homes: BTreeMap<u64, usize>,
    misses: u64,
    upgrades: u64,
    /// The blocks that each core ever had, and the cycles in which a core waits for one again.
    had: BTreeSet<(usize, u64)>,
    sharing: BTreeSet<u64>,
}

impl Slow<'_> {
    fn new(processes: &[Vec<Operation>]) -> Slow<'_> {
        Slow {
            processes,
            cores: vec![Core::default(); processes.len()],
            copies: BTreeMap::new(),
            busy: BTreeMap::new(),
            ends: Vec::new(),
            homes: BTreeMap::new(),
            misses: 0,
            upgrades: 0,
            had: BTreeSet::new(),
            sharing: BTreeSet::new(),
        }
    }

    fn place(&self, core: usize) -> (usize, usize) {
        let last_level = core * 4 / self.cores.len();
        (last_level / 2, last_level)
    }

    fn distance(&self, one: usize, other: usize) -> u64 {
        let ((socket, level), (other_socket, other_level)) = (self.place(one), self.place(other));
        if level == other_level {
            60
        } else if socket == other_socket {
            100
        } else {
            200
        }
    }

    fn serve(&mut self, now: u64, core: usize) {
        let reference = self.processes[core][self.cores[core].next];
        let block = reference.addr / BLOCK;
        let copies = self.copies.entry(block).or_default().clone();
        let others: Vec<usize> = copies.keys().copied().filter(|&other| other != core).collect();
        let distances: Vec<u64> = others.iter().map(|&other| self.distance(core, other)).collect();
        let (near, far) = (distances.iter().min(), distances.iter().max());
        let write = reference.kind.writes();
        let cycles = if copies.contains_key(&core) {
            self.upgrades += 1;
            far.copied().unwrap_or(0)
        } else {
            self.misses += 1;
            let socket = self.place(core).0;
            match (near, far) {
                (Some(_), Some(&far)) if write => far,
                (Some(&near), _) => near,
                (None, _) => {
                    let home = *self.homes.entry(reference.addr / PAGE).or_insert(socket);
                    if home == socket { 150 } else { 300 }
                }
            }
        };
        let after = if write || others.is_empty() { Copy::Exclusive } else { Copy::Shared };
        let copies = self.copies.entry(block).or_default();
        if write {
            copies.clear();
        }
        copies.values_mut().for_each(|copy| *copy = Copy::Shared);
        copies.insert(core, after);
        let done = now + cycles.saturating_sub(20).max(1);
        self.cores[core].done = Some(done);
        self.busy.entry(block).or_default();
        self.ends.push((done, block));
    }

    fn events(&mut self, now: u64) {
        for core in 0..self.cores.len() {
            if self.cores[core].arrives == Some(now) {
                self.cores[core].arrives = None;
                let block = self.processes[core][self.cores[core].next].addr / BLOCK;
                match self.busy.get_mut(&block) {
                    Some(waiting) => waiting.push_back(core),
                    None => self.serve(now, core),
                }
            }
            if self.cores[core].done == Some(now) {
                let block = self.processes[core][self.cores[core].next].addr / BLOCK;
                if !self.had.insert((core, block)) {
                    self.sharing.extend(self.cores[core].since..now);
                }
                let core = &mut self.cores[core];
                core.done = None;
                core.delay += now - core.since;
                core.ready = now + 1;
                core.next += 1;
            }
        }
        while let Some(at) = self.ends.iter().position(|&(done, _)| done == now) {
            let (_, block) = self.ends.remove(at);
            match self.busy.get_mut(&block).unwrap().pop_front() {
                Some(next) => self.serve(now, next),
                None => drop(self.busy.remove(&block)),
            }
        }
    }

    fn issue(&mut self, now: u64) {
        for core in 0..self.cores.len() {
            let Core { next, ready, arrives, done, .. } = self.cores[core];
            let Some(reference) = self.processes[core].get(next) else { continue };
            let block = reference.addr / BLOCK;
            let waits = self.busy.get(&block).is_some_and(|waiting| waiting.contains(&core));
            if ready != now || arrives.is_some() || done.is_some() || waits {
                continue;
            }
            let copy = self.copies.get(&block).and_then(|copies| copies.get(&core));
            let hit = match copy {
                Some(Copy::Exclusive) => true,
                Some(Copy::Shared) => !reference.kind.writes(),
                None => false,
            };
            let state = &mut self.cores[core];
            state.busy += 1;
            if hit {
                (state.next, state.ready) = (next + 1, now + 1);
            } else {
                (state.since, state.arrives) = (now, Some(now + 20));
            }
        }
    }

    fn run(&mut self) -> u64 {
        for time in 0.. {
            self.events(time);
            self.issue(time);
            let over = (0..self.cores.len()).all(|core| {
                self.cores[core].next == self.processes[core].len()
                    && self.cores[core].ready <= time
            });
            if over && self.ends.is_empty() {
                return time;
            }
        }
        unreachable!("time has no end")
    }
}

#[test]
fn cycles_are_those_of_the_slow_simulator() {
    let mut seen = BTreeSet::new();
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let count = usize::try_from(1 + rng.below(8)).unwrap();
        let blocks = 1 + rng.below(6);
        let process = |rng: &mut Rng| {
            let length = 5 + rng.below(60);
            let one = |rng: &mut Rng| {
                let addr = rng.below(3) * PAGE + rng.below(blocks) * BLOCK + rng.below(16) * 4;
                item(if rng.below(3) == 0 { OpKind::Write } else { OpKind::Read }, addr)
            };
            (0..length).map(|_| one(rng)).collect::<Vec<_>>()
        };
        let processes: Vec<Vec<Operation>> = (0..count).map(|_| process(&mut rng)).collect();
        let mut slow = Slow::new(&processes);
        let cycles = slow.run();
        let machine = given(u16::try_from(count).unwrap(), 1 << 16);
        for portion in [1, 7, 1000] {
            let result = run(&machine, &processes, portion);
            let of = |core: &Core| (core.busy, core.delay);
            let expected: Vec<(u64, u64)> = slow.cores.iter().map(of).collect();
            let found: Vec<(u64, u64)> =
                result.time.processors.iter().map(|p| (p.busy, p.delay)).collect();
            assert_eq!(found, expected, "seed {seed}, portions of {portion}");
            assert_eq!(result.time.cycles, cycles, "seed {seed}, portions of {portion}");
            assert_eq!(result.counts.misses.total(), slow.misses, "seed {seed}");
            assert_eq!(result.counts.coherence.total(), slow.upgrades, "seed {seed}");
            let sharing = u64::try_from(slow.sharing.len()).unwrap();
            assert_eq!(result.waits.as_ref().unwrap().sharing_elapsed(), sharing, "seed {seed}");
            check_waits(&result);
            seen.extend(causes(&result));
        }
    }
    assert_eq!(seen.len(), 3, "all causes but replacement: {seen:?}");
}

fn causes(result: &BusResult) -> impl Iterator<Item = WaitCause> + '_ {
    let all = WaitCause::ALL.into_iter();
    all.filter(|&cause| {
        result.waits.as_ref().unwrap().iter().any(|(_, waits)| waits.of(cause).transactions > 0)
    })
}

/// Every transaction is some word's, and every cycle of waiting is for one of them.
fn check_waits(result: &BusResult) {
    let sum = |cause| -> (u64, u64) {
        let waits = result.waits.as_ref().unwrap().iter().map(|(_, waits)| waits.of(cause));
        waits.fold((0, 0), |(n, c), waits| (n + waits.transactions, c + waits.cycles))
    };
    let [cold, replacement, shared, falsely] = WaitCause::ALL.map(sum);
    let (misses, coherence) = (result.counts.misses, result.counts.coherence);
    assert_eq!(cold.0, misses.cold);
    assert_eq!(replacement.0, misses.replacement);
    assert_eq!(shared.0, misses.invalidation_true + coherence.true_sharing);
    assert_eq!(falsely.0, misses.invalidation_false + coherence.false_sharing);
    let delay: u64 = result.time.processors.iter().map(|p| p.delay).sum();
    assert_eq!(cold.1 + replacement.1 + shared.1 + falsely.1, delay);
}

/// With small caches, store buffers and loads under way, too, every cycle of delay has a cause.
#[test]
fn every_cycle_of_delay_has_a_cause() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut machine = given(4, 1024);
        let processor = &mut machine.timed.clock.processor;
        processor.blocking = false;
        processor.misses_max = [1, 2, 8][usize::try_from(rng.below(3)).unwrap()];
        processor.store_buffer_words = 2;
        machine.timed.links.contention = rng.below(2) == 0;
        let one = |rng: &mut Rng| {
            let kind = [OpKind::Read, OpKind::Write, OpKind::Atomic];
            let kind = kind[usize::try_from(rng.below(3)).unwrap()];
            item(kind, rng.below(3) * PAGE + rng.below(256) * 4)
        };
        let processes: Vec<Vec<Operation>> =
            (0..4).map(|_| (0..80).map(|_| one(&mut rng)).collect()).collect();
        let result = run(&machine, &processes, 13);
        check_waits(&result);
        let whole = run(&machine, &processes, 1000);
        assert_eq!((whole.time, whole.counts), (result.time, result.counts));
        assert_eq!(whole.waits, result.waits);
    }
}
