//! A walk shows what the engine does: its steps add up to the engine's counts.
use homenode_base::{Access, AccessKind, BlockSize, Flags, Rng};
use homenode_machine::{BusCycles, CacheShape, CachedMachine};
use homenode_snoop::walk::{
    BlockSnapshot, BusStep, ProtocolWalk, batch_of, example, examples, walk,
};
use homenode_snoop::{
    BusCounts, BusSetup, CoherenceCounts, Example, MissClass, MissCounts, MissRule, ProtocolSpec,
    ProtocolTable, SharingClass, TABLE, TraceOrderSimulation, Transactions,
};

fn setup(processors: u16, cache: CacheShape) -> BusSetup {
    BusSetup {
        private: std::iter::once(0x1_0400..0x1_0440).collect(),
        ..BusSetup::new(processors, cache)
    }
}

fn prices(block: u64) -> BusCycles {
    CachedMachine::parse("bus-smp")
        .unwrap()
        .cycles(BlockSize::new(block).unwrap())
        .unwrap()
        .unwrap()
}

fn table(protocol: &str) -> ProtocolTable {
    ProtocolSpec::parse(protocol).unwrap().table()
}

/// The counts of the engine as other callers use it.
fn counted(setup: &BusSetup, protocol: &str, references: &[Access]) -> BusCounts {
    let mut counter = TraceOrderSimulation::new(setup, table(protocol)).unwrap();
    counter.push(&batch_of(references)).unwrap();
    counter.finish()
}

/// The sums over the steps.
fn sums(steps: &[BusStep]) -> (u64, MissCounts, Transactions, CoherenceCounts) {
    let (mut hits, mut misses) = (0, MissCounts::default());
    let (mut transactions, mut sharing) = (Transactions::default(), CoherenceCounts::default());
    for step in steps {
        *match step.miss.map(|miss| miss.class) {
            None => &mut hits,
            Some(MissClass::Cold) => &mut misses.cold,
            Some(MissClass::Replacement) => &mut misses.replacement,
            Some(MissClass::InvalidationTrue) => &mut misses.invalidation_true,
            Some(MissClass::InvalidationFalse) => &mut misses.invalidation_false,
            Some(MissClass::InvalidationPassive) => &mut misses.invalidation_passive,
            Some(MissClass::Removal) => &mut misses.removal,
        } += 1;
        for act in &step.acts {
            let t = &mut transactions;
            match (act.transaction, act.source) {
                (None, _) => {}
                (Some("read-block"), "memory") => t.read_block_memory += 1,
                (Some("read-block"), _) => t.read_block_cache += 1,
                (Some("read-and-invalidate-block"), "memory") => t.read_invalidate_memory += 1,
                (Some("read-and-invalidate-block"), _) => t.read_invalidate_cache += 1,
                (Some("invalidate"), _) => t.invalidate += 1,
                (Some("write"), _) => t.write += 1,
                (Some("update-block"), _) => t.update_block += 1,
                (Some(other), _) => panic!("{other}"),
            }
            match act.sharing {
                None => {}
                Some(SharingClass::True) => sharing.true_sharing += 1,
                Some(SharingClass::False) => sharing.false_sharing += 1,
                Some(SharingClass::Passive) => sharing.passive += 1,
            }
        }
    }
    (hits, misses, transactions, sharing)
}

fn random_references(rng: &mut Rng, length: usize) -> Vec<Access> {
    let words = 8 + rng.below(300);
    let one = |_| {
        let word = if rng.below(3) > 0 { rng.below(words) } else { rng.below(12) };
        let kind = match rng.below(10) {
            0..=3 => AccessKind::Write,
            4 => AccessKind::Atomic,
            5 => AccessKind::Fetch,
            _ => AccessKind::Read,
        };
        let size = [1, 4, 4, 8, 32][usize::try_from(rng.below(5)).unwrap()];
        let thread = u16::try_from(rng.below(5)).unwrap();
        let mut access = Access::new(thread, kind, 0x1_0000 + 4 * word, size);
        access.flags = match rng.below(8) {
            0 => Flags::PRIVATE,
            1 => Flags::KERNEL,
            _ => Flags(0),
        };
        access
    };
    (0..length).map(one).collect()
}

