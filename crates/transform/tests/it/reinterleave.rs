//! Re-interleaving of programs with known happens-before, and comparison with the definition.
#![allow(clippy::wildcard_enum_match_arm, reason = "the test knows which events it makes")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::made::{by_thread, made, thread_of, trace_of};
use crate::support::{Step, read};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{Event, EventKind};

const WORKERS: u16 = 4;
const LOCK: u64 = 0x1_0000;
const GUARDED: u64 = 0x2_0000;
const BARRIER: u64 = 0x3_0000;
const SLOT: u64 = 0x4_0000;
const SEMAPHORE: u64 = 0x5_0000;
const BOX: u64 = 0x6_0000;
const COUNTER: u64 = 0x7_0000;
const HEAP: u64 = 0x8_0000;
const OWN: u64 = 0x9_0000;

#[derive(Clone, Copy)]
enum Op {
    Own(u64),
    Lock(u64),
    Guarded(u64),
    Unlock(u64),
    Post(u64),
    Take(u64),
    ReadBox(u64),
    Enter(u64),
    Leave(u64),
    Slot(u64),
    Count,
    Allocate,
    UseBlock,
    Release,
    Start,
    Exit,
    Create(u16),
    Join(u16),
}

/// The script of a worker: sections under locks, hand-overs, phases, blocks of the heap.
fn script(me: u16, rng: &mut Rng) -> Vec<Op> {
    let mut ops = vec![Op::Start];
    for phase in 0..2 {
        for _ in 0..4 {
            let n = rng.below(3);
            match rng.below(6) {
                0 => ops.extend([Op::Own(n), Op::Own(n + 1)]),
                1 | 2 => ops.extend([Op::Lock(n), Op::Guarded(n), Op::Guarded(n), Op::Unlock(n)]),
                3 if me < 2 => ops.push(Op::Post(u64::from(me))),
                3 => ops.extend([Op::Take(n % 2), Op::ReadBox(n % 2)]),
                4 => ops.extend([Op::Allocate, Op::UseBlock, Op::UseBlock, Op::Release]),
                _ => ops.push(Op::Count),
            }
        }
        ops.extend([Op::Slot(2 * phase), Op::Enter(phase), Op::Leave(phase)]);
        ops.push(Op::Slot(2 * phase + 1));
    }
    ops.push(Op::Exit);
    ops
}

struct Machine {
    steps: Vec<Step>,
    owner: BTreeMap<u64, u16>,
    /// Tokens given and taken: each has a box of its own.
    given: BTreeMap<u64, u64>,
    taken: BTreeMap<u64, u64>,
    entered: BTreeMap<u64, u16>,
    free: Vec<u64>,
    blocks: BTreeMap<u16, u64>,
    created: BTreeSet<u16>,
    ended: BTreeSet<u16>,
}

impl Machine {
    fn can(&self, op: Op, me: u16) -> bool {
        match op {
            Op::Lock(n) => !self.owner.contains_key(&n),
            Op::ReadBox(n) => self.given.get(&n) > self.taken.get(&n),
            Op::Leave(n) => self.entered.get(&n) == Some(&WORKERS),
            Op::Start => self.created.contains(&me),
            Op::Join(child) => self.ended.contains(&child),
            Op::Own(_) | Op::Guarded(_) | Op::Unlock(_) | Op::Post(_) | Op::Take(_) => true,
            Op::Enter(_) | Op::Slot(_) | Op::Count | Op::Allocate | Op::UseBlock => true,
            Op::Release | Op::Exit | Op::Create(_) => true,
        }
    }

    fn step(&mut self, me: u16, op: Op) {
        match op {
            Op::Own(n) => self.plain(me, OWN + 256 * u64::from(me) + 8 * n),
            Op::Lock(n) => {
                self.owner.insert(n, me);
                self.sync(me, LOCK + 64 * n);
                self.event(me, EventKind::LockAcquire { addr: LOCK + 64 * n });
            }
            Op::Guarded(n) => self.plain(me, GUARDED + 64 * n),
            Op::Unlock(n) => {
                self.owner.remove(&n);
                self.sync(me, LOCK + 64 * n);
                self.event(me, EventKind::LockRelease { addr: LOCK + 64 * n });
            }
            Op::Post(n) => {
                let token = self.given.entry(n).or_default();
                *token += 1;
                let addr = BOX + 1024 * n + 64 * *token;
                self.plain(me, addr);
                self.sync(me, SEMAPHORE + 64 * n);
                self.event(me, EventKind::ConditionWake { addr: SEMAPHORE + 64 * n });
            }
            Op::Take(n) => {
                self.sync(me, SEMAPHORE + 64 * n);
                self.event(me, EventKind::ConditionWait { addr: SEMAPHORE + 64 * n });
            }
            Op::ReadBox(n) => {
                let token = self.taken.entry(n).or_default();
                *token += 1;
                let addr = BOX + 1024 * n + 64 * *token;
                self.plain(me, addr);
            }
            Op::Enter(n) => {
                *self.entered.entry(n).or_default() += 1;
                self.sync(me, BARRIER + 64 * n);
                self.event(me, EventKind::BarrierEnter { addr: BARRIER + 64 * n });
            }
            Op::Leave(n) => self.event(me, EventKind::BarrierLeave { addr: BARRIER + 64 * n }),
            // Before the barrier its own slot, after it that of a neighbour.
            Op::Slot(n) => {
                let owner = (me + u16::try_from(n % 2).unwrap()) % WORKERS;
                self.plain(me, SLOT + 1024 * (n / 2) + 64 * u64::from(owner));
            }
            Op::Count => {
                let access = Access::new(me, AccessKind::Atomic, COUNTER, 8);
                self.steps.push(Step::Access(access));
            }
            Op::Allocate => {
                let addr = self.free.pop().unwrap();
                self.blocks.insert(me, addr);
                self.event(me, EventKind::Alloc { addr, size: 64, site: 0 });
            }
            Op::UseBlock => self.plain(me, self.blocks[&me]),
            Op::Release => {
                let addr = self.blocks[&me];
                self.event(me, EventKind::Free { addr });
                self.free.push(addr);
            }
            Op::Start => self.event(me, EventKind::ThreadStart { stack_low: 0, stack_high: 0 }),
            Op::Exit => {
                self.ended.insert(me);
                self.event(me, EventKind::ThreadExit);
            }
            Op::Create(child) => {
                self.created.insert(child);
                self.event(me, EventKind::ThreadCreate { child });
            }
            Op::Join(child) => self.event(me, EventKind::ThreadJoin { child }),
        }
    }

