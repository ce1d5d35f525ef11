//! Random programs on small machines with controllers, tiny caches, buffers of one to three
//! messages, with and without proxies: reads return nothing old, the protocol does nothing that it
//! says is impossible, every reference completes, and counts add up. Protocols with a planted
//! bug are found out.

use crate::controllers::{ListMachine, alite, sdd};
use crate::programs::pick;
use crate::timed::step;
use homenode_base::Rng;
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{
    ClockedDirectoryResult, ControllerCell, CopyAction, CopyEvent, ListMessage, ListTable,
    ProxyAllocation, ProxySetup, ProxyUse,
};
use homenode_machine::CacheShape;
use homenode_protocol::Labelled;

/// A machine with tiny caches and pages, so that everything happens often.
fn machine(rng: &mut Rng) -> ListMachine {
    let nodes = pick(rng, &[2, 3, 6, 9]);
    let home = pick(rng, &["round-robin", "fixed:node=0", "first-touch", "first-use"]);
    let mut machine = alite(nodes, home);
    let (block, ways) = (pick(rng, &[16, 32]), pick(rng, &[1, 1, 2]));
    let size_bytes = block * ways * pick(rng, &[1, 2, 4]);
    let cache = CacheShape { size_bytes, block_size_bytes: block, associativity: ways };
    (machine.setup.cache, machine.setup.check) = (cache, true);
    machine.setup.page_bytes = block * pick(rng, &[1, 2, 4]);
    machine.timed.machine.first_level_bytes = block;
    machine.timed.machine.controller.send_cycles = pick(rng, &[0, 5]);
    machine.timed.machine.network.gap_cycles = pick(rng, &[0, 5]);
    machine.timed.machine.network.long_cycles = pick(rng, &[1, 10, 70]);
    machine.timed.buffer_reads = pick(rng, &[None, Some(1), Some(2), Some(3)]);
    machine.timed.proxies = ProxySetup {
        used: pick(rng, &[ProxyUse::None, ProxyUse::Basic, ProxyUse::Reactive]),
        clusters: pick(rng, &[1, 2, 3]),
        allocation: pick(
            rng,
            &[
                ProxyAllocation::SecondLevel,
                ProxyAllocation::Nowhere,
                ProxyAllocation::Separate { bytes: block },
                ProxyAllocation::Separate { bytes: 4 * block },
            ],
        ),
        fair: rng.below(2) == 0,
        marked: Vec::new(),
    };
    machine
}

/// Programs that refer to few words, mostly to read them, so that lists are long.
fn programs(rng: &mut Rng, nodes: u16) -> Vec<Vec<Operation>> {
    let words = pick(rng, &[4, 8, 32]);
    let writes = pick(rng, &[2, 4, 16]);
    let reference = |rng: &mut Rng| {
        let kind = match rng.below(writes) {
            0 => OpKind::Write,
            1 if rng.below(4) == 0 => OpKind::Atomic,
            _ => OpKind::Read,
        };
        let count = u32::try_from(rng.below(3) * rng.below(60)).unwrap();
        Operation { count, ..step(kind, 0x1000 + 4 * rng.below(words)) }
    };
    let mut programs: Vec<Vec<Operation>> =
        (0..nodes).map(|_| (0..40).map(|_| reference(rng)).collect()).collect();
    programs[0].insert(10, step(OpKind::InitDone, 0));
    programs
}

fn adds_up(found: &ClockedDirectoryResult, machine: &ListMachine, of: &str) {
    let (counts, messages) = (&found.counts, found.list_messages.unwrap());
    let get = |message| messages.sent.of_type(message);
    assert_eq!(counts.fills, counts.misses.total(), "{of}");
    assert_eq!(get(ListMessage::Bounce), messages.retried, "{of}: all are sent again");
    let followers = get(ListMessage::Follower);
    if matches!(machine.timed.proxies.allocation, ProxyAllocation::Separate { .. }) {
        assert!(followers <= messages.combined, "{of}: or it is on the node of its proxy");
    } else {
        assert_eq!(followers, messages.combined, "{of}: one message to one client");
    }
    if machine.timed.buffer_reads.is_none() {
        assert_eq!(get(ListMessage::Bounce), 0, "{of}");
    }
    if machine.timed.proxies.used == ProxyUse::None {
        assert_eq!(get(ListMessage::ProxyRead) + get(ListMessage::Follower), 0, "{of}");
    }
    let cycles = found.time.cycles;
    for (processor, stalls) in found.time.processors.iter().zip(&found.time.stalls) {
        assert_eq!(processor.busy + processor.delay + processor.idle, cycles, "{of}");
        let parts = stalls.read + stalls.write + stalls.sync + stalls.system;
        assert_eq!(parts, processor.delay, "{of}");
    }
}

