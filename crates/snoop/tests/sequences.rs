//! Hand-worked sequences for each protocol: every transaction and every kind of miss.
//!
//! Two-way caches of four 32-byte blocks: addresses 64 bytes apart share a set. `w0` to `w7` are
//! the words of a block.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use homenode_base::{Flags, ReferenceFilter, Rng};
use homenode_machine::{BusMachine, CacheShape};
use homenode_snoop::{
    CheckError, CoherenceCounts, Counts, MissCounts, MissRule, ProtocolSpec, Setup, SetupError,
    TABLE, TraceOrderSimulation, Transactions,
};
use homenode_trace::Batch;

const A: u64 = 0x1000;

fn setup(processors: u16, (size_bytes, associativity): (u64, u64)) -> Setup {
    Setup {
        processors,
        cache: CacheShape { size_bytes, block_size_bytes: 32, associativity },
        instructions: None,
        private: std::iter::once(0x8000..0x9000).collect(),
        filter: ReferenceFilter::ALL,
        private_kernel: false,
        rule: MissRule::Dubois,
        check: true,
    }
}

/// Reads `0 W 0x1000`, one reference a line or after a semicolon: thread, kind, address.
fn batch(text: &str) -> Batch {
    let mut batch = Batch::default();
    for line in text.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        batch.thread.push(words[0].parse().unwrap());
        let kind = ["R", "W", "A", "I"].iter().position(|&k| k == words[1]).unwrap();
        batch.kind.push(u8::try_from(kind).unwrap());
        batch.size.push(4);
        batch.addr.push(u64::from_str_radix(words[2], 16).unwrap());
    }
    batch
}

fn run(protocol: &str, text: &str) -> Counts {
    let table = ProtocolSpec::parse(protocol).unwrap().table();
    let mut counter = TraceOrderSimulation::new(&setup(3, (128, 2)), table).unwrap();
    counter.push(&batch(text)).unwrap();
    counter.finish()
}

/// Checks hits, misses, transactions and sharing.
fn expect(protocol: &str, text: &str, wanted: (u64, MissCounts, Transactions, CoherenceCounts)) {
    let found = run(protocol, text);
    let found = (found.hits, found.misses, found.transactions, found.coherence);
    assert_eq!(found, wanted, "{protocol}: {text}");
}

fn misses() -> MissCounts {
    MissCounts::default()
}

fn bus() -> Transactions {
    Transactions::default()
}

fn none() -> CoherenceCounts {
    CoherenceCounts::default()
}

#[test]
fn mesi_step_by_step() {
    // I -> E, E -> M silently; the second reader makes both S; its write invalidates; the first one
    // misses on the word that was written, which updates memory and makes both S.
    expect(
        "mesi",
        "0 R 1000; 0 W 1000; 1 R 1000; 1 W 1000; 0 R 1000",
        (
            2,
            MissCounts { cold: 2, invalidation_true: 1, ..misses() },
            Transactions { read_block_memory: 1, read_block_cache: 2, invalidate: 1, ..bus() },
            CoherenceCounts { true_sharing: 1, ..none() },
        ),
    );
    // A write miss takes the block from the cache that has it, and from memory where none has.
    expect(
        "mesi",
        "0 W 1000; 1 W 1004; 0 R 1008",
        (
            0,
            MissCounts { cold: 2, invalidation_false: 1, ..misses() },
            Transactions {
                read_invalidate_memory: 1,
                read_invalidate_cache: 1,
                read_block_cache: 1,
                ..bus()
            },
            none(),
        ),
    );
    // Three blocks in a set of two frames: the modified one is written back, the clean one is not.
    expect(
        "mesi",
        "0 W 1000; 0 R 1040; 0 R 1080; 0 R 10c0; 0 R 1000",
        (
            0,
            MissCounts { cold: 4, replacement: 1, ..misses() },
            Transactions {
                read_invalidate_memory: 1,
                read_block_memory: 4,
                update_block: 1,
                ..bus()
            },
            none(),
        ),
    );
    // A private block that its process left behind.
    expect(
        "mesi",
        "0 W 8000; 1 R 8000; 1 W 8000; 0 R 8004",
        (
            1,
            MissCounts { cold: 2, invalidation_passive: 1, ..misses() },
            Transactions { read_invalidate_memory: 1, read_block_cache: 2, invalidate: 1, ..bus() },
            CoherenceCounts { passive: 1, ..none() },
        ),
    );
}

