//! A walk under a protocol of lists shows what the clock does: its steps add up to the clock's
//! counts of the same references, and its messages are those of `docs/controllers.md`.

use crate::controllers::{ListMachine, alite, sdd};
use crate::walked::{check_links, messages_of, processes};
use homenode_base::{Access, AccessKind, Rng};
use homenode_cache::walk::{Example, WrittenStep, written_references};
use homenode_directory::walk::{DirectoryWalk, walk_linked};
use homenode_directory::{ListCounts, ListMessage, ProxyAllocation, ProxySetup, ProxyUse, TABLE};
use homenode_machine::CacheShape;

/// Cycles between two references, so that each is over before the next begins.
const APART: u32 = 100_000;

fn walked(machine: &ListMachine, steps: &[WrittenStep]) -> DirectoryWalk<ListCounts> {
    walk_linked(&machine.setup, &sdd(), machine.homes(), &machine.timed, steps).unwrap().0
}

fn references(all: Vec<Access>) -> Vec<WrittenStep> {
    all.into_iter().map(WrittenStep::Access).collect()
}

/// Nodes whose caches have room for `blocks` blocks of 16 bytes.
fn machine(nodes: u16, blocks: u64, home: &str) -> ListMachine {
    let mut machine = alite(nodes, home);
    machine.setup.cache = CacheShape { size_bytes: 16 * blocks, ..Example::CACHE };
    machine
}

#[test]
fn steps_add_up_to_what_the_clock_counts() {
    let mut rng = Rng::new(5);
    for round in 0..120 {
        let nodes = [2, 3, 4, 6][round % 4];
        let home = ["first-touch", "fixed:node=0", "round-robin"][round % 3];
        let mut machine = machine(nodes, 1 << rng.below(3), home);
        machine.timed.proxies = ProxySetup {
            used: if round % 2 == 0 { ProxyUse::None } else { ProxyUse::Basic },
            clusters: 1,
            allocation: match rng.below(3) {
                0 => ProxyAllocation::SecondLevel,
                1 => ProxyAllocation::Nowhere,
                _ => ProxyAllocation::Separate { bytes: 16 << rng.below(2) },
            },
            fair: rng.below(2) == 0,
            ..ProxySetup::default()
        };
        let reference = |_| {
            let kinds = [AccessKind::Read, AccessKind::Read, AccessKind::Write];
            let kind = kinds[usize::try_from(rng.below(3)).unwrap()];
            let node = u16::try_from(rng.below(u64::from(nodes))).unwrap();
            WrittenStep::Access(Access::new(node, kind, 0x1000 + 4 * rng.below(24), 4))
        };
        let references: Vec<_> = (0..150).map(reference).collect();
        let walk = walked(&machine, &references);
        let counted = machine.run(&processes(nodes, &references, APART), 100);
        assert_eq!(walk.totals.counts, counted.counts, "round {round}");
        assert_eq!(Some(walk.totals.messages), counted.list_messages, "round {round}");
        let waited: u64 = walk.steps.iter().map(|step| step.cycles.unwrap()).sum();
        let delays = counted.time.processors.iter().map(|processor| processor.delay);
        assert_eq!(waited, delays.sum::<u64>(), "round {round}");
        check_links(&walk, |counts| counts.sent.total());
    }
}

/// Messages of the last step between nodes, where node 0 is the home.
fn last_messages(text: &str) -> String {
    let references = references(written_references(text).unwrap());
    messages_of(&walked(&machine(4, 1, "fixed:node=0"), &references).steps.last().unwrap().acts)
}

#[test]
fn each_reference_takes_the_messages_that_are_documented() {
    for (text, expected) in [
        ("0 R a0", ""),
        ("1 R a0", "1-0 read, 0-1 data"),
        ("1 R a0; 1 R a0", ""),
        ("2 W a0; 1 R a0", "1-0 read, 0-2 forwarded read, 2-1 data, 2-0 sharing write-back"),
        ("2 W a0; 1 W a0", "1-0 write, 0-2 forwarded write, 2-1 exclusive"),
        ("1 R a0; 1 W a0", "1-0 upgrade, 0-1 permission"),
        // The head of the list invalidates those behind it.
        (
            "2 R a0; 3 R a0; 1 R a0; 1 W a0",
            "1-0 upgrade, 0-1 permission, 1-3 invalidate, 3-2 invalidate, 2-1 acknowledge",
        ),
        // Home notifies the head before it sends the data.
        (
            "2 R a0; 3 R a0; 1 W a0",
            "1-0 write, 0-3 invalidate, 0-1 exclusive, 3-2 invalidate, 2-1 acknowledge",
        ),
        // The middle of the list is replaced, and what is behind it goes.
        ("1 R a0; 2 R a0; 3 R a0; 2 R b0", "2-1 invalidate, 2-0 read, 1-2 acknowledge, 0-2 data"),
        ("1 W a0; 1 R b0", "1-0 write-back, 1-0 read, 0-1 written back, 0-1 data"),
    ] {
        assert_eq!(last_messages(text), expected, "{text}");
    }
}