/// What follows from one step to the next holds in every walk.
fn check_links(walk: &ProtocolWalk, setup: &BusSetup) {
    let mut scenes = &walk.start;
    let each = if setup.instructions.is_some() { 2 } else { 1 };
    let caches = walk.caches.as_ref().unwrap();
    assert_eq!(caches.len(), each * usize::from(setup.processors));
    for (number, step) in walk.steps.iter().enumerate() {
        let states = |scenes: &[BlockSnapshot]| -> Vec<&str> {
            scenes[step.block.unwrap()].copies.iter().map(|copy| copy.state).collect()
        };
        assert_eq!(
            (step.before.clone(), step.after.clone()),
            (states(scenes), states(&step.scenes))
        );
        assert_eq!(step.miss.is_some(), step.before[step.cache.unwrap()] == "I");
        let last = step.acts.last().unwrap();
        assert_eq!(last.next, step.after[step.cache.unwrap()]);
        assert!(step.acts.iter().rev().skip(1).all(|act| act.again || act.event == "replace"));
        let own = if step.kind == "fetch" { "instructions" } else { "data" };
        let name = if each == 2 { format!(" {own}") } else { String::new() };
        assert_eq!(caches[step.cache.unwrap()], format!("P{}{name}", step.processor));
        assert_eq!(step.bus_cycles, Some(step.acts.iter().map(|act| act.cycles).sum()));
        if let Some(known) = step.miss.and_then(|miss| miss.known) {
            assert!((number..walk.steps.len()).contains(&known));
        }
        scenes = &step.scenes;
        for scene in scenes {
            assert_eq!(scene.copies.len(), caches.len());
            // The words that are shown are all that are ever written.
            assert_eq!(scene.up_to_date, scene.memory == scene.latest);
            for copy in scene.copies.iter().filter(|copy| copy.state != "I") {
                assert_eq!(copy.values, scene.latest, "no protocol here has stale copies");
            }
        }
    }
}

#[test]
fn the_steps_add_up_to_what_the_engine_counts() {
    let mut rng = Rng::new(5);
    let mut judged_later = 0;
    for entry in TABLE {
        for round in 0..40 {
            let block = 16 << rng.below(4);
            let ways = 1 + rng.below(3);
            let shape = CacheShape {
                size_bytes: (block * ways) << rng.below(3),
                block_size_bytes: block,
                associativity: ways,
            };
            let mut setup = setup(u16::try_from(1 + rng.below(5)).unwrap(), shape);
            if round % 4 == 3 {
                setup.rule = MissRule::Torrellas;
            }
            if round % 3 == 2 {
                setup.instructions = Some(setup.cache);
            }
            let references = random_references(&mut rng, 300);
            let walk = walk(&setup, &table(entry.name), &prices(block), &references).unwrap();
            let counts = counted(&setup, entry.name, &references);
            assert_eq!(walk.totals, counts, "{}: {shape:?}", entry.name);
            let all = (counts.hits, counts.misses, counts.transactions, counts.coherence);
            assert_eq!(sums(&walk.steps), all, "{}: {shape:?}", entry.name);
            assert_eq!(walk.bus_cycles, Some(counts.transactions.cycles(&prices(block))));
            assert_eq!(walk.bus_cycles, walk.steps.iter().map(|step| step.bus_cycles).sum());
            check_links(&walk, &setup);
            let later = |(number, step): (usize, &BusStep)| {
                step.miss.is_some_and(|miss| miss.known.is_some_and(|known| known > number))
            };
            judged_later += walk.steps.iter().enumerate().filter(|&s| later(s)).count();
        }
    }
    assert!(judged_later > 300, "{judged_later}");
}