#[test]
fn the_class_of_a_miss_is_known_at_the_end_of_the_copys_life() {
    // Processor 0 misses on a word that nobody wrote, but uses the written word before it loses the
    // copy again: true. The second time it does not: false.
    let text = "0 R 1000; 1 W 1004; 0 R 1000; 0 R 1004; 1 W 1004; 0 R 1000; 1 W 1004";
    let found = run("mesi", text);
    assert_eq!((found.misses.invalidation_true, found.misses.invalidation_false), (1, 1));
    let table = ProtocolSpec::parse("mesi").unwrap().table();
    let at_the_miss = Setup { rule: MissRule::Torrellas, ..setup(3, (128, 2)) };
    let mut counter = TraceOrderSimulation::new(&at_the_miss, table).unwrap();
    counter.push(&batch(text)).unwrap();
    let found = counter.finish();
    assert_eq!((found.misses.invalidation_true, found.misses.invalidation_false), (0, 2));
}

#[test]
fn amsd_step_by_step() {
    // The reader of a modified block gets S2; its write makes the block migratory. The next reader
    // takes it along, and its write is silent.
    expect(
        "amsd",
        "0 W 1000; 1 R 1000; 1 W 1000; 2 R 1000; 2 W 1000; 0 R 1000",
        (
            2,
            MissCounts { cold: 3, invalidation_true: 1, ..misses() },
            Transactions { read_invalidate_memory: 1, read_block_cache: 3, invalidate: 1, ..bus() },
            CoherenceCounts { true_sharing: 1, ..none() },
        ),
    );
    // A second reader before the write ends that: both S, and the write invalidates again.
    expect(
        "amsd",
        "0 W 1000; 1 R 1000; 1 W 1000; 2 R 1000; 0 R 1000; 0 W 1000; 2 R 1000",
        (
            2,
            MissCounts { cold: 3, invalidation_true: 2, ..misses() },
            Transactions { read_invalidate_memory: 1, read_block_cache: 4, invalidate: 2, ..bus() },
            CoherenceCounts { true_sharing: 2, ..none() },
        ),
    );
    // A write miss takes MD along as MD (so the next reader migrates it), and MC as M (so the next
    // reader becomes S2, whose write invalidates).
    let md = "0 W 1000; 1 R 1000; 1 W 1000; 2 W 1000; 0 R 1000; 0 W 1000";
    assert_eq!(run("amsd", md).transactions.invalidate, 1);
    let mc = "0 W 1000; 1 R 1000; 1 W 1000; 2 R 1000; 0 W 1000; 1 R 1000; 1 W 1000";
    assert_eq!(run("amsd", mc).transactions.invalidate, 2);
    // MD is written back, MC is not: memory took it when it migrated.
    let dirty = "0 W 1000; 1 R 1000; 1 W 1000; 1 R 1040; 1 R 1080";
    assert_eq!(run("amsd", dirty).transactions.update_block, 1);
    let clean = "0 W 1000; 1 R 1000; 1 W 1000; 2 R 1000; 2 R 1040; 2 R 1080";
    assert_eq!(run("amsd", clean).transactions.update_block, 0);
}

#[test]
fn pscr_step_by_step() {
    // A shared area: the write updates the other copy, nobody misses again. The writer is the owner
    // and writes back.
    expect(
        "pscr",
        "0 R 1000; 1 R 1000; 1 W 1000; 0 R 1000; 1 R 1040; 1 R 1080; 0 W 1004",
        (
            3,
            MissCounts { cold: 4, ..misses() },
            Transactions {
                read_block_memory: 3,
                read_block_cache: 1,
                write: 2,
                update_block: 1,
                ..bus()
            },
            // The last write finds no other copy any more.
            CoherenceCounts { true_sharing: 1, false_sharing: 1, ..none() },
        ),
    );
    // A private area: the block goes with its process, modified as it is, and comes back so.
    expect(
        "pscr",
        "0 W 8000; 1 R 8000; 1 W 8000; 0 R 8000; 0 W 8000",
        (
            2,
            MissCounts { cold: 2, removal: 1, ..misses() },
            Transactions { read_block_memory: 1, read_block_cache: 2, ..bus() },
            none(),
        ),
    );
    // A write miss in a shared area is a read miss and then a write.
    expect(
        "pscr",
        "0 W 1000; 1 W 1000; 0 R 1000",
        (
            1,
            MissCounts { cold: 2, ..misses() },
            Transactions { read_block_memory: 1, read_block_cache: 1, write: 1, ..bus() },
            CoherenceCounts { true_sharing: 1, ..none() },
        ),
    );
}

