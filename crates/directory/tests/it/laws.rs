//! What holds on random references: the same misses as on a bus, a planted bug that is found; and
//! which machines are refused.

use crate::support::{dash, setup, try_run};
use homenode_base::{Flags, ReferenceFilter, Rng};
use homenode_directory::{
    CacheAction, CacheEvent, CheckError, ControllerCell, DirectoryProtocol, DirectorySetup,
    DirectorySetupError, DirectorySimulation, HomeSetup, HomeSpec, MissCounts, MissRule,
};
use homenode_machine::CacheShape;
use homenode_snoop::{BusSetup, ProtocolSpec, TraceOrderSimulation};
use homenode_trace::Batch;

fn random(rng: &mut Rng, nodes: u16, flagged: bool) -> Batch {
    let (words, writes) = (20 + rng.below(400), 5 + rng.below(40));
    let mut batch = Batch::default();
    for _ in 0..3_000 {
        let word = if rng.below(2) == 0 { rng.below(words) } else { rng.below(24) };
        batch.turns.push(u16::try_from(rng.below(u64::from(nodes))).unwrap());
        batch.kind.push(if rng.below(100) < writes { 1 } else { 3 * u8::from(rng.below(9) == 0) });
        batch.size.push([1, 4, 4, 8, 64][usize::try_from(rng.below(5)).unwrap()]);
        batch.addr.push(0x1000 + 4 * word);
        if flagged {
            let private = if (word / 16) % 2 == 1 { Flags::PRIVATE } else { Flags(0) };
            let kernel = if rng.below(4) == 0 { Flags::KERNEL } else { Flags(0) };
            batch.flags.push(private.union(kernel).0);
        }
    }
    batch
}

fn bus_misses(setup: &DirectorySetup, batch: &Batch) -> MissCounts {
    let bus = BusSetup {
        private: setup.private.clone(),
        filter: ReferenceFilter { fetches: false, ..setup.filter },
        rule: setup.rule,
        ..BusSetup::new(setup.nodes, setup.cache)
    };
    let table = ProtocolSpec::parse("mesi").unwrap().table();
    let mut counter = TraceOrderSimulation::new(&bus, table).unwrap();
    counter.push(batch).unwrap();
    counter.finish().misses
}

/// A directory and a bus invalidate the same copies at the same writes.
#[test]
fn misses_by_class_are_those_of_mesi_on_a_bus() {
    let mut rng = Rng::new(11);
    let mut all = MissCounts::default();
    for round in 0..200 {
        let nodes = [2, 3, 8, 16, 17, 64, 65, 200][round % 8];
        let (block, ways) = (16 << rng.below(5), [1, 1, 2, 4, 9, 17][round % 6]);
        let setup = DirectorySetup {
            cache: CacheShape {
                size_bytes: (block * ways) << rng.below(4),
                block_size_bytes: block,
                associativity: ways,
            },
            page_bytes: 4096,
            pointers: [None, Some(2)][round % 2],
            private: if round % 5 == 0 {
                std::iter::once(0x1100..0x1200).collect()
            } else {
                Vec::new()
            },
            rule: if round % 3 == 0 { MissRule::Torrellas } else { MissRule::Dubois },
            check: round % 7 == 0,
            ..setup(nodes)
        };
        let batch = random(&mut rng, nodes, round % 3 == 1);
        let home = ["round-robin", "first-touch", "first-fill:n=2"][round % 3];
        let homes = HomeSetup { seed: 1, ..HomeSetup::new(nodes) };
        let homes = HomeSpec::parse(home).unwrap().build(&homes).unwrap();
        let mut simulation = DirectorySimulation::new(&setup, dash(), homes).unwrap();
        simulation.push(&batch).unwrap();
        let found = simulation.finish().counts;
        assert_eq!(found.misses, bus_misses(&setup, &batch), "round {round}: {setup:?}");
        assert_eq!(found.fills, found.misses.total());
        all.cold += found.misses.cold;
        all.replacement += found.misses.replacement;
        all.invalidation_true += found.misses.invalidation_true;
        all.invalidation_false += found.misses.invalidation_false;
        all.invalidation_passive += found.misses.invalidation_passive;
    }
    let least = [all.cold, all.replacement, all.invalidation_true, all.invalidation_false]
        .into_iter()
        .chain([all.invalidation_passive])
        .min();
    assert!(least > Some(1_000), "{all:?}");
}

