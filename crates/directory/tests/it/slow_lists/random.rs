//! Random machines, and what the engine finds by the slow simulator's names.

use std::collections::BTreeMap;

use homenode_base::Rng;
use homenode_directory::{
    ClockedDirectoryResult, HomeLoad, ListMessage, ProxyAllocation, ProxySetup, ProxyUse,
};
use homenode_machine::{BusyStore, CacheShape};
use homenode_protocol::Labelled;

use super::{ControllerLoad, PlainOutcome, some};
use crate::controllers::{ListMachine, alite};
use crate::programs::pick;
use crate::support::counts_by_name;

/// A machine with tiny caches, pages and buffers, so that everything happens often; half of them
/// with the latencies of `alite`.
pub fn machine(rng: &mut Rng) -> ListMachine {
    let nodes = pick(rng, &[2, 3, 3, 4, 4, 6, 8]);
    let homes = ["round-robin", "fixed:node=0", "fixed:node=1", "first-touch", "first-use"];
    let mut machine = alite(nodes, pick(rng, &homes));
    let (block, ways) = (pick(rng, &[16, 16, 32]), pick(rng, &[1, 1, 2, 3]));
    let size_bytes = block * ways * pick(rng, &[1, 2, 4]);
    machine.setup.cache = CacheShape { size_bytes, block_size_bytes: block, associativity: ways };
    machine.setup.page_bytes = block * pick(rng, &[1, 2, 4]);
    machine.setup.header_bytes = pick(rng, &[4, 8]);
    let timed = &mut machine.timed;
    timed.clock.processor.instruction_cycles = pick(rng, &[0, 1, 1]);
    timed.clock.processor.operation_cycles = pick(rng, &[1, 1, 2]);
    timed.machine.first_level_bytes = block * pick(rng, &[1, 2]);
    if rng.below(2) == 0 {
        timed.machine.second_level = store(rng);
        timed.machine.memory = store(rng);
        timed.machine.controller.send_cycles = pick(rng, &[0, 1, 5, 5]);
        timed.machine.network.gap_cycles = pick(rng, &[0, 1, 5, 20]);
        timed.machine.network.short_cycles = pick(rng, &[1, 5, 40]);
        timed.machine.network.long_cycles = pick(rng, &[1, 10, 70]);
    }
    timed.buffer_reads = pick(rng, &[None, Some(1), Some(2), Some(3)]);
    timed.proxies = ProxySetup {
        used: pick(rng, &[ProxyUse::None, ProxyUse::Basic, ProxyUse::Reactive]),
        clusters: pick(rng, &[1, 1, 2, 3]),
        fair: rng.below(2) == 0,
        allocation: allocation(rng, block),
        ..ProxySetup::default()
    };
    machine
}

/// Where proxies keep copies.
fn allocation(rng: &mut Rng, block: u64) -> ProxyAllocation {
    let separate = ProxyAllocation::Separate { bytes: block * pick(rng, &[1, 2, 4]) };
    pick(rng, &[ProxyAllocation::SecondLevel, ProxyAllocation::Nowhere, separate])
}

fn store(rng: &mut Rng) -> BusyStore {
    BusyStore {
        acquire_cycles: pick(rng, &[0, 2]),
        release_cycles: pick(rng, &[0, 1]),
        lookup_cycles: pick(rng, &[1, 6, 20]),
        line_cycles: pick(rng, &[0, 18, 24]),
    }
}

/// What the engine found.
pub fn named(result: &ClockedDirectoryResult) -> PlainOutcome {
    let (counts, timing, messages) =
        (&result.counts, &result.timing, result.list_messages.unwrap());
    let misses = counts.misses;
    let mut all = counts_by_name(counts);
    all.extend([
        ("replacement", misses.replacement),
        ("invalidation", misses.total() - misses.cold - misses.replacement),
        ("filled", timing.filled),
        ("fill_cycles", timing.fill_cycles),
        ("answered", timing.read),
        ("answer_cycles", timing.read_cycles),
        ("page_faults", timing.page_faults),
        ("hops", timing.hops),
        ("sending", timing.sending),
        ("retried", messages.retried),
        ("combined", messages.combined),
    ]);
    all.extend(
        ListMessage::ALL.iter().map(|&message| (message.name(), messages.sent.of_type(message))),
    );
    let time = &result.time;
    let processors = time.processors.iter().zip(&time.stalls).map(|(processor, stalls)| {
        some(&BTreeMap::from([
            ("busy", processor.busy),
            ("read", stalls.read),
            ("write", stalls.write),
            ("sync", stalls.sync),
            ("system", stalls.system),
            ("idle", processor.idle),
        ]))
    });
    let controllers: Vec<_> = result.loads.iter().map(load).collect();
    let total = |of: fn(&ControllerLoad) -> u64| controllers.iter().map(of).sum::<u64>();
    assert_eq!(total(|load| load.busy), timing.looking_up);
    assert_eq!(total(|load| load.memory), timing.accessing);
    PlainOutcome {
        cycles: time.cycles,
        processors: processors.collect(),
        controllers,
        counts: some(&all.into_iter().collect()),
    }
}

fn load(found: &HomeLoad) -> ControllerLoad {
    ControllerLoad {
        busy: found.lookups.busy,
        memory: found.accesses.busy,
        served: found.lookups.served,
        waited: found.lookups.waited,
        longest: found.lookups.longest,
        input_waited: found.arrivals.waited,
        input_longest: found.arrivals.longest,
    }
}
