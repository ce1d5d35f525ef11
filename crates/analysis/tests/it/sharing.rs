//! Chapter 7 on traces with known answers, and what must hold on every trace.

use homenode_analysis::Names;
use homenode_analysis::sharing::{
    Collector, CollectorOptions, Estimate, Examiner, Findings, Quantity, SharingQuestions,
    SizeCounted, estimate, report,
};
use homenode_analysis::synthetic::{self, SyntheticShape};
use homenode_base::{Access, AccessKind, BlockSize, ReferenceFilter, Rng};
use homenode_machine::{PriceParts, PricedMachine};
use homenode_placement::Shard;
use homenode_trace::{AddressRange, Batch, Metadata, RangeKind, SourceLine};

fn size(bytes: u64) -> BlockSize {
    BlockSize::new(bytes).expect("a valid value")
}

fn batch(accesses: &[Access]) -> Batch {
    Batch {
        turns: accesses.iter().map(|a| a.thread).collect(),
        kind: accesses.iter().map(|a| a.kind.code()).collect(),
        size: accesses.iter().map(|a| a.size).collect(),
        addr: accesses.iter().map(|a| a.addr).collect(),
        pc: accesses.iter().map(|a| a.pc).collect(),
        ..Batch::default()
    }
}

fn questions(sizes: &[u64], detail: Option<u64>) -> SharingQuestions {
    SharingQuestions {
        sizes: sizes.iter().map(|&bytes| size(bytes)).collect(),
        merge_transfers: 1,
        detail: detail.map(size),
        count: 10,
    }
}

fn examine(
    accesses: &[Access],
    questions: &SharingQuestions,
    names: &Names<'_>,
    budget: u64,
) -> Findings {
    let mut findings = Findings::new(questions);
    let mut pending = vec![Shard::default()];
    while let Some(shard) = pending.pop() {
        let mut collector = Collector::new(CollectorOptions {
            sizes: questions.sizes.clone(),
            processors: 200,
            filter: ReferenceFilter::default(),
            shard,
            memory_budget_bytes: budget,
        });
        for part in accesses.chunks(100) {
            collector.push(&batch(part));
        }
        let (collected, given_up) = collector.finish();
        pending.extend(given_up);
        let mut examiner = Examiner::new(questions, names);
        for region in &collected.regions {
            findings.merge(examiner.region(&collected, region), questions.count);
        }
    }
    findings
}

fn find(accesses: &[Access], sizes: &[u64]) -> Findings {
    let metadata = Metadata::default();
    examine(accesses, &questions(sizes, None), &Names::new(&metadata), u64::MAX)
}

fn counted(findings: &Findings, sizes: &[u64]) -> Vec<SizeCounted> {
    let pair = |(&bytes, &counts)| SizeCounted { block: size(bytes), counts };
    sizes.iter().zip(&findings.counts).map(pair).collect()
}

fn estimate_of(accesses: &[Access], bytes: u64, price: PriceParts) -> Estimate {
    let found = find(accesses, &[bytes]);
    estimate(0, &counted(&found, &[bytes]), found.word_transfers, price)
}

fn whole(quantity: Quantity) -> i128 {
    let unit = i128::from(quantity.divisor) * 1_000_000;
    assert_eq!(quantity.steps % unit, 0, "{quantity:?} is whole");
    quantity.steps / unit
}

/// o = 150 + 2, b = 2 a word: the CC machine of chapter 6.
fn cc(bytes: u64) -> PriceParts {
    PricedMachine::parse("cc")
        .expect("a valid value")
        .breakdown(size(bytes))
        .expect("a valid value")
        .remote_move
        .expect("a valid value")
}

const SHAPES: [(u16, u64, u64); 7] = [
    (2, 2, 4),
    (2, 16, 64),
    (4, 16, 640),
    (8, 16, 1024),
    (16, 1024, 4096),
    (2, 2048, 1 << 14),
    (128, 256, 1 << 15),
];

