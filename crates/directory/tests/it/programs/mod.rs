//! Random programs of processes, and smaller ones where an engine and its oracle differ.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

use std::collections::BTreeMap;

use homenode_base::Rng;
use homenode_clock::streams::{OpKind, Operation};

pub fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[number(rng, from.len())]
}

pub fn number(rng: &mut Rng, below: usize) -> usize {
    usize::try_from(rng.below(below as u64)).unwrap()
}

/// References of one process to a few words.
struct Habits {
    blocks: u64,
    block: u64,
    writes: u64,
}

fn reference(rng: &mut Rng, habits: &Habits) -> Operation {
    let addr = 0x1000 + rng.below(habits.blocks) * habits.block + 4 * rng.below(4);
    let kind = match rng.below(100) {
        chance if chance < habits.writes => OpKind::Write,
        chance if chance < habits.writes + 5 => OpKind::Atomic,
        _ => OpKind::Read,
    };
    let gap = if rng.below(3) == 0 { rng.below(25) } else { 0 };
    let count = u32::try_from(gap).unwrap();
    Operation { size: 4, count, ..Operation::new(kind, addr) }
}

/// The operations of each node's process on blocks of this size: references, locks held for a
/// while, and barriers of all processes.
pub fn random_programs(rng: &mut Rng, nodes: usize, block: u64) -> Vec<Vec<Operation>> {
    let habits = Habits { blocks: 1 + rng.below(8), block, writes: pick(rng, &[10, 30, 60]) };
    let mut all = vec![Vec::new(); nodes];
    let (init_done, initialiser) = (rng.below(3), number(rng, nodes));
    for episode in 0..3u64 {
        for (process, steps) in all.iter_mut().enumerate() {
            for _ in 0..rng.below(5) {
                part(rng, &habits, steps);
                if process == initialiser && episode == init_done && rng.below(2) == 0 {
                    steps.push(Operation::new(OpKind::InitDone, 0));
                }
            }
        }
        if rng.below(2) == 0 {
            let count = u32::try_from(nodes).unwrap();
            for steps in &mut all {
                steps.push(Operation::new(OpKind::Arrive, episode));
                steps.push(Operation { count, ..Operation::new(OpKind::Depart, episode) });
            }
        }
    }
    all
}

fn part(rng: &mut Rng, habits: &Habits, steps: &mut Vec<Operation>) {
    let mut some = |rng: &mut Rng, most| {
        for _ in 0..rng.below(most) {
            steps.push(reference(rng, habits));
        }
    };
    some(rng, 12);
    // A lock on a page with data, or on one of its own.
    let lock = if rng.below(2) == 0 { 0x1000 } else { 0x9000 } + 64 * rng.below(2);
    if rng.below(3) == 0 {
        steps.push(Operation::new(OpKind::Acquire, lock));
        for _ in 0..rng.below(6) {
            steps.push(reference(rng, habits));
        }
        steps.push(Operation::new(OpKind::Release, lock));
    }
}

/// The parts that can be left out of programs: a reference, a lock's acquire and release, a
/// barrier.
fn parts(programs: &[Vec<Operation>]) -> Vec<Vec<(usize, usize)>> {
    let mut parts = Vec::new();
    let mut barriers = BTreeMap::<u64, Vec<(usize, usize)>>::new();
    for (process, steps) in programs.iter().enumerate() {
        for (at, step) in steps.iter().enumerate() {
            match step.kind {
                OpKind::Arrive | OpKind::Depart => {
                    barriers.entry(step.addr).or_default().push((process, at));
                }
                OpKind::Acquire => {
                    let rest = steps[at..].iter();
                    let held = rest.take_while(|step| step.kind != OpKind::Release).count();
                    parts.push(vec![(process, at), (process, at + held)]);
                }
                OpKind::Release => {}
                _ => parts.push(vec![(process, at)]),
            }
        }
    }
    parts.extend(barriers.into_values());
    parts
}

/// Leaves out parts while an engine and its oracle still differ.
pub fn shrink(
    mut programs: Vec<Vec<Operation>>,
    differs: impl Fn(&[Vec<Operation>]) -> bool,
) -> Vec<Vec<Operation>> {
    let differs = |programs: &[Vec<Operation>]| {
        let try_it = || differs(programs);
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(try_it)).unwrap_or(false)
    };
    let without = |programs: &[Vec<Operation>], part: &[(usize, usize)]| {
        let mut fewer = programs.to_vec();
        part.iter().rev().for_each(|&(process, at)| {
            fewer[process].remove(at);
        });
        fewer
    };
    loop {
        let fewer = parts(&programs).into_iter().map(|part| without(&programs, &part));
        match fewer.into_iter().find(|fewer| differs(fewer)) {
            Some(fewer) => programs = fewer,
            None => return programs,
        }
    }
}

pub fn program_text(programs: &[Vec<Operation>]) -> String {
    let step = |step: &Operation| format!("{:?} {:x}+{}", step.kind, step.addr, step.count);
    let line = |steps: &Vec<Operation>| steps.iter().map(step).collect::<Vec<_>>().join("; ");
    programs.iter().map(line).collect::<Vec<_>>().join("\n")
}
