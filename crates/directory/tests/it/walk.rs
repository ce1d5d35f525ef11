//! A walk shows what the engine does: its steps add up to the engine's counts, and its messages are
//! those of the table in `docs/directory.md`.

use crate::support::setup;
use crate::walked::{check_links, messages_of};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_cache::walk::{Example, batch_of, written_references};
use homenode_directory::walk::{DirectoryWalk, DirectoryWalkStep, walk};
use homenode_directory::{
    CoherenceTable, DirectoryCounts, DirectoryProtocol, DirectorySetup, DirectorySimulation,
    HomePolicy, HomeSetup, HomeSpec, MessageCounts, TABLE,
};
use homenode_machine::CacheShape;

fn homes(setup: &DirectorySetup, home: &str) -> Box<dyn HomePolicy> {
    let homes = HomeSetup { seed: 7, ..HomeSetup::new(setup.nodes) };
    HomeSpec::parse(home).unwrap().build(&homes).unwrap()
}

fn walked(setup: &DirectorySetup, protocol: &str, home: &str, all: &[Access]) -> DirectoryWalk {
    let table = DirectoryProtocol::parse(protocol).unwrap().table().blocks().unwrap();
    walk(setup, &table, homes(setup, home), all).unwrap().0
}

/// The counts of the public engine.
fn counted(setup: &DirectorySetup, protocol: &str, home: &str, all: &[Access]) -> DirectoryCounts {
    let table = DirectoryProtocol::parse(protocol).unwrap().table().blocks().unwrap();
    let setup = DirectorySetup { check: false, ..setup.clone() };
    let mut engine = DirectorySimulation::new(&setup, table, homes(&setup, home)).unwrap();
    engine.push(&batch_of(all)).unwrap();
    engine.finish().counts
}

fn random_references(rng: &mut Rng, nodes: u16) -> Vec<Access> {
    let words = 8 + rng.below(300);
    let one = |_| {
        let word = if rng.below(3) > 0 { rng.below(words) } else { rng.below(12) };
        let kinds = [AccessKind::Write, AccessKind::Atomic, AccessKind::Read, AccessKind::Read];
        let kind = kinds[usize::try_from(rng.below(4)).unwrap()];
        let size = [1, 4, 4, 8, 32][usize::try_from(rng.below(5)).unwrap()];
        let thread = u16::try_from(rng.below(u64::from(nodes) + 2)).unwrap();
        let mut access = Access::new(thread, kind, 0x1_0000 + 4 * word, size);
        access.flags = if rng.below(8) == 0 { Flags::PRIVATE } else { Flags(0) };
        access
    };
    (0..400).map(one).collect()
}

#[test]
fn steps_add_up_to_what_the_engine_counts() {
    let mut rng = Rng::new(23);
    for round in 0..60 {
        let nodes = [1, 2, 4, 9, 70][round % 5];
        let (block, ways) = (16 << rng.below(3), [1, 2, 4][round % 3]);
        let protocol = ["dash", "dash:pointers=1", "dash:pointers=3"][round % 3];
        let setup = DirectorySetup {
            cache: CacheShape {
                size_bytes: (block * ways) << rng.below(3),
                block_size_bytes: block,
                associativity: ways,
            },
            pointers: DirectoryProtocol::parse(protocol).unwrap().pointers,
            ..setup(nodes)
        };
        let home = ["first-touch", "fixed:node=0", "round-robin", "first-fill:n=2"][round % 4];
        let references = random_references(&mut rng, nodes);
        let walk = walked(&setup, protocol, home, &references);
        assert_eq!(walk.totals.counts, counted(&setup, protocol, home, &references), "{round}");
        check_links(&walk, MessageCounts::total);
        let last = walk.steps.last().unwrap();
        assert_eq!(last.messages, Some(walk.totals.messages));
        assert_eq!(last.message_bytes, Some(walk.totals.counts.message_bytes));
        let misses = walk.steps.iter().filter(|step| step.miss.is_some()).count() as u64;
        assert_eq!(misses, walk.totals.counts.fills);
        let of = |name| {
            let class = |step: &&DirectoryWalkStep| {
                step.miss.is_some_and(|miss| format!("{:?}", miss.class) == name)
            };
            walk.steps.iter().filter(class).count() as u64
        };
        let found = [of("Cold"), of("InvalidationTrue"), of("InvalidationFalse")];
        let totals = walk.totals.counts.misses;
        assert_eq!(found, [totals.cold, totals.invalidation_true, totals.invalidation_false]);
    }
}

