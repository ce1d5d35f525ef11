//! Random traces against a slow oracle, and a test that no case can make: neither the memory budget
//! nor an interruption changes an answer. Blocks worked out by hand are cases
//! (`testdata/cases/worst-blocks.toml`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use homenode_analysis::{AnalysisError, CostReport, SharingPattern, WorstQuery, worst_blocks};
use homenode_base::{Access, AccessKind, BlockSize, Flags, ReferenceFilter, ReferenceRole, Rng};
use homenode_machine::Prices;
use homenode_placement::{PlacementSetup, PolicySpec};
use homenode_trace::{
    AddressRange, Columns, Metadata, RangeKind, SourceLine, TraceReader, TraceWriter, WriterOptions,
};

const R: u64 = 15;
const MOVE: u64 = 59;

fn trace(accesses: &[Access], metadata: Metadata) -> TraceReader {
    let mut bytes = Vec::new();
    let columns = Columns { pc: true, flags: true, ..Columns::default() };
    // Small chunks, so that every test crosses some.
    let options = WriterOptions { columns, chunk_rows: 7, ..WriterOptions::default() };
    let mut writer = TraceWriter::new(&mut bytes, "made by hand", options).expect("a header");
    for access in accesses {
        writer.push(access).expect("a reference");
    }
    writer.finish(metadata).expect("a footer");
    TraceReader::from_bytes(bytes, "made by hand").expect("a complete trace")
}

fn inquiry(block_size: u64, processors: u16, count: usize) -> WorstQuery {
    WorstQuery {
        block_size: BlockSize::new(block_size).expect("a block size"),
        processors,
        filter: ReferenceFilter::default(),
        prices: Prices::whole(Some(R), Some(MOVE), None, None).into(),
        count,
        memory_budget_bytes: 1 << 30,
    }
}

fn analyse(trace: &TraceReader, inquiry: &WorstQuery, policy: &str) -> CostReport {
    let setup = PlacementSetup::new(inquiry.processors, inquiry.block_size, &inquiry.prices);
    let spec = PolicySpec::parse(policy, &[homenode_placement::TABLE]).expect("a policy");
    let mut policy = spec.build(&setup).expect("a policy that fits");
    worst_blocks(trace, inquiry, policy.as_mut(), &mut |_, _| ControlFlow::Continue(()))
        .expect("an analysis")
}

fn access(thread: u16, kind: AccessKind, addr: u64, pc: u64) -> Access {
    Access { pc, ..Access::new(thread, kind, addr, 4) }
}

fn range(start: u64, size: u64, kind: RangeKind, name: &str) -> AddressRange {
    AddressRange { start, size, kind, name: name.to_owned(), ..AddressRange::default() }
}

#[test]
fn results_do_not_depend_on_the_memory_budget_and_serialise() {
    let (accesses, metadata) = random_trace(9, 4_000);
    let trace = trace(&accesses, metadata);
    let whole = inquiry(64, 5, 12);
    let pieces = WorstQuery { memory_budget_bytes: 4_000, ..whole.clone() };
    let report = analyse(&trace, &whole, "ace");
    assert_eq!(report, analyse(&trace, &pieces, "ace"));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["worst"].as_array().unwrap().len(), 12);
    assert!(json["worst"][0]["extra_cost"].is_u64());
    let kinds = ["private", "read-shared", "true-sharing", "false-sharing", "mixed"];
    assert!(kinds.contains(&json["worst"][0]["sharing"].as_str().unwrap()));
    assert!(json["objects"][0]["label"].is_string());
    assert!(json["map"]["rows"].as_array().unwrap().len() <= 512);
}