#[test]
fn private_kernel_counts_kernel_structures_as_private() {
    let mut kernel = batch("0 W 8000; 1 R 8000; 0 R 8000");
    kernel.flags = vec![Flags::KERNEL.0; 3];
    for (protocol, removals) in [("pscr", 0), ("pscr:private_kernel=yes", 1)] {
        let spec = ProtocolSpec::parse(protocol).unwrap();
        let mut setup = setup(2, (128, 2));
        setup.private_kernel = spec.private_kernel;
        let mut counter = TraceOrderSimulation::new(&setup, spec.table()).unwrap();
        counter.push(&kernel).unwrap();
        let counts = counter.finish();
        assert_eq!(counts.misses.removal, removals, "{protocol}");
        assert_eq!((counts.kernel.references, counts.kernel.misses.removal), (3, removals));
    }
}

#[test]
fn moesi_and_dragon_step_by_step() {
    // The owner supplies and keeps memory out of date: one write-back, by the owner alone.
    expect(
        "moesi",
        "0 W 1000; 1 R 1000; 2 R 1000; 1 R 1040; 1 R 1080; 0 R 1040; 0 R 1080; 2 W 1000",
        (
            1,
            MissCounts { cold: 7, ..misses() },
            Transactions {
                read_invalidate_memory: 1,
                read_block_cache: 4,
                read_block_memory: 2,
                invalidate: 1,
                update_block: 1,
                ..bus()
            },
            CoherenceCounts { false_sharing: 1, ..none() },
        ),
    );
    // Under MESI the supplier updates memory in the same transaction: no write-back at all.
    let text = "0 W 1000; 1 R 1000; 0 R 1040; 0 R 1080; 1 R 1040; 1 R 1080";
    assert_eq!(run("mesi", text).transactions.update_block, 0);
    assert_eq!(run("moesi", text).transactions.update_block, 1);
    expect(
        "dragon",
        "0 W 1000; 1 W 1000; 0 R 1000; 0 W 1004; 1 R 1040; 1 R 1080; 0 W 1000; 0 W 1000",
        (
            4,
            MissCounts { cold: 4, ..misses() },
            Transactions { read_block_memory: 3, read_block_cache: 1, write: 3, ..bus() },
            CoherenceCounts { true_sharing: 1, false_sharing: 2, ..none() },
        ),
    );
}

#[test]
fn an_invalidated_frame_is_refilled_or_gives_way_first() {
    // Processor 0 has two blocks of a set, loses the younger one and fetches a third: the lost one
    // gives way, not the older one, which hits.
    let found = run("mesi", "0 R 1000; 0 R 1040; 1 W 1040; 0 R 1080; 0 R 1000; 0 R 1040");
    assert_eq!((found.hits, found.misses.cold, found.misses.replacement), (1, 4, 1));
    // Refilled before another block came: an invalidation miss.
    let found = run("mesi", "0 R 1000; 0 R 1040; 1 W 1040; 0 R 1040; 0 R 1000");
    assert_eq!((found.hits, found.misses.invalidation_true), (1, 1));
}

#[test]
fn fetches_and_atomics_and_straddling_references() {
    let mut straddling = batch("0 R 101e; 0 I 1000; 0 A 1020; 0 W 1020");
    straddling.size = vec![4, 16, 8, 8];
    let table = ProtocolSpec::parse("mesi").unwrap().table();
    for (fetches, references, hits) in [(true, 4, 3), (false, 3, 2)] {
        let mut setup = setup(1, (128, 2));
        setup.filter.fetches = fetches;
        let mut counter = TraceOrderSimulation::new(&setup, table.clone()).unwrap();
        counter.push(&straddling).unwrap();
        let counts = counter.finish();
        assert_eq!((counts.references, counts.block_references), (references, references + 1));
        assert_eq!((counts.hits, counts.misses.cold), (hits, 2));
    }
    assert_eq!(A & 31, 0);
}

