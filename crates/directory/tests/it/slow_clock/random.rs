//! Random machines, and what the engine finds by the slow simulator's names.

use std::collections::BTreeMap;

use homenode_base::Rng;
use homenode_directory::{ClockedDirectoryResult, MessageCounts, QueueLoad};
use homenode_machine::NetworkContention;

use super::{SlowHome, SlowMachine, SlowOutcome, SlowShared};
use crate::programs::{number, pick};
use crate::support::counts_by_name;

/// A machine with tiny caches and pages, so that everything happens often.
pub fn machine(rng: &mut Rng) -> SlowMachine {
    let nodes = 2 + number(rng, 5);
    let block = pick(rng, &[16, 16, 32]);
    let shared = (rng.below(3) == 0).then(|| shared(rng));
    let memories = shared.map_or(nodes, |shared| shared.sockets * shared.memories);
    SlowMachine {
        nodes,
        block,
        sets: pick(rng, &[1, 1, 2, 4]),
        ways: pick(rng, &[1, 1, 2, 2, 3, 9, 17]),
        page: block * pick(rng, &[1, 2, 4]),
        pointers: pick(rng, &[None, None, Some(1), Some(2)]),
        home: match rng.below(5) {
            0 => SlowHome::RoundRobin,
            1 => SlowHome::Fixed(number(rng, memories)),
            2 => SlowHome::FirstUse,
            _ => SlowHome::FirstTouch,
        },
        header: pick(rng, &[4, 8]),
        path_bits: pick(rng, &[8, 16, 64]),
        flit_cycles: pick(rng, &[1, 1, 2]),
        link: pick(rng, &[1, 2]),
        routing: pick(rng, &[0, 1, 4]),
        contention: pick(
            rng,
            &[NetworkContention::None, NetworkContention::Ends, NetworkContention::Links],
        ),
        lookup: pick(rng, &[1, 3, 10, 10]),
        latency: pick(rng, &[0, 1, 12, 12]),
        word: pick(rng, &[0, 1, 4]),
        page_fault: pick(rng, &[1, 30]),
        page_table: pick(rng, &[1, 50]),
        operation: pick(rng, &[1, 1, 2]),
        instruction: pick(rng, &[0, 1, 1]),
        store_buffer: pick(rng, &[0, 1, 2, 4]),
        sequential: rng.below(3) == 0,
        words: pick(rng, &[1, 1, 3]),
        pipelined: rng.below(2) == 0,
        answer: pick(rng, &[0, 0, 1, 9]),
        shared,
    }
}

/// Memories that processors share: on a mesh, or in sockets.
fn shared(rng: &mut Rng) -> SlowShared {
    let mesh = rng.below(3) == 0;
    let sockets = if mesh { 1 } else { pick(rng, &[1, 2, 2, 3]) };
    let level = (pick(rng, &[1, 3]), pick(rng, &[1, 2]), pick(rng, &[0, 5]));
    SlowShared {
        sockets,
        memories: if mesh { 1 } else { pick(rng, &[1, 2]) },
        slices: pick(rng, &[1, 2, 3]),
        tiles: if mesh { pick(rng, &[4, 6]) } else { 0 },
        near: pick(rng, &[0, 3]),
        socket: pick(rng, &[3, 5]),
        far: pick(rng, &[5, 20]),
        last_level: (rng.below(3) > 0).then_some(level),
    }
}

/// What the engine found.
pub fn named(result: &ClockedDirectoryResult) -> SlowOutcome {
    let (counts, timing) = (&result.counts, &result.timing);
    let misses = counts.misses;
    let mut queues = QueueLoad::default();
    for load in &result.loads {
        queues.add(&load.lookups);
        queues.add(&load.accesses);
    }
    assert_eq!(queues.busy, timing.looking_up + timing.accessing);
    let mut all = counts_by_name(counts);
    all.extend([
        ("replacement", misses.replacement),
        ("invalidation", misses.total() - misses.cold - misses.replacement),
        ("filled", timing.filled),
        ("fill_cycles", timing.fill_cycles),
        ("read", timing.read),
        ("read_cycles", timing.read_cycles),
        ("page_faults", timing.page_faults),
        ("hops", timing.hops),
        ("sending", timing.sending),
        ("looking_up", timing.looking_up),
        ("accessing", timing.accessing),
        ("queued", queues.served),
        ("waited", queues.waited),
        ("longest", queues.longest),
    ]);
    let kinds = MessageCounts::kinds().into_iter();
    all.extend(kinds.map(|kind| (kind, counts.messages.of_kind(kind))));
    let times = result.time.processors.iter().map(|p| (p.busy, p.delay, p.idle));
    SlowOutcome {
        cycles: result.time.cycles,
        processors: times.collect(),
        counts: all.into_iter().filter(|&(_, count)| count > 0).collect::<BTreeMap<_, _>>(),
    }
}
