//! Every design against an oracle written from the definition, and the laws of LRU, on random
//! references. Sequences worked by hand are cases (`testdata/cases/tlb.toml`).

use std::collections::BTreeMap;

use homenode_base::{AccessKind, BlockSize, Flags, ReferenceFilter, Rng};
use homenode_tlb::{ProcessorShare, TABLE, TlbCounter, TlbCounts, TlbGeometry, TlbSetup, TlbSpec};
use homenode_trace::Batch;

/// One reference: thread, kind, address, size, flags.
type Reference = (u16, AccessKind, u64, u8, Flags);

/// Lists of page numbers, the most recently used last: what section 6.3.2 says, word for word.
fn oracle(
    tlb: TlbGeometry,
    page_bytes: u64,
    processors: u16,
    references: &[Reference],
) -> [u64; 2] {
    let page_bytes = if tlb.paired { 2 * page_bytes } else { page_bytes };
    let sets = u64::from(tlb.entries / tlb.ways);
    let mut entries: BTreeMap<(u16, u64), Vec<u64>> = BTreeMap::new();
    let [mut lookups, mut misses] = [0, 0];
    for &(thread, kind, addr, size, flags) in references {
        if kind == AccessKind::Fetch || flags.contains(Flags::SYNC) {
            continue;
        }
        let last = addr.saturating_add(u64::from(size) - 1) / page_bytes;
        for page in addr / page_bytes..=last {
            lookups += 1;
            let set = entries.entry((thread % processors, page % sets)).or_default();
            match set.iter().position(|&p| p == page) {
                Some(place) => drop(set.remove(place)),
                None => misses += 1,
            }
            set.push(page);
            if set.len() > usize::try_from(tlb.ways).unwrap() {
                set.remove(0);
            }
        }
    }
    [lookups, misses]
}

fn batch(references: &[Reference]) -> Batch {
    Batch {
        turns: references.iter().map(|r| r.0).collect(),
        kind: references.iter().map(|r| r.1.code()).collect(),
        addr: references.iter().map(|r| r.2).collect(),
        size: references.iter().map(|r| r.3).collect(),
        flags: references.iter().map(|r| r.4.0).collect(),
        ..Batch::default()
    }
}

fn setup(tlbs: &[TlbGeometry], page_sizes: &[u64], processors: u16) -> TlbSetup {
    TlbSetup {
        tlbs: tlbs.to_vec(),
        page_sizes: page_sizes.iter().map(|&b| BlockSize::new(b).unwrap()).collect(),
        processors,
        filter: ReferenceFilter::default(),
    }
}

fn count(setup: &TlbSetup, references: &[Reference], parts: u16) -> TlbCounts {
    let part = |index| {
        let mut counter = TlbCounter::new(setup, ProcessorShare { index, count: parts });
        references.chunks(97).for_each(|some| counter.push(&batch(some)));
        counter.finish()
    };
    let mut all = part(0);
    (1..parts).for_each(|index| all.add(&part(index)));
    all
}

/// A walk that mixes runs, strides, jumps and words that straddle pages.
fn random_references(rng: &mut Rng, length: usize) -> Vec<Reference> {
    let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch];
    let span = 1 << (6 + rng.below(12));
    let threads = 1 + rng.below(5);
    let mut places = [0x10_0000; 5];
    let mut thread = 0;
    let mut references = Vec::new();
    while references.len() < length {
        if rng.below(8) == 0 {
            thread = rng.below(threads);
        }
        let place = &mut places[usize::try_from(thread).unwrap()];
        *place = match rng.below(6) {
            0 => 0x10_0000 + rng.below(span),
            1 => u64::MAX - rng.below(64),
            2 => place.wrapping_add(64),
            _ => place.wrapping_add(4),
        };
        let kind = kinds[usize::try_from(rng.below(4)).unwrap()];
        let flags = Flags(u8::try_from(rng.below(8)).unwrap());
        let size = 1 + u8::try_from(rng.below(64)).unwrap();
        references.push((u16::try_from(thread).unwrap(), kind, *place, size, flags));
    }
    references
}

/// The designs of the table and shapes at the edges.
fn geometries() -> Vec<TlbGeometry> {
    let odd = [
        "entries=1",
        "entries=2",
        "entries=8,ways=1",
        "entries=4,ways=2,paired=yes",
        "entries=12,ways=3",
        "entries=1,paired=yes",
        "entries=128,ways=8",
    ];
    let odd = odd.iter().map(|text| TlbSpec::parse(text).unwrap().geometry);
    TABLE.iter().map(|entry| entry.geometry).chain(odd).collect()
}

#[test]
fn every_design_counts_what_the_definition_says() {
    let mut rng = Rng::new(6);
    let (tlbs, sizes) = (geometries(), [4, 16, 32, 128, 512, 4096]);
    for _ in 0..60 {
        let references = random_references(&mut rng, 700);
        let processors = 1 + u16::try_from(rng.below(4)).unwrap();
        let setup = setup(&tlbs, &sizes, processors);
        let counts = count(&setup, &references, 1 + u16::try_from(rng.below(3)).unwrap());
        for (t, &tlb) in tlbs.iter().enumerate() {
            for (s, &bytes) in sizes.iter().enumerate() {
                let found = [counts.lookups(t, s), counts.misses(t, s)];
                let expected = oracle(tlb, bytes, processors, &references);
                assert_eq!(found, expected, "{tlb:?} {bytes} {processors}");
            }
        }
        let taken = |r: &&Reference| r.1 != AccessKind::Fetch && !r.4.contains(Flags::SYNC);
        let taken = references.iter().filter(taken).count();
        assert_eq!(counts.references(), u64::try_from(taken).unwrap());
    }
}

/// Mattson et al. 1970: what a stack of n pages holds, a stack of n + 1 holds as well.
#[test]
fn more_ways_never_miss_more() {
    let mut rng = Rng::new(16);
    for sets in [1, 4, 16] {
        let ways = 1..=40;
        let tlbs = ways.map(|ways| TlbGeometry { entries: sets * ways, ways, paired: false });
        let setup = setup(&tlbs.collect::<Vec<_>>(), &[16, 256], 2);
        for _ in 0..20 {
            let counts = count(&setup, &random_references(&mut rng, 2_000), 1);
            for size in 0..2 {
                let misses: Vec<u64> = (0..40).map(|tlb| counts.misses(tlb, size)).collect();
                assert!(misses.is_sorted_by(|fewer, more| fewer >= more), "{sets}: {misses:?}");
                assert!(misses[0] > misses[39], "the walk is too tame to show anything");
            }
        }
    }
}

#[test]
fn the_parts_add_up_to_the_whole() {
    let mut rng = Rng::new(3);
    let references = random_references(&mut rng, 5_000);
    let setup = setup(&geometries(), &[64, 1024], 4);
    let whole = count(&setup, &references, 1);
    for parts in [2, 3, 8] {
        let sum = count(&setup, &references, parts);
        assert_eq!(sum.references(), whole.references());
        for tlb in 0..setup.tlbs.len() {
            for size in 0..2 {
                assert_eq!(sum.misses(tlb, size), whole.misses(tlb, size));
                assert_eq!(sum.lookups(tlb, size), whole.lookups(tlb, size));
            }
        }
    }
}