#[test]
fn the_callback_stops_it() {
    let (accesses, metadata) = random_trace(1, 82);
    let spec = PolicySpec::parse("first-touch", &[homenode_placement::TABLE]).unwrap();
    let setup = PlacementSetup::new(2, BlockSize::new(64).unwrap(), &inquiry(64, 2, 1).prices);
    let mut policy = spec.build(&setup).unwrap();
    let result = worst_blocks(
        &trace(&accesses, metadata),
        &inquiry(64, 2, 1),
        policy.as_mut(),
        &mut |done, total| {
            assert!(total.is_some_and(|total| done <= total));
            if done > 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert!(matches!(result, Err(AnalysisError::Interrupted)));
}

/// References spread over a few hundred bytes, with names that overlap, leave gaps and share
/// blocks.
fn random_trace(seed: u64, references: usize) -> (Vec<Access>, Metadata) {
    let mut rng = Rng::new(seed);
    let mut below = |n: u64| rng.below(n);
    let mut accesses = Vec::new();
    for _ in 0..references {
        let kind = [AccessKind::Read, AccessKind::Read, AccessKind::Write, AccessKind::Atomic]
            [usize::try_from(below(4)).unwrap_or(0)];
        let thread = u16::try_from(below(5)).unwrap_or(0);
        // Each thread prefers a neighbourhood of its own.
        let base = if below(3) == 0 { 0 } else { u64::from(thread) * 0x140 };
        let flags = Flags(if below(8) == 0 { u8::try_from(1 + below(2)).unwrap_or(1) } else { 0 });
        accesses.push(Access {
            size: 1 << below(4),
            flags,
            ..access(thread, kind, 0x4000 + base + below(0x200), 0x100 + below(6))
        });
    }
    let kinds = [RangeKind::Static, RangeKind::Heap, RangeKind::Stack, RangeKind::Mapping];
    let mut ranges: Vec<AddressRange> = (0..24)
        .map(|i| {
            let kind = kinds[usize::try_from(below(4)).unwrap_or(0)];
            let start = 0x4000 + below(0x200) * 4;
            let named = range(start, 4 * (1 + below(40)), kind, &format!("object {}", i % 7));
            AddressRange { site: 0x100 + below(3), ..named }
        })
        .collect();
    ranges.sort_by_key(|range| range.start);
    let line = |pc: u64| SourceLine {
        pc,
        function: "f".to_owned(),
        file: "f.c".to_owned(),
        line: u32::try_from(pc % 4).unwrap_or(0),
    };
    let lines = (0x100..0x105).map(line).collect();
    (accesses, Metadata { ranges, lines, ..Metadata::default() })
}

/// Everything about a block, directly from the definitions.
#[derive(Default)]
struct Slow {
    first: Option<u16>,
    extra: u128,
    references: u64,
    /// (word, processor, write), and the same by whole references.
    touches: Vec<(u64, u16, bool)>,
    whole: Vec<(std::ops::RangeInclusive<u64>, u16, bool)>,
    threads: BTreeMap<u16, (u64, u64)>,
    lines: BTreeMap<u32, (u64, u64)>,
    /// References by label of the object at the first byte.
    labels: BTreeMap<String, u64>,
}

impl Slow {
    fn sharing(&self) -> SharingPattern {
        let all: BTreeSet<u16> = self.touches.iter().map(|t| t.1).collect();
        let shared = |word: u64| {
            self.touches.iter().any(|a| {
                a.0 == word && a.2 && self.touches.iter().any(|b| b.0 == word && b.1 != a.1)
            })
        };
        let written = self.touches.iter().filter(|t| t.2).map(|t| t.0);
        let written: BTreeSet<u64> = written.collect();
        let truly = written.iter().filter(|&&word| shared(word)).count();
        match (all.len(), written.len(), truly) {
            (1, _, _) => SharingPattern::Private,
            (_, 0, _) => SharingPattern::ReadShared,
            (_, _, 0) => SharingPattern::FalseSharing,
            (_, w, t) if w == t => SharingPattern::TrueSharing,
            (_, _, _) => SharingPattern::Mixed,
        }
    }
}

impl Slow {
    /// Cold, true and false sharing misses, lifetime by lifetime.
    fn misses(&self) -> (u64, u64, u64) {
        let mut counts = (0, 0, 0);
        let all: BTreeSet<u16> = self.whole.iter().map(|t| t.1).collect();
        for q in all {
            let wrote = |i: usize| self.whole[i].1 != q && self.whole[i].2;
            let own: Vec<usize> = (0..self.whole.len()).filter(|&i| self.whole[i].1 == q).collect();
            // A lifetime ends where another processor writes between two references of q.
            let lifetimes = own.chunk_by(|&a, &b| !(a..b).any(wrote));
            let mut essential_at = None;
            for lifetime in lifetimes {
                let Some(since) = essential_at else {
                    counts.0 += 1;
                    essential_at = Some(lifetime[0]);
                    continue;
                };
                let news = |&i: &usize| {
                    let used = self.whole[i].0.clone();
                    (since..lifetime[0]).any(|j| {
                        wrote(j) && self.whole[j].0.clone().any(|word| used.contains(&word))
                    })
                };
                if lifetime.iter().any(news) {
                    counts.1 += 1;
                    essential_at = Some(lifetime[0]);
                } else {
                    counts.2 += 1;
                }
            }
        }
        counts
    }
}

fn several_are_called(name: &str, metadata: &Metadata) -> bool {
    let called = metadata.ranges.iter().filter(|r| r.kind == RangeKind::Static && r.name == name);
    let starts: Vec<u64> = called.map(|range| range.start).collect();
    starts.iter().any(|start| *start != starts[0])
}

fn label_at(addr: u64, metadata: &Metadata) -> String {
    let holds = |range: &&AddressRange| (range.start..range.start + range.size).contains(&addr);
    let ranges = metadata.ranges.iter().enumerate();
    let owner = ranges
        .filter(|(_, r)| holds(r))
        .max_by_key(|(i, r)| (r.start, r.kind != RangeKind::Mapping, *i));
    let Some((_, range)) = owner else { return String::new() };
    match range.kind {
        RangeKind::Heap => format!("heap, f.c:{} (f)", range.site % 4),
        RangeKind::Stack => "stack of thread 0".to_owned(),
        RangeKind::Static if several_are_called(&range.name, metadata) => {
            format!("{} ({:#x})", range.name, range.start)
        }
        RangeKind::Static | RangeKind::Mapping | RangeKind::ThreadLocal => range.name.clone(),
    }
}

/// First touch by its definition: a reference by another processor costs r.
fn oracle(accesses: &[Access], metadata: &Metadata, inquiry: &WorstQuery) -> BTreeMap<u64, Slow> {
    let mut blocks: BTreeMap<u64, Slow> = BTreeMap::new();
    let bytes = inquiry.block_size.bytes();
    for access in accesses.iter().filter(|a| a.flags == Flags(0)) {
        let processor = access.thread % inquiry.processors;
        for number in inquiry.block_size.blocks_touched(access.addr, access.size) {
            let block = blocks.entry(number).or_default();
            let home = *block.first.get_or_insert(processor);
            block.extra += if home == processor { 0 } else { u128::from(R - 1) };
            block.references += 1;
            let first = access.addr.max(number * bytes);
            let last = (access.addr + u64::from(access.size) - 1).min(number * bytes + bytes - 1);
            block.whole.push((first / 4..=last / 4, processor, access.kind.writes()));
            for word in first / 4..=last / 4 {
                block.touches.push((word, processor, access.kind.writes()));
            }
            let count = |pair: &mut (u64, u64)| {
                *(if access.kind.writes() { &mut pair.1 } else { &mut pair.0 }) += 1;
            };
            count(block.threads.entry(access.thread).or_default());
            let line = if access.pc == 0x105 {
                u32::MAX
            } else {
                u32::try_from(access.pc % 4).unwrap_or(0)
            };
            count(block.lines.entry(line).or_default());
            *block.labels.entry(label_at(first, metadata)).or_default() += 1;
        }
    }
    blocks
}

#[test]
fn agrees_with_the_oracle() {
    for seed in 0..60 {
        let (accesses, metadata) = random_trace(seed, 600);
        let block_size = 1 << (2 + seed % 6);
        let inquiry = WorstQuery {
            filter: ReferenceFilter {
                private: ReferenceRole::Excluded,
                ..ReferenceFilter::default()
            },
            ..inquiry(block_size, 4, 1000)
        };
        let slow = oracle(&accesses, &metadata, &inquiry);
        let report = analyse(&trace(&accesses, metadata.clone()), &inquiry, "first-touch");
        assert_eq!(report.blocks, slow.len() as u64, "seed {seed}");
        let total: u128 = slow.values().map(|block| block.extra).sum();
        assert_eq!(report.extra_cost.steps, Some(total), "seed {seed}");
        let mut order: Vec<(u64, &Slow)> = slow.iter().map(|(&n, block)| (n, block)).collect();
        order.sort_by_key(|(number, block)| (std::cmp::Reverse(block.extra), *number));
        assert_eq!(report.worst.len(), order.len());
        for (found, (number, block)) in report.worst.iter().zip(&order) {
            compare_block(found, *number * block_size, block);
        }
        compare_objects(&report, &slow);
    }
}

fn compare_block(found: &homenode_analysis::WorstBlock, address: u64, block: &Slow) {
    assert_eq!(found.address, format!("0x{address:x}"));
    assert_eq!(found.extra_cost.steps, Some(block.extra));
    assert_eq!(found.counts.accesses(), block.references);
    assert_eq!(found.sharing, block.sharing(), "{address:x}");
    let misses = (found.misses.cold, found.misses.true_sharing, found.misses.false_sharing);
    assert_eq!(misses, block.misses(), "{address:x}");
    let threads = found.threads.iter().map(|t| (t.thread, (t.reads, t.writes)));
    assert_eq!(threads.collect::<BTreeMap<_, _>>(), block.threads);
    let line = |l: &homenode_analysis::LineUse| {
        let key = if l.site.pc == 0 { l.site.line } else { u32::MAX };
        (key, (l.reads, l.writes))
    };
    assert_eq!(found.lines.iter().map(line).collect::<BTreeMap<_, _>>(), block.lines);
    let words = found.words.private + found.words.read_shared + found.words.truly_shared;
    let touched: BTreeSet<u64> = block.touches.iter().map(|t| t.0).collect();
    assert_eq!(words, touched.len() as u64);
    let by_class = found.references;
    let references = by_class.private + by_class.read_shared + by_class.truly_shared;
    assert_eq!(references, block.references);
}

/// Objects' costs add up exactly, and each is its share of every block up to rounding.
fn compare_objects(report: &CostReport, slow: &BTreeMap<u64, Slow>) {
    let sum = report.objects.iter().try_fold(0, |sum, o| Some(sum + o.extra_cost.steps?));
    assert_eq!(sum, report.extra_cost.steps);
    let mut expected: BTreeMap<&str, f64> = BTreeMap::new();
    for block in slow.values() {
        for (label, &references) in &block.labels {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let part = block.extra as f64 * references as f64 / block.references as f64;
            *expected.entry(label).or_default() += part;
        }
    }
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    for object in &report.objects {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let steps = object.extra_cost.steps.unwrap_or(0) as f64;
        *found.entry(&object.label).or_default() += steps;
    }
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let slack = slow.values().filter(|block| block.labels.len() > 1).count() as f64 * 8.0 + 1e-6;
    for (label, expected) in expected {
        let found = found.get(label).copied().unwrap_or(0.0);
        assert!((found - expected).abs() <= slack, "{label}: {found} against {expected}");
    }
}