    fn plain(&mut self, me: u16, addr: u64) {
        self.steps.push(Step::Access(Access::new(me, AccessKind::Write, addr, 8)));
    }

    fn sync(&mut self, me: u16, addr: u64) {
        let access = Access::new(me, AccessKind::Atomic, addr, 4);
        self.steps.push(Step::Access(Access { flags: Flags::SYNC, ..access }));
    }

    fn event(&mut self, thread: u16, what: EventKind) {
        self.steps.push(Step::Event(Event { thread, what }));
    }
}

/// A run of a random program without data races; `None` when it got stuck.
fn run(rng: &mut Rng) -> Option<Vec<Step>> {
    let mut scripts: Vec<VecDeque<Op>> = (0..WORKERS).map(|me| script(me, rng).into()).collect();
    let workers = 0..WORKERS;
    let main = workers.clone().flat_map(|child| [Op::Own(0), Op::Own(1), Op::Create(child)]);
    scripts.push(main.chain(workers.map(Op::Join)).chain([Op::Own(2)]).collect());
    let mut machine = Machine {
        steps: Vec::new(),
        owner: BTreeMap::new(),
        given: BTreeMap::new(),
        taken: BTreeMap::new(),
        entered: BTreeMap::new(),
        free: (0..8).map(|n| HEAP + 64 * n).collect(),
        blocks: BTreeMap::new(),
        created: BTreeSet::new(),
        ended: BTreeSet::new(),
    };
    while scripts.iter().any(|ops| !ops.is_empty()) {
        let able: Vec<usize> = (0..scripts.len())
            .filter(|&i| {
                let me = u16::try_from(i).unwrap();
                scripts[i].front().is_some_and(|&op| machine.can(op, me))
            })
            .collect();
        let many = u64::try_from(able.len()).unwrap();
        let chosen = *able.get(usize::try_from(rng.below(many.max(1))).unwrap())?;
        for _ in 0..1 + rng.below(4) {
            let me = u16::try_from(chosen).unwrap();
            match scripts[chosen].front() {
                Some(&op) if machine.can(op, me) => machine.step(me, op),
                _ => break,
            }
            scripts[chosen].pop_front();
        }
    }
    Some(machine.steps)
}

fn reinterleaved(steps: &[Step], words: &[(&str, u64)]) -> Vec<Step> {
    let words: Vec<String> = words.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    read(&made(&trace_of(steps), "reinterleave", &words).unwrap().0)
}

/// The threads that referenced each address, in order. Without data races every order that keeps
/// happens-before has the same.
fn users(steps: &[Step]) -> BTreeMap<u64, Vec<u16>> {
    let mut users: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
    for step in steps {
        if let Step::Access(access) = step {
            users.entry(access.addr).or_default().push(access.thread);
        }
    }
    users
}

/// Replays the events on their objects and panics at an order that no machine allows.
fn assert_possible(steps: &[Step]) {
    let (mut owner, mut entered, mut left) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let (mut created, mut ended, mut given) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for step in steps {
        let me = thread_of(step);
        assert!(me == WORKERS || created.contains(&me), "thread {me} before its creation");
        assert!(!ended.contains(&me), "thread {me} after its end");
        let Step::Event(event) = step else { continue };
        match &event.what {
            EventKind::LockAcquire { addr } => assert_eq!(owner.insert(*addr, me), None),
            EventKind::LockRelease { addr } => assert_eq!(owner.remove(addr), Some(me)),
            EventKind::BarrierEnter { addr } => *entered.entry(*addr).or_insert(0) += 1,
            EventKind::BarrierLeave { addr } => {
                assert_eq!(entered[addr], WORKERS);
                *left.entry(*addr).or_insert(0) += 1;
            }
            EventKind::Alloc { addr, .. } => assert!(given.insert(*addr), "{addr:#x} twice"),
            EventKind::Free { addr } => assert!(given.remove(addr)),
            EventKind::ThreadCreate { child } => assert!(created.insert(*child)),
            EventKind::ThreadJoin { child } => assert!(ended.contains(child)),
            EventKind::ThreadExit => assert!(ended.insert(me)),
            _ => {}
        }
    }
    assert!(left.values().all(|&left| left == WORKERS));
}

