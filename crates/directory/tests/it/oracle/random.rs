//! Random machines and traces, and an engine's counts by the oracle's names.

use std::collections::BTreeMap;

use homenode_base::Rng;
use homenode_directory::{
    DirectoryCounts, DirectoryProtocol, DirectorySetup, DirectorySimulation, HomeSetup, HomeSpec,
    MessageCounts,
};
use homenode_machine::CacheShape;
use homenode_trace::{Batch, Event, EventKind};

use super::{Home, Machine, Ref};
use crate::programs::pick;
use crate::support::counts_by_name;

/// The counts by the oracle's names, without those that are 0.
pub fn named(counts: &DirectoryCounts) -> BTreeMap<&'static str, u64> {
    let mut all = counts_by_name(counts);
    all.extend([("reads", counts.reads), ("misses", counts.misses.total())]);
    let kinds = MessageCounts::kinds().into_iter();
    all.extend(kinds.map(|kind| (kind, counts.messages.of_kind(kind))));
    all.into_iter().filter(|&(_, count)| count > 0).collect()
}

/// A machine with small caches and pages, so that everything happens often.
pub fn machine(rng: &mut Rng, nodes: u16) -> Machine {
    let block = 16 << rng.below(5);
    let most = u64::from(nodes);
    Machine {
        nodes,
        block,
        sets: 1 << rng.below(5),
        ways: pick(rng, &[1, 1, 1, 2, 3, 4, 9, 20]),
        page: block << rng.below(5),
        pointers: pick(rng, &[None, None, None, Some(1), Some(2), Some(4)]),
        home: match rng.below(7) {
            0 | 1 => Home::RoundRobin,
            2 | 3 => Home::FirstTouch,
            4 => Home::FirstUse,
            5 => Home::FirstFill(1 + rng.below(5)),
            _ => Home::Fixed(u16::try_from(rng.below(most)).unwrap()),
        },
        header: pick(rng, &[8, 8, 16]),
    }
}

/// References to a few hundred words that nodes share in various ways.
pub fn trace(rng: &mut Rng, nodes: u16, length: usize) -> Vec<Ref> {
    let words = 20 + rng.below(400);
    let writes = 5 + rng.below(50);
    let threads = u64::from(nodes) + rng.below(3);
    let init_done = rng.below(length as u64 * 5 / 4);
    let one = |nth| {
        let word = if rng.below(2) == 0 { rng.below(words) } else { rng.below(24) };
        Ref {
            thread: u16::try_from(rng.below(threads)).unwrap(),
            write: rng.below(100) < writes,
            addr: 0x1_0000 + word * 4 + if rng.below(20) == 0 { rng.below(4) } else { 0 },
            size: pick(rng, &[1, 2, 4, 4, 4, 8, 8, 16, 64]),
            init_done: nth as u64 == init_done,
        }
    };
    (0..length).map(one).collect()
}

/// References as a trace has them.
pub fn batch(refs: &[Ref]) -> Batch {
    let marks = (0u32..).zip(refs).filter(|(_, r)| r.init_done);
    Batch {
        turns: refs.iter().map(|r| r.thread).collect(),
        kind: refs.iter().map(|r| u8::from(r.write)).collect(),
        size: refs.iter().map(|r| r.size).collect(),
        addr: refs.iter().map(|r| r.addr).collect(),
        events: marks
            .map(|(row, r)| (row, Event { thread: r.thread, what: EventKind::InitDone }))
            .collect(),
        ..Batch::default()
    }
}

/// What the engine is given for a machine.
pub fn setup(machine: &Machine, check: bool) -> DirectorySetup {
    DirectorySetup {
        pointers: machine.pointers.map(|most| most as u64),
        header_bytes: machine.header,
        check,
        ..DirectorySetup::new(
            machine.nodes,
            CacheShape {
                size_bytes: machine.block * machine.sets * machine.ways as u64,
                block_size_bytes: machine.block,
                associativity: machine.ways as u64,
            },
            machine.page,
        )
    }
}

fn home_text(home: Home) -> String {
    match home {
        Home::RoundRobin => "round-robin".to_owned(),
        Home::FirstTouch => "first-touch".to_owned(),
        Home::FirstUse => "first-use".to_owned(),
        Home::FirstFill(n) => format!("first-fill:n={n}"),
        Home::Fixed(node) => format!("fixed:node={node}"),
    }
}

/// What the engine counts.
pub fn simulate(machine: &Machine, refs: &[Ref], check: bool) -> DirectoryCounts {
    let homes = HomeSetup { seed: 1, ..HomeSetup::new(machine.nodes) };
    let homes = HomeSpec::parse(&home_text(machine.home)).unwrap().build(&homes).unwrap();
    let table = DirectoryProtocol::parse("dash").unwrap().table().blocks().unwrap();
    let mut simulation = DirectorySimulation::new(&setup(machine, check), table, homes).unwrap();
    // Batches of several lengths: the engine must not notice.
    let mut rest = refs;
    for length in (1..).map(|n| n * 37 % 501 + 1) {
        let (now, later) = rest.split_at(rest.len().min(length));
        simulation.push(&batch(now)).unwrap();
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    simulation.finish().counts
}