/// The closed forms of section 7.1.6, with n - 1 transfers for n, as the first location is free.
#[test]
fn synthetic_traces_have_the_costs_that_the_thesis_derives() {
    for (processors, words, references) in SHAPES {
        let shape = SyntheticShape { processors, words, references };
        let price = cc(words * 4);
        let (o, b) = (152i128, 2i128);
        let (s, n) = (i128::from(words), i128::from(references));
        let of = |name: &str| {
            let entry = synthetic::find(name).unwrap();
            entry.check(&shape).unwrap();
            let accesses: Vec<Access> = entry.accesses(shape).collect();
            estimate_of(&accesses, words * 4, price)
        };
        let expected = [
            ("t-f", ((n - 1) * b * (s - 1), 0, 0)),
            ("t-s", (0, (n - 1) * (o + b * s), 0)),
            ("t-gamma", (0, 0, (n / s - 1) * (1 - s) * o)),
        ];
        for (name, (f, s, gamma)) in expected {
            let found = of(name);
            for (bracket, value) in
                [(found.fragmentation, f), (found.false_sharing, s), (found.grouping, gamma)]
            {
                assert_eq!(
                    (whole(bracket.low), whole(bracket.high)),
                    (value, value),
                    "{name} {shape:?}"
                );
            }
            assert_eq!(
                whole(found.one_word_block),
                f + s + gamma,
                "equation 7.2, {name} {shape:?}"
            );
        }
    }
}

#[test]
fn closed_forms_in_the_table_are_what_is_counted() {
    for (processors, words, references) in SHAPES {
        let shape = SyntheticShape { processors, words, references };
        for entry in synthetic::TABLE {
            let accesses: Vec<Access> = entry.accesses(shape).collect();
            let found = find(&accesses, &[words * 4]);
            let (closed, counts) = ((entry.closed)(&shape), found.counts[0]);
            let name = entry.name;
            assert_eq!(counts.transfers, closed.transfers, "{name} {shape:?}");
            assert_eq!(found.word_transfers, closed.word_transfers, "{name} {shape:?}");
            let needed = (counts.necessary_low, counts.necessary_high);
            let expected = closed.transfers - closed.false_sharing;
            assert_eq!(needed, (expected, expected), "{name} {shape:?}");
            assert_eq!(words * expected - closed.word_transfers, closed.fragmentation, "{name}");
            assert_eq!(closed.word_transfers - expected, closed.grouping, "{name} {shape:?}");
        }
    }
}

/// Bursts over a few kilobytes, some of it read-only, some of it one processor's own.
fn random_trace(rng: &mut Rng, processors: u64) -> Vec<Access> {
    let mut accesses = Vec::new();
    for _ in 0..300 {
        let thread = u16::try_from(rng.below(processors)).expect("a valid value");
        let place = 0x1000 + 4 * rng.below(700);
        let kind = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic];
        let kind = kind[usize::try_from(rng.below(8) / 3).expect("a valid value")];
        for i in 0..1 + rng.below(6) {
            let addr = place + 4 * i;
            let kind = if addr % 256 < 64 { AccessKind::Read } else { kind };
            let thread = if addr % 256 > 200 {
                u16::try_from(addr % processors).expect("a valid value")
            } else {
                thread
            };
            let bytes = if rng.below(4) == 0 { 8 } else { 4 };
            accesses.push(Access::new(thread, kind, addr, bytes));
        }
    }
    accesses
}

const SIZES: [u64; 8] = [64, 4, 16, 8192, 256, 1024, 32, 8];