#[test]
fn programs_without_races_stay_legal_and_every_word_keeps_the_order_of_its_users() {
    let mut rng = Rng::new(17);
    let (mut done, mut changed) = (0, 0);
    while done < 60 {
        let Some(steps) = run(&mut rng) else { continue };
        assert_possible(&steps);
        for (seed, quantum, window) in [(1, 1, 1_000_000), (2, 3, 1_000_000), (3, 20, 40)] {
            let words = [("seed", seed), ("quantum", quantum), ("window", window)];
            let found = reinterleaved(&steps, &words);
            assert!(by_thread(&found) == by_thread(&steps), "a thread's own order changed");
            assert!(users(&found) == users(&steps), "the order of a word's users changed");
            assert_possible(&found);
            changed += usize::from(found != steps);
        }
        done += 1;
    }
    assert!(changed > 170, "{changed} of 180 differ: it does something");
}

#[test]
fn a_window_of_one_changes_nothing_and_seeds_differ() {
    let mut rng = Rng::new(5);
    let steps = std::iter::repeat_with(|| run(&mut rng)).find_map(|steps| steps).unwrap();
    assert!(reinterleaved(&steps, &[("window", 1), ("seed", 9)]) == steps);
    let one = reinterleaved(&steps, &[("seed", 1), ("quantum", 5)]);
    assert!(one == reinterleaved(&steps, &[("seed", 1), ("quantum", 5)]));
    assert!(one != reinterleaved(&steps, &[("seed", 2), ("quantum", 5)]));
}

/// Unordered threads take turns of the requested length.
#[test]
fn turns_are_a_quantum_on_average() {
    let access = |i: u64| Access::new(u16::from(i >= 4_000), AccessKind::Read, 8 * i, 8);
    let steps: Vec<Step> = (0..8_000).map(|i| Step::Access(access(i))).collect();
    let turns = |quantum| {
        let found = reinterleaved(&steps, &[("quantum", quantum), ("seed", 4)]);
        1 + found.windows(2).filter(|two| thread_of(&two[0]) != thread_of(&two[1])).count()
    };
    assert_eq!(turns(1), 8_000);
    let coarse = turns(100);
    assert!((60..100).contains(&coarse), "{coarse} turns for 8,000 references");
}

/// All threads enter a phase together.
#[test]
fn phases_are_not_mixed() {
    let access = |i: u64| {
        let thread = u16::try_from(i / 10 % 2).unwrap();
        Step::Access(Access::new(thread, AccessKind::Read, 8 * i, 8))
    };
    let phase = Step::Event(Event { thread: 0, what: EventKind::Phase { id: 1 } });
    let mut steps: Vec<Step> = (0..40).map(access).collect();
    steps.insert(25, phase.clone());
    let found = reinterleaved(&steps, &[("quantum", 3)]);
    assert_ne!(found, steps);
    let place = found.iter().position(|step| *step == phase).unwrap();
    assert_eq!(place, 25);
    let addresses = |steps: &[Step]| users(steps).into_keys().collect::<BTreeSet<_>>();
    assert_eq!(addresses(&found[..25]), addresses(&steps[..25]));
}

/// Traces of other tools may have impossible events: no record is lost.
#[test]
fn impossible_events_lose_no_record() {
    let mut rng = Rng::new(23);
    for _ in 0..200 {
        let number = |rng: &mut Rng| u16::try_from(rng.below(4)).unwrap();
        let steps: Vec<Step> = (0..60)
            .map(|i| {
                let (thread, child) = (number(&mut rng), number(&mut rng));
                let addr = 8 * rng.below(2);
                let what = match rng.below(9) {
                    0 => EventKind::ThreadCreate { child },
                    1 => EventKind::ThreadJoin { child: 2 * child },
                    2 => EventKind::ConditionWait { addr },
                    3 => EventKind::LockRelease { addr },
                    4 => EventKind::SyscallEnter { number: i },
                    5 => EventKind::ThreadExit,
                    _ => {
                        let kinds = [AccessKind::Fetch, AccessKind::Atomic, AccessKind::Write];
                        let kind = kinds[usize::from(child) % 3];
                        let addr = if i % 7 == 0 { u64::MAX } else { addr };
                        return Step::Access(Access::new(thread, kind, addr, 16));
                    }
                };
                Step::Event(Event { thread, what })
            })
            .collect();
        let found = reinterleaved(&steps, &[("quantum", 2), ("window", 10), ("seed", 1)]);
        assert!(by_thread(&found) == by_thread(&steps));
    }
}