#[test]
fn the_example_shows_lists_in_their_order() {
    let example = TABLE.iter().find(|entry| entry.name == "sdd").unwrap().example;
    let walk =
        walked(&machine(example.processors(), 1, "first-touch"), &references(example.references()));
    let lists: Vec<&[u16]> =
        walk.steps.iter().map(|step| &step.scenes[step.block.unwrap()].entry.listed[..]).collect();
    let expected: [&[u16]; 12] = [
        &[1],
        &[2, 1],
        &[3, 2, 1],
        &[0],
        &[1, 0],
        &[2, 1, 0],
        &[2],
        &[3, 2],
        &[1, 3, 2],
        &[0, 1, 3, 2],
        &[1],
        &[3, 0],
    ];
    assert_eq!(lists, expected);
}

/// Nodes read a word while the reads of others are under way; the last one waits for all.
fn overlapping(machine: &ListMachine, readers: &[u16]) -> DirectoryWalk<ListCounts> {
    let (last, _) = readers.split_last().unwrap();
    let reference = |&node: &u16| {
        let access = Access::new(node, AccessKind::Read, 0x1010, 4);
        if node == *last { WrittenStep::Access(access) } else { WrittenStep::Begins(access) }
    };
    let references: Vec<_> = readers.iter().map(reference).collect();
    walked(machine, &references)
}

#[test]
fn references_that_overlap_fill_buffers_and_are_combined() {
    let mut machine = machine(6, 1, "fixed:node=0");
    machine.timed.buffer_reads = Some(1);
    let walk = overlapping(&machine, &[1, 2, 3, 4]);
    let (messages, last) = (walk.totals.messages, walk.steps.last().unwrap());
    assert!(walk.steps[..3].iter().all(|step| step.cycles.is_none()), "under way");
    assert_eq!(walk.steps[0].scenes[0].data.copies[1].state, "IS");
    assert!(messages.retried > 0);
    assert_eq!(messages.sent.of_type(ListMessage::Bounce), messages.retried);
    let bounced = last.acts.iter().filter(|act| act.used.event == "bounce").count() as u64;
    assert_eq!(bounced, messages.retried);
    assert_eq!(last.scenes[0].entry.listed.len(), 4);
    assert_eq!(walk.totals.counts.misses.cold, 4);
    // Node 5 is the proxy of this block: the reads join the one that it has under way.
    machine.timed.buffer_reads = None;
    let used = ProxyUse::Basic;
    machine.timed.proxies = ProxySetup { used, clusters: 1, ..ProxySetup::default() };
    let walk = overlapping(&machine, &[1, 2, 3, 4]);
    let read = |message| walk.totals.messages.sent.of_type(message);
    assert_eq!((read(ListMessage::ProxyRead), read(ListMessage::Read)), (4, 1));
    assert_eq!(walk.totals.messages.combined, 3);
    // The first client is the last of the chain.
    assert_eq!(walk.steps[3].scenes[0].entry.listed, [5, 4, 3, 2, 1]);
}

#[test]
fn a_walk_shows_where_proxies_keep_copies() {
    let mut machine = machine(6, 1, "fixed:node=0");
    // Node 5 is the proxy of this block.
    let mut read_by = |allocation, readers: &[u16]| {
        machine.timed.proxies =
            ProxySetup { used: ProxyUse::Basic, clusters: 1, allocation, ..ProxySetup::default() };
        overlapping(&machine, readers)
    };
    let walk = read_by(ProxyAllocation::Nowhere, &[1, 2, 3]);
    let mut acts = walk.steps.iter().flat_map(|step| &step.acts);
    assert!(acts.any(|act| act.node == 5 && act.used.next == Some("R")), "relays");
    let scene = &walk.steps[2].scenes[0];
    assert_eq!((&scene.entry.listed[..], scene.data.copies[5].state), (&[1, 2, 3][..], "I"));
    assert!(scene.proxy_copies.is_empty());
    // The proxy's own read is the first to come to its cache, and those of others join it.
    let walk = read_by(ProxyAllocation::Separate { bytes: 16 }, &[1, 5, 2]);
    let scene = &walk.steps[2].scenes[0];
    assert_eq!(
        (&scene.entry.listed[..], &scene.entry.in_proxy_caches[..]),
        (&[5, 2, 1, 5][..], &[0][..])
    );
    assert_eq!((scene.data.copies[5].state, scene.proxy_copies[5].state), ("S", "S"));
    let mut acts = walk.steps.iter().flat_map(|step| &step.acts);
    let own =
        acts.find(|act| act.used.event == "proxy read" && act.message.unwrap().from == 5).unwrap();
    assert!(own.proxy_cache, "its second level is the client");
    assert_eq!(own.message.unwrap().number, None, "no message crosses");
}