/// docs/sharing.md proves each of these.
#[test]
fn bounds_keep_their_order_on_random_traces() {
    let mut rng = Rng::new(3);
    for round in 0..60 {
        let accesses = random_trace(&mut rng, [2, 3, 8, 100][round % 4]);
        let found = find(&accesses, &SIZES);
        let sizes = counted(&found, &SIZES);
        for (i, size) in sizes.iter().enumerate() {
            let counts = size.counts;
            let e = estimate(i, &sizes, found.word_transfers, cc(size.block.bytes()));
            let value = Quantity::value;
            let order = [
                (0.0, value(e.halving_bound), "0 <= halving bound"),
                (value(e.halving_bound), value(e.false_sharing.low), "halving bound <= S low"),
                (value(e.false_sharing.low), value(e.false_sharing.high), "S low <= S high"),
                (value(e.false_sharing.high), value(e.bound_7_14), "S high <= equation 7.14"),
                (value(e.intervals), value(e.false_sharing.low), "intervals <= S low"),
                (value(e.intervals), value(e.intervals_thesis), "strict <= thesis's intervals"),
                (0.0, value(e.fragmentation.low), "0 <= F"),
                (value(e.grouping.high), 0.0, "Gamma <= 0"),
                (0.0, value(e.intervals), "0 <= intervals"),
            ];
            for (low, high, what) in order {
                assert!(low <= high + 1e-6 * high.abs(), "{what} at {}: {e:?}", size.block.bytes());
            }
            let sum = |f: Quantity, s: Quantity, g: Quantity| value(f) + value(s) + value(g);
            for total in [
                sum(e.fragmentation.low, e.false_sharing.high, e.grouping.low),
                sum(e.fragmentation.high, e.false_sharing.low, e.grouping.high),
            ] {
                assert!((total - value(e.one_word_block)).abs() < 1e-3, "equation 7.2: {e:?}");
            }
            let misses = counts.cold + counts.true_sharing + counts.false_sharing;
            assert_eq!(misses, counts.transfers + counts.blocks, "one miss of each block is free");
            assert!(counts.separable_saved <= counts.transfers);
            if size.block.bytes() == 4 {
                assert_eq!(counts.transfers, found.word_transfers);
                assert_eq!((value(e.false_sharing.low), value(e.false_sharing.high)), (0.0, 0.0));
            }
        }
    }
}

#[test]
fn a_small_memory_budget_changes_nothing() {
    let mut rng = Rng::new(11);
    let metadata = named();
    let names = Names::new(&metadata);
    for _ in 0..5 {
        let mut accesses = random_trace(&mut rng, 4);
        accesses.extend(
            random_trace(&mut rng, 4).into_iter().map(|a| Access { addr: a.addr << 4, ..a }),
        );
        let asked = questions(&[16, 64, 256], Some(64));
        let seen = |budget| {
            let found = examine(&accesses, &asked, &names, budget);
            let who = report(&found, &names, size(64), 10);
            (found.counts.clone(), found.word_transfers, found.words, who)
        };
        assert_eq!(seen(u64::MAX), seen(0));
    }
}

fn named() -> Metadata {
    let range = |start, size, name| AddressRange::new(RangeKind::Static, start, size, name);
    let line = |pc, line| SourceLine { pc, function: "f".into(), file: "f.c".into(), line };
    Metadata {
        ranges: vec![
            range(0x1000, 8, "counters"),
            range(0x1100, 4, "flag"),
            range(0x1200, 64, "table"),
        ],
        lines: vec![line(0x11, 1), line(0x12, 2), line(0x21, 7), line(0x22, 8)],
        ..Metadata::default()
    }
}

/// What objects are charged adds up to what is counted at the block size.
#[test]
fn charges_add_up_to_the_counts() {
    let mut rng = Rng::new(5);
    let metadata = named();
    let names = Names::new(&metadata);
    for processors in [2, 3, 8, 100] {
        let accesses = random_trace(&mut rng, processors);
        let asked =
            SharingQuestions { count: usize::MAX / 4, ..questions(&[4, 64, 1024], Some(1024)) };
        let found = examine(&accesses, &asked, &names, u64::MAX);
        let who = report(&found, &names, size(1024), usize::MAX);
        let counts = found.counts[2];
        let sum = |of: fn(&homenode_analysis::sharing::MissCharges) -> u64| -> u64 {
            who.blocks.iter().map(|block| of(&block.misses)).sum()
        };
        assert_eq!(sum(|c| c.true_sharing), counts.true_sharing);
        assert_eq!(sum(|c| c.false_sharing), counts.false_sharing);
        assert_eq!(sum(|c| c.inflicted), counts.false_sharing);
        let objects: u64 = who.objects.iter().map(|o| o.misses.false_sharing).sum();
        assert_eq!(objects, counts.false_sharing);
        let apart: u64 = who.objects.iter().map(|o| o.separable_words).sum();
        assert_eq!(apart, counts.separable_words);
    }
}
