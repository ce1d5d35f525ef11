//! With a clock, the engine agrees with the slow simulator cycle for cycle on random programs.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

use std::collections::BTreeMap;

use crate::programs::{program_text, random_programs, shrink};
use crate::slow_clock::random::{machine, named};
use crate::slow_clock::{SlowClock, SlowHome, SlowMachine};
use crate::timed::{TimedMachine, dash_mesh};
use homenode_base::Rng;
use homenode_clock::streams::Operation;
use homenode_machine::{CacheShape, LastLevelModel, MemoryTopology, SharedMemories};

/// Events that must happen in some of the programs.
const OFTEN: &[&str] = &[
    "a block is written back before its owner has notified home",
    "a controller is in use",
    "a copy at home goes",
    "a copy is lost that was to be made the only one",
    "a copy that has to go as soon as it is read",
    "a load comes with a store",
    "a message waits for a link",
    "a message waits to come in",
    "a message waits to leave",
    "a page is waited for that another maps",
    "a process waits at a barrier",
    "a process waits for a lock",
    "a release waits for acknowledgements",
    "a request overtakes the write-back",
    "a request waits at home",
    "a request waits for its frame",
    "acknowledgements due after the reply",
    "all are invalidated, because too many have copies",
    "an acknowledgement before the reply",
    "an owner is asked again",
    "home answers after a write-back",
    "home itself asks an owner",
    "memory is in use",
    "ownership_transfer",
    "page_faults",
    "pages_moved",
    "refuse",
    "replacement",
    "sharing_write_back",
    "the last level has a block",
    "the store buffer is full",
    "upgrades",
    "write_back",
];

fn home_text(home: SlowHome) -> String {
    match home {
        SlowHome::RoundRobin => "round-robin".to_owned(),
        SlowHome::Fixed(node) => format!("fixed:node={node}"),
        SlowHome::FirstTouch => "first-touch".to_owned(),
        SlowHome::FirstUse => "first-use".to_owned(),
    }
}

/// The engine's machine.
fn engine(machine: &SlowMachine) -> TimedMachine {
    let nodes = u16::try_from(machine.nodes).unwrap();
    let mut given = dash_mesh(nodes, &home_text(machine.home));
    given.setup.cache = CacheShape {
        size_bytes: machine.block * machine.sets * machine.ways as u64,
        block_size_bytes: machine.block,
        associativity: machine.ways as u64,
    };
    given.setup.page_bytes = machine.page;
    given.setup.pointers = machine.pointers.map(|most| most as u64);
    given.setup.header_bytes = machine.header;
    let timed = &mut given.timed;
    timed.sequential = machine.sequential;
    let processor = &mut timed.clock.processor;
    processor.operation_cycles = machine.operation;
    processor.instruction_cycles = machine.instruction;
    processor.store_buffer_words = u32::try_from(machine.store_buffer).unwrap();
    processor.blocking = machine.sequential;
    let network = &mut timed.machine.network;
    network.path_bits = machine.path_bits;
    network.flit_cycles = machine.flit_cycles;
    network.link_cycles = machine.link;
    network.routing_cycles = machine.routing;
    network.header_bytes = machine.header;
    network.contention = machine.contention;
    let model = &mut timed.machine;
    model.memory_latency_cycles = machine.latency;
    model.memory_word_cycles = machine.word;
    model.directory_cycles = machine.lookup;
    model.memory_words = machine.words;
    model.memory_pipelined = machine.pipelined;
    model.answer_cycles = machine.answer;
    if let Some(shared) = machine.shared {
        let few = |count: usize| u16::try_from(count).unwrap();
        model.topology = MemoryTopology::Shared(SharedMemories {
            sockets: few(shared.sockets),
            memories: few(shared.memories),
            slices: few(shared.slices),
            tiles: few(shared.tiles),
            near_cycles: shared.near,
            socket_cycles: shared.socket,
            far_cycles: shared.far,
        });
        let level = |(sets, ways, latency_cycles)| LastLevelModel {
            size_bytes: sets * ways as u64 * machine.block * shared.slices as u64,
            associativity: ways as u64,
            latency_cycles,
        };
        model.last_level = shared.last_level.map(level);
    }
    model.system.page_fault_cycles = machine.page_fault;
    model.system.page_table_cycles = machine.page_table;
    given
}

/// The events, if the two agree; otherwise the difference.
fn compare(
    machine: &SlowMachine,
    programs: &[Vec<Operation>],
    portion: usize,
) -> Result<BTreeMap<&'static str, u64>, String> {
    let found = named(&engine(machine).run(programs, portion));
    let mut slow = SlowClock::new(*machine, programs);
    let expected = slow.run();
    if found == expected {
        let mut seen = slow.seen;
        for (name, count) in expected.counts {
            *seen.entry(name).or_default() += count;
        }
        return Ok(seen);
    }
    Err(format!("{found:?}|{expected:?}"))
}

#[test]
fn the_clock_agrees_with_the_slow_one_in_every_count_and_cycle() {
    let mut rng = Rng::new(11);
    let mut seen = BTreeMap::<&str, u64>::new();
    for round in 0..3000 {
        let mut machine = machine(&mut rng);
        if round % 3 == 0 {
            // Pages are unmapped in the middle of runs of hits.
            (machine.home, machine.lookup, machine.instruction) = (SlowHome::FirstUse, 10, 0);
        }
        let programs = random_programs(&mut rng, machine.nodes, machine.block);
        let portion = 1 + usize::try_from(rng.below(60)).unwrap();
        match compare(&machine, &programs, portion) {
            Ok(now) => now.into_iter().for_each(|(name, n)| *seen.entry(name).or_default() += n),
            Err(difference) => {
                let small = shrink(programs, |fewer| compare(&machine, fewer, 1000).is_err());
                let smaller = compare(&machine, &small, 1000);
                let text = program_text(&small);
                panic!("{round}: {machine:?}\n{difference}\n{text}\n{smaller:#?}");
            }
        }
    }
    println!("{seen:#?}");
    let lacking: Vec<_> = OFTEN.iter().filter(|name| !seen.contains_key(*name)).collect();
    assert!(lacking.is_empty(), "{lacking:?} never happened");
}