#[test]
fn no_read_is_stale_and_every_reference_completes() {
    let mut bounced = 0;
    let (mut proxied, mut combined) = ([0; 3], [0; 3]);
    for seed in 0..1_500 {
        let mut rng = Rng::new(seed);
        let machine = machine(&mut rng);
        let programs = programs(&mut rng, machine.setup.nodes);
        let found = machine.try_run(sdd(), &programs, 7);
        let of = format!("seed {seed}");
        let found = found.unwrap_or_else(|error| panic!("{of}: {error}"));
        let references: usize = programs.iter().map(Vec::len).sum();
        assert_eq!(found.counts.references, references as u64 - 1, "{of}");
        adds_up(&found, &machine, &of);
        let messages = found.list_messages.unwrap();
        bounced += messages.sent.of_type(ListMessage::Bounce);
        let kind = match machine.timed.proxies.allocation {
            ProxyAllocation::SecondLevel => 0,
            ProxyAllocation::Nowhere => 1,
            ProxyAllocation::Separate { .. } => 2,
        };
        proxied[kind] += messages.sent.of_type(ListMessage::ProxyRead);
        combined[kind] += messages.combined;
    }
    let enough = |least| move |count: &u64| *count > least;
    assert!(bounced > 1_000 && proxied.iter().all(enough(1_000)), "{bounced} {proxied:?}");
    assert!(combined.iter().all(enough(150)), "{combined:?}");
}

#[test]
fn in_how_many_portions_operations_come_changes_nothing() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let machine = machine(&mut rng);
        let programs = programs(&mut rng, machine.setup.nodes);
        let [one, other] = [1, 1_000].map(|portion| machine.run(&programs, portion));
        assert_eq!((one.counts, one.timing), (other.counts, other.timing), "seed {seed}");
        assert_eq!(one.list_messages, other.list_messages, "seed {seed}");
        assert_eq!(one.time.processors, other.time.processors, "seed {seed}");
    }
}

/// How many of some random programs a table is found out by.
fn found_out(table: &ListTable) -> usize {
    let fails = |seed: &u64| {
        let mut rng = Rng::new(*seed);
        let machine = machine(&mut rng);
        let programs = programs(&mut rng, machine.setup.nodes);
        let outcome = std::panic::catch_unwind(|| machine.try_run(table.clone(), &programs, 100));
        match outcome {
            Ok(Ok(found)) => {
                let expected: usize = programs.iter().map(Vec::len).sum();
                found.counts.references != expected as u64 - 1
            }
            Ok(Err(_)) | Err(_) => true,
        }
    };
    (0..200).filter(fails).count()
}

#[test]
fn planted_bugs_are_found_out() {
    assert_eq!(found_out(&sdd()), 0);
    let table = sdd();
    let state = |name: &str| {
        let found = table.copy.states().iter().position(|label| label.name == name);
        u8::try_from(found.unwrap()).unwrap()
    };
    let planted = [
        // A copy stays behind one that is replaced.
        ("S", CopyEvent::ReplaceAhead, &[] as &'static [CopyAction], "I"),
        // An invalidated copy does not pass the invalidation on.
        ("S", CopyEvent::Invalidate, &[CopyAction::Acknowledge], "I"),
        // A copy that has to go stays.
        ("S", CopyEvent::Invalidate, &[CopyAction::PassOn], "S"),
        // The block is not handed on.
        ("IS", CopyEvent::Data, &[CopyAction::Complete], "S"),
        // A read that has come back is forgotten.
        ("IS", CopyEvent::Bounce, &[], "IS"),
        // What was asked for on behalf of clients is not handed on, or is not asked for again.
        ("R", CopyEvent::Data, &[], "I"),
        ("R", CopyEvent::Bounce, &[], "R"),
        // Only the last client that was combined gets the block.
        ("R", CopyEvent::ProxyRead, &[], "R"),
        // A write is done before the list is gone.
        ("IM", CopyEvent::ExclusiveDue, &[CopyAction::Complete], "M"),
    ];
    for (before, event, actions, after) in planted {
        let mut bug = table.clone();
        let cell = ControllerCell::Does(actions, state(after));
        bug.copy.set_cell(state(before), event, cell);
        assert!(found_out(&bug) > 0, "{} in {before}", event.name());
    }
}