#[test]
fn a_planted_bug_is_a_stale_read_with_its_place() {
    let mut table = dash();
    let state = |name: &str| {
        u8::try_from(table.cache.states().iter().position(|s| s.name == name).unwrap()).unwrap()
    };
    let (shared, acknowledges) = (state("S"), CacheEvent::Invalidate);
    let ControllerCell::Does(actions, _) = table.cache.cell(shared, acknowledges) else { panic!() };
    assert!(matches!(actions, [CacheAction::Send(_, _)]));
    table.cache.set_cell(shared, acknowledges, ControllerCell::Does(actions, shared));
    let text = "1 R 1000; 2 R 1000; 2 W 1008; 1 R 1000; 1 R 1008";
    let error = try_run(&setup(3), table, "fixed", None, text).unwrap_err();
    assert_eq!(error, CheckError::Stale { reference: 4, processor: 1, address: 0x1008 });
}

/// A protocol that does not come to rest is found with and without a check of values.
#[test]
fn a_table_in_which_a_message_waits_for_ever_is_an_error() {
    let mut table = dash();
    table.cache.set_cell(0, CacheEvent::Load, ControllerCell::Waits);
    for check in [false, true] {
        let setup = DirectorySetup { check, ..setup(2) };
        let found = try_run(&setup, table.clone(), "fixed", None, "0 W 40; 1 R 80");
        let error = found.unwrap_err();
        let place = matches!(
            error,
            CheckError::Impossible { reference: 1, processor: 1, address: 0x80, .. }
        );
        assert!(place, "{error}");
    }
}

#[test]
fn fetches_never_count() {
    let found = try_run(&setup(2), dash(), "fixed", None, "0 I 40; 1 A 80; 1 R 80").unwrap();
    let counts = found.counts;
    assert_eq!((counts.references, counts.reads, counts.writes, counts.fills), (2, 1, 1, 1));
}

#[test]
fn machines_that_cannot_be_are_refused() {
    let build = |setup: DirectorySetup| {
        let homes = HomeSetup { seed: 1, ..HomeSetup::new(1) };
        let homes = HomeSpec::parse("fixed").unwrap().build(&homes).unwrap();
        DirectorySimulation::new(&setup, dash(), homes).err()
    };
    assert_eq!(build(setup(1024)), None);
    assert_eq!(build(setup(0)), Some(DirectorySetupError::Nodes { nodes: 0 }));
    assert_eq!(build(setup(1025)), Some(DirectorySetupError::Nodes { nodes: 1025 }));
    let cache = |size_bytes, block_size_bytes, associativity| {
        let cache = CacheShape { size_bytes, block_size_bytes, associativity };
        build(DirectorySetup { cache, page_bytes: 4096, ..setup(2) })
    };
    assert_eq!(cache(4096, 8, 1), Some(DirectorySetupError::Block { bytes: 8 }));
    assert_eq!(cache(4096, 2048, 1), Some(DirectorySetupError::Block { bytes: 2048 }));
    assert!(matches!(cache(96, 32, 1), Some(DirectorySetupError::Cache { .. })));
    for page in [0, 32, 3 * 256, 1 << 31] {
        let error = Some(DirectorySetupError::Page { page, block: 64 });
        assert_eq!(build(DirectorySetup { page_bytes: page, ..setup(2) }), error);
    }
    assert_eq!(DirectoryProtocol::parse("dash:pointers=2").unwrap().pointers, Some(2));
}