/// The messages between different nodes of the last of some references. Node 0 of four is the home,
/// and each cache has room for one block.
fn last(text: &str) -> String {
    let setup = DirectorySetup { cache: Example::CACHE, page_bytes: 4096, ..setup(4) };
    let walk = walked(&setup, "dash", "fixed:node=0", &written_references(text).unwrap());
    check_links(&walk, MessageCounts::total);
    messages_of(&walk.steps.last().unwrap().acts)
}

#[test]
fn read_misses_take_the_messages_of_the_table() {
    assert_eq!(last("0 R a0"), "", "clean, at home");
    assert_eq!(last("1 R a0"), "1-0 read, 0-1 data", "clean, elsewhere");
    assert_eq!(last("0 W a0; 1 R a0"), "1-0 read, 0-1 data", "dirty at home");
    assert_eq!(last("1 W a0; 0 R a0"), "0-1 forwarded read, 1-0 data", "dirty, two hops");
    let three = "2-0 read, 0-1 forwarded read, 1-2 data, 1-0 sharing write-back";
    assert_eq!(last("1 W a0; 2 R a0"), three, "dirty, three hops");
    assert_eq!(last("1 R a0; 1 R a0"), "", "a hit");
}

#[test]
fn writes_take_the_messages_of_the_table() {
    assert_eq!(last("0 W a0"), "", "clean, at home");
    assert_eq!(last("1 W a0"), "1-0 write, 0-1 exclusive", "clean, elsewhere");
    let expected = "1-0 write, 0-2 invalidate, 0-3 invalidate, 0-1 exclusive, 2-1 acknowledge, \
                3-1 acknowledge";
    assert_eq!(last("2 R a0; 3 R a0; 1 W a0"), expected);
    assert_eq!(last("0 R a0; 2 R a0; 3 R a0; 1 W a0"), expected, "a sharer at home needs neither");
    assert_eq!(last("0 W a0; 1 W a0"), "1-0 write, 0-1 exclusive", "dirty at home");
    assert_eq!(last("1 W a0; 0 W a0"), "0-1 forwarded write, 1-0 exclusive", "dirty, two hops");
    let three = "2-0 write, 0-1 forwarded write, 1-2 exclusive, 1-0 ownership transfer";
    assert_eq!(last("1 W a0; 2 W a0"), three, "dirty, three hops");
    let upgrade = "1-0 upgrade, 0-2 invalidate, 0-1 permission, 2-1 acknowledge";
    assert_eq!(last("1 R a0; 2 R a0; 1 W a0"), upgrade);
    assert_eq!(last("0 R a0; 0 W a0"), "", "an upgrade at home");
}

#[test]
fn replacements_take_the_messages_of_the_table() {
    assert_eq!(last("1 W a0; 1 R b0"), "1-0 write-back, 1-0 read, 0-1 data");
    assert_eq!(last("0 W a0; 0 R b0"), "", "at home");
    assert_eq!(last("1 R a0; 1 R b0"), "1-0 read, 0-1 data", "a clean block goes silently");
}

#[test]
fn examples_can_be_read_and_belong_to_their_protocol() {
    for entry in TABLE {
        // Those of pages are walked through in `page_walk.rs`, those with lists nowhere.
        if !matches!((entry.build)(), CoherenceTable::Blocks(_)) {
            continue;
        }
        let example = entry.example;
        assert_eq!(example.protocol, Some(entry.name));
        assert_eq!(example.references().len(), example.text.split(';').count());
        let setup = DirectorySetup {
            cache: Example::CACHE,
            page_bytes: 4096,
            ..setup(example.processors())
        };
        let walk = walked(&setup, entry.name, "first-touch", &example.references());
        assert!(walk.steps.len() >= 10);
        check_links(&walk, MessageCounts::total);
    }
}
