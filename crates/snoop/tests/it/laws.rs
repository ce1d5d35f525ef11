//! What holds of protocols on random references, where a planted bug is found, and which machines
//! are refused. Sequences worked by hand are cases (`testdata/cases/bus-*.toml`); here is what a
//! case cannot say: laws over thousands of references, a table that is wrong, errors of the
//! interface.
use homenode_base::{Access, AccessKind, Rng};
use homenode_machine::{CacheShape, CachedMachine};
use homenode_snoop::walk::batch_of;
use homenode_snoop::{
    BusSetup, BusSetupError, CheckError, ProtocolSpec, TABLE, TraceOrderSimulation,
};
use homenode_trace::Batch;

fn setup(processors: u16, size_bytes: u64, associativity: u64) -> BusSetup {
    BusSetup {
        check: true,
        ..BusSetup::new(processors, CacheShape { size_bytes, block_size_bytes: 32, associativity })
    }
}

/// References to words: the thread, whether it writes, and the word.
fn references(count: usize, mut one: impl FnMut() -> (u64, bool, u64)) -> Batch {
    let access = |_| {
        let (thread, write, word) = one();
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        Access::new(u16::try_from(thread).unwrap(), kind, 4 * word, 4)
    };
    batch_of(&(0..count).map(access).collect::<Vec<Access>>())
}

/// With one processor there is nothing to be coherent about.
#[test]
fn one_processor_counts_the_same_under_every_protocol() {
    let mut rng = Rng::new(5);
    let one = references(50_000, || (0, rng.below(2) == 1, rng.below(4_000)));
    let mut all = Vec::new();
    for entry in TABLE {
        let setup = BusSetup { check: false, ..setup(1, 4096, 4) };
        let mut counter = TraceOrderSimulation::new(&setup, (entry.build)()).unwrap();
        counter.push(&one).unwrap();
        let counts = counter.finish();
        assert_eq!(counts.coherence.total() + counts.misses.invalidations(), 0);
        let fetched = counts.transactions;
        let fetched = fetched.read_block_memory + fetched.read_invalidate_memory;
        all.push((counts.hits, counts.misses, fetched, counts.transactions.update_block));
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
    assert!(all[0].1.replacement > 10_000 && all[0].3 > 5_000);
}

/// LRU is a stack algorithm: a larger fully associative cache hits wherever a smaller one does.
#[test]
fn a_larger_fully_associative_cache_never_misses_more() {
    let mut rng = Rng::new(6);
    let shared =
        references(30_000, || (rng.below(3), rng.below(20) == 0, rng.below(60) * rng.below(60)));
    for entry in TABLE.iter().filter(|entry| ["pscr", "dragon"].contains(&entry.name)) {
        // No copy is ever lost to another processor, so every cache is a stack of its own.
        let mut before = u64::MAX;
        for blocks in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] {
            let setup = BusSetup { check: false, ..setup(3, 32 * blocks, blocks) };
            let mut counter = TraceOrderSimulation::new(&setup, (entry.build)()).unwrap();
            counter.push(&shared).unwrap();
            let misses = counter.finish().misses.total();
            assert!(misses <= before, "{}: {blocks} blocks: {misses} > {before}", entry.name);
            before = misses;
        }
    }
}

/// PSCR without private areas is Dragon, and what transactions cost follows table 4.
#[test]
fn pscr_without_private_areas_is_dragon() {
    let mut rng = Rng::new(7);
    let shared = references(30_000, || (rng.below(4), rng.below(3) == 0, rng.below(600)));
    let [pscr, dragon] = ["pscr", "dragon"].map(|protocol| {
        let table = ProtocolSpec::parse(protocol).unwrap().table();
        let mut counter = TraceOrderSimulation::new(&setup(4, 1024, 2), table).unwrap();
        counter.push(&shared).unwrap();
        counter.finish()
    });
    assert_eq!(pscr, dragon);
    let machine = CachedMachine::parse("bus-smp").unwrap();
    let cycles = machine.cycles(homenode_base::BlockSize::new(32).unwrap()).unwrap().unwrap();
    let t = pscr.transactions;
    let by_hand = 68 * t.read_block_memory + 12 * t.read_block_cache + 5 * t.write;
    assert_eq!(t.cycles(&cycles), by_hand + 8 * t.update_block);
}

#[test]
fn a_planted_bug_is_a_stale_read_with_its_place() {
    use homenode_snoop::{Reply, Signal};
    let mut table = ProtocolSpec::parse("dragon").unwrap().table();
    let shared = table.state("SC").unwrap();
    let ignores = Reply::Becomes { next: shared, memory: false, word: false };
    table.set_reply(shared, Signal::Write, ignores);
    let mut counter = TraceOrderSimulation::new(&setup(3, 128, 2), table).unwrap();
    let all = [(0, false, 0), (1, false, 0), (1, true, 2), (0, false, 0), (0, false, 2)];
    let mut next = all.map(|(thread, write, word)| (thread, write, 0x400 + word)).into_iter();
    let error = counter.push(&references(5, || next.next().unwrap())).unwrap_err();
    assert_eq!(error, CheckError::Stale { reference: 4, processor: 0, address: 0x1008 });
    assert_eq!(
        error.to_string(),
        "reference 4 of the trace: processor 0 reads a stale value at address 0x1008; the protocol \
         is wrong (homenode check-protocol)"
    );
}

#[test]
fn machines_that_cannot_be_are_refused() {
    let table = ProtocolSpec::parse("mesi").unwrap().table();
    let build = |setup: BusSetup| TraceOrderSimulation::new(&setup, table.clone()).err();
    let with = |size_bytes, block_size_bytes, associativity| {
        let cache = CacheShape { size_bytes, block_size_bytes, associativity };
        build(BusSetup { cache, ..setup(2, 128, 2) })
    };
    assert_eq!(build(setup(0, 128, 2)), Some(BusSetupError::Processors { processors: 0 }));
    assert_eq!(build(setup(1025, 128, 2)), Some(BusSetupError::Processors { processors: 1025 }));
    assert_eq!(with(128, 8, 2), Some(BusSetupError::Block { bytes: 8 }));
    assert_eq!(with(4096, 2048, 2), Some(BusSetupError::Block { bytes: 2048 }));
    assert_eq!(with(4096, 0, 2), Some(BusSetupError::Block { bytes: 0 }));
    for (size, ways) in [(128, 3), (96, 1), (128, 0), (128, 8), (0, 1), (2 << 30, 1)] {
        assert!(matches!(with(size, 32, ways), Some(BusSetupError::Cache { .. })), "{size} {ways}");
    }
    assert_eq!(with(96, 32, 3), None, "one set of three");
    let split = |processors, size_bytes, block_size_bytes| {
        let instructions = Some(CacheShape { size_bytes, block_size_bytes, associativity: 1 });
        build(BusSetup { instructions, ..setup(processors, 128, 2) })
    };
    assert_eq!(split(1024, 64, 32), None);
    let blocks = BusSetupError::SplitBlock { instructions: 64, data: 32 };
    assert_eq!(split(1, 64, 64), Some(blocks));
    assert!(matches!(split(1, 96, 32), Some(BusSetupError::Cache { .. })));
}