fn example_walk(protocol: &str, example: &Example) -> ProtocolWalk {
    let setup = setup(example.processors(), Example::CACHE);
    let prices = prices(Example::CACHE.block_size_bytes);
    walk(&setup, &table(protocol), &prices, &example.references()).unwrap()
}

/// Each example shows what its text says.
#[test]
fn examples_show_what_they_are_for() {
    let own = |protocol| example_walk(protocol, example(&[protocol]));
    let mesi = own("mesi").totals;
    assert!(mesi.misses.invalidation_false >= 2 && mesi.misses.invalidation_true >= 1);
    assert!(mesi.coherence.false_sharing >= 2 && mesi.transactions.update_block >= 1);
    let amsd = own("amsd");
    let visited =
        |walk: &ProtocolWalk, state| walk.steps.iter().any(|step| step.after.contains(&state));
    assert!(["S2", "MC", "MD", "S", "M"].into_iter().all(|state| visited(&amsd, state)));
    let pscr = own("pscr").totals;
    assert!(pscr.misses.removal >= 1 && pscr.transactions.write >= 2);
    assert_eq!(pscr.coherence.passive, 0);
    let moesi = own("moesi");
    assert!(visited(&moesi, "O") && moesi.totals.transactions.update_block >= 1);
    let dragon = own("dragon").totals;
    assert_eq!(dragon.misses.invalidations(), 0);
    assert!(dragon.transactions.write >= 3 && dragon.transactions.update_block >= 1);
    let tour = examples().last().unwrap();
    let cycles = |protocol| example_walk(protocol, tour).bus_cycles.unwrap();
    assert!(cycles("pscr") < cycles("mesi") && cycles("amsd") < cycles("mesi"));
}

/// Hand-worked: the first writes of MESI's example.
#[test]
fn a_step_tells_the_whole_story() {
    let walk = example_walk("mesi", example(&["mesi"]));
    let step = &walk.steps[2];
    assert_eq!((step.processor, step.kind, &step.words[..]), (1, "read", &[1][..]));
    assert_eq!((&step.before[..], &step.after[..]), (&["M", "I", "I"][..], &["S", "S", "I"][..]));
    let act = &step.acts[0];
    assert_eq!(
        (act.transaction, act.supplier, act.condition),
        (Some("read-block"), Some(0), "copies")
    );
    assert!(act.answers[0].memory);
    assert_eq!(step.bus_cycles, Some(8 + 16 / 8));
    let scene = &step.scenes[0];
    assert_eq!((&scene.memory[..], &scene.latest[..]), (&[1, 0][..], &[1, 0][..]));
    let missed = &walk.steps[4];
    assert_eq!(missed.miss.unwrap().class, MissClass::InvalidationFalse);
    assert_eq!(missed.miss.unwrap().known, Some(7));
    assert!(missed.scenes[0].copies[0].open);
    assert_eq!(walk.steps[3].scenes[0].copies[0].lost, Some("invalidated"));
}

#[test]
fn what_cannot_be_is_refused() {
    let cache = CacheShape { size_bytes: 1000, block_size_bytes: 16, associativity: 2 };
    let mut bad = setup(2, cache);
    assert!(walk(&bad, &table("mesi"), &prices(16), &[]).is_err());
    bad.cache.size_bytes = 1024;
    let nothing = walk(&bad, &table("mesi"), &prices(16), &[]).unwrap();
    assert_eq!((nothing.steps.len(), nothing.bus_cycles), (0, Some(0)));
}

#[test]
fn every_reference_of_every_example_is_read() {
    for example in examples() {
        assert_eq!(example.references().len(), example.text.split(';').count(), "{}", example.name);
        assert_eq!(example.processors(), 3);
    }
}

#[test]
fn every_protocol_has_an_example_of_its_own() {
    for entry in TABLE {
        assert_eq!(example(&[entry.name]).protocol, Some(entry.name));
        assert_eq!(example(&[entry.name, entry.name]).protocol, Some(entry.name));
    }
    assert_eq!(example(&["mesi", "amsd"]).name, "tour");
}