/// With one processor there is nothing to be coherent about.
#[test]
fn one_processor_counts_the_same_under_every_protocol() {
    let mut rng = Rng::new(5);
    let mut one = batch("");
    for _ in 0..50_000 {
        one.thread.push(0);
        one.kind.push(u8::try_from(rng.below(2)).unwrap());
        one.size.push(4);
        one.addr.push(4 * rng.below(4_000));
    }
    let mut all = Vec::new();
    for entry in TABLE {
        let setup = Setup { check: false, ..setup(1, (4096, 4)) };
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
    let mut shared = batch("");
    for _ in 0..30_000 {
        shared.thread.push(u16::try_from(rng.below(3)).unwrap());
        shared.kind.push(u8::from(rng.below(20) == 0));
        shared.size.push(4);
        shared.addr.push(4 * (rng.below(60) * rng.below(60)));
    }
    for entry in TABLE.iter().filter(|entry| ["pscr", "dragon"].contains(&entry.name)) {
        // No copy is ever lost to another processor, so every cache is a stack of its own.
        let mut before = u64::MAX;
        for blocks in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] {
            let setup = Setup { check: false, ..setup(3, (32 * blocks, blocks)) };
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
    let mut shared = batch("");
    for _ in 0..30_000 {
        shared.thread.push(u16::try_from(rng.below(4)).unwrap());
        shared.kind.push(u8::from(rng.below(3) == 0));
        shared.size.push(4);
        shared.addr.push(4 * rng.below(600));
    }
    let [pscr, dragon] = ["pscr", "dragon"].map(|protocol| {
        let table = ProtocolSpec::parse(protocol).unwrap().table();
        let mut counter = TraceOrderSimulation::new(&setup(4, (1024, 2)), table).unwrap();
        counter.push(&shared).unwrap();
        counter.finish()
    });
    assert_eq!(pscr, dragon);
    let machine = BusMachine::parse("bus-smp").unwrap();
    let cycles = machine.cycles(homenode_base::BlockSize::new(32).unwrap()).unwrap();
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
    table.set_reply((shared, Signal::Write), ignores);
    let mut counter = TraceOrderSimulation::new(&setup(3, (128, 2)), table).unwrap();
    let text = "0 R 1000; 1 R 1000; 1 W 1008; 0 R 1000; 0 R 1008";
    let error = counter.push(&batch(text)).unwrap_err();
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
    let build = |setup: Setup| TraceOrderSimulation::new(&setup, table.clone()).err();
    let with = |size_bytes, block_size_bytes, associativity| {
        let cache = CacheShape { size_bytes, block_size_bytes, associativity };
        build(Setup { cache, ..setup(2, (128, 2)) })
    };
    assert_eq!(build(setup(0, (128, 2))), Some(SetupError::Processors { processors: 0 }));
    assert_eq!(build(setup(1025, (128, 2))), Some(SetupError::Processors { processors: 1025 }));
    assert_eq!(with(128, 8, 2), Some(SetupError::Block { bytes: 8 }));
    assert_eq!(with(4096, 2048, 2), Some(SetupError::Block { bytes: 2048 }));
    assert_eq!(with(4096, 0, 2), Some(SetupError::Block { bytes: 0 }));
    for (size, ways) in [(128, 3), (96, 1), (128, 0), (128, 8), (0, 1), (2 << 30, 1)] {
        assert!(matches!(with(size, 32, ways), Some(SetupError::Cache { .. })), "{size} {ways}");
    }
    assert_eq!(with(96, 32, 3), None, "one set of three");
    let split = |processors, (size_bytes, block_size_bytes, associativity)| {
        let instructions = Some(CacheShape { size_bytes, block_size_bytes, associativity });
        build(Setup { instructions, ..setup(processors, (128, 2)) })
    };
    assert_eq!(split(1024, (64, 32, 1)), None);
    let blocks = SetupError::SplitBlock { instructions: 64, data: 32 };
    assert_eq!(split(1, (64, 64, 1)), Some(blocks));
    assert!(matches!(split(1, (96, 32, 1)), Some(SetupError::Cache { .. })));
}

/// One processor whose fetches go to a cache of one block: the bus connects both caches.
#[test]
fn split_caches_are_two_caches_on_the_bus() {
    let instructions = Some(CacheShape { size_bytes: 32, block_size_bytes: 32, associativity: 1 });
    let run = |protocol: &str, text| {
        let table = ProtocolSpec::parse(protocol).unwrap().table();
        let setup = Setup { instructions, ..setup(1, (128, 2)) };
        let mut counter = TraceOrderSimulation::new(&setup, table).unwrap();
        counter.push(&batch(text)).unwrap();
        counter.finish()
    };
    // The read finds the block in the other cache; the write invalidates what was fetched, and
    // another fetch of it gets what was written.
    let text = "0 I 1000; 0 R 1004; 0 I 1004; 0 W 1000; 0 I 1000; 0 I 1040; 0 R 1000";
    let found = run("mesi", text);
    assert_eq!(found.hits, 3, "the second fetch, the write, the last read");
    assert_eq!(found.misses, MissCounts { cold: 3, invalidation_true: 1, ..misses() });
    let moved =
        Transactions { read_block_memory: 2, read_block_cache: 2, ..Transactions::default() };
    assert_eq!(found.transactions, Transactions { invalidate: 1, ..moved });
    assert_eq!(found.coherence, CoherenceCounts { true_sharing: 1, ..CoherenceCounts::default() });
    // What is updated stays.
    let found = run("dragon", "0 I 1000; 0 R 1004; 0 W 1000; 0 I 1000");
    assert_eq!((found.hits, found.transactions.write), (2, 1));
}
