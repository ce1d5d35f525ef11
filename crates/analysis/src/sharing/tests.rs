//! Against slow oracles written from the definitions, on tiny traces.

use homenode_base::{AccessKind, BlockSize, ReferenceFilter, Rng};
use homenode_placement::Shard;
use homenode_trace::Batch;

use super::block::{BlockScratch, WordFacts, is_of_several};
use super::collect::{Collector, CollectorOptions};
use super::counts::SharingCounts;
use super::events::{WordAccess, WordEvent};

type TinyReference = (u16, u32, WordAccess);

const USES: [WordAccess; 3] = [WordAccess::Read, WordAccess::Write, WordAccess::Update];

fn events(trace: &[TinyReference]) -> Vec<WordEvent> {
    let event =
        |&(processor, word, access): &TinyReference| WordEvent { word, site: 0, processor, access };
    trace.iter().map(event).collect()
}

fn counts(trace: &[TinyReference], merge: u64) -> SharingCounts {
    counts_of(events(trace), merge)
}

fn counts_of(mut events: Vec<WordEvent>, merge: u64) -> SharingCounts {
    let mut scratch = BlockScratch::default();
    scratch.begin(&mut events, 8);
    let mut facts = vec![WordFacts::default(); 8];
    scratch.word_transfers(&events, &mut facts);
    let mut counts = SharingCounts::default();
    if is_of_several(&events) {
        scratch.block(&events, &facts, merge, &mut counts);
    } else {
        (counts.blocks, counts.cold) = (1, 1);
    }
    counts
}

/// What ends a false sharing interval.
#[derive(Clone, Copy, PartialEq)]
enum Communication {
    Reference,
    Read,
}

fn is_shared(part: &[TinyReference]) -> bool {
    part.iter().any(|r| r.0 != part[0].0) && part.iter().any(|r| r.2.writes())
}

fn is_silent(part: &[TinyReference], kind: Communication) -> bool {
    part.iter().enumerate().all(|(i, &(processor, word, access))| {
        let writes = |&&(_, w, d): &&TinyReference| w == word && d.writes();
        let ends = kind == Communication::Reference || access.reads();
        match part[..i].iter().rev().find(writes) {
            Some(&(by, _, _)) => by == processor || !ends,
            None => true,
        }
    })
}

const FAR: u64 = u64::MAX / 2;

fn step(before: &[u64], (processor, _, access): TinyReference, coherent: bool) -> Vec<u64> {
    let mut after = vec![FAR; before.len()];
    for (places, best) in after.iter_mut().enumerate() {
        let here = places >> processor & 1 == 1;
        let alone = places == 1 << processor;
        if here && (alone || !(coherent && access.writes())) {
            let from = |(old, &cost): (usize, &u64)| {
                if old == 0 { FAR } else { cost + u64::from((places & !old).count_ones()) }
            };
            *best = before.iter().enumerate().map(from).min().unwrap();
        }
    }
    after
}

/// Tries every set of disjoint intervals. `distance` is what is known before `trace`.
fn exhaust(trace: &[TinyReference], distance: &[u64], merge: u64, kind: Communication) -> u64 {
    if trace.is_empty() {
        return *distance.iter().min().unwrap();
    }
    let mut least = exhaust(&trace[1..], &step(distance, trace[0], true), merge, kind);
    let mut inside = distance.to_vec();
    for end in 1..=trace.len() {
        if !is_silent(&trace[..end], kind) {
            break;
        }
        inside = step(&inside, trace[end - 1], false);
        if !is_shared(&trace[..end]) {
            continue;
        }
        let mut merged = vec![FAR; distance.len()];
        for (places, &cost) in inside.iter().enumerate() {
            for place in 0..distance.len().trailing_zeros() {
                if places >> place & 1 == 1 {
                    merged[1 << place] = merged[1 << place].min(cost + merge);
                }
            }
        }
        least = least.min(if end == trace.len() {
            *inside.iter().min().unwrap()
        } else {
            exhaust(&trace[end..], &merged, merge, kind)
        });
    }
    least
}

fn oracle(trace: &[TinyReference], merge: u64, kind: Communication) -> u64 {
    let processors = trace.iter().map(|r| r.0).max().unwrap() + 1;
    let sets = 1usize << processors;
    let alone = |places: usize| if places.count_ones() == 1 { 0 } else { FAR };
    let distance: Vec<u64> = (0..sets).map(alone).collect();
    exhaust(trace, &distance, merge, kind)
}

fn necessary(trace: &[TinyReference], words: u32, processors: u16) -> u64 {
    let choices = u64::from(processors).pow(words);
    let needed = |choice: u64| -> u64 {
        let home = |word: u32| choice / u64::from(processors).pow(word) % u64::from(processors);
        let mut loaded: Vec<Option<usize>> = vec![None; usize::from(processors)];
        let mut loads = 0;
        for (i, &(processor, word, _)) in trace.iter().enumerate() {
            let seen = loaded[usize::from(processor)];
            let new_value = trace[..i].iter().enumerate().any(|(at, &(by, w, access))| {
                w == word && access.writes() && by != processor && seen.is_none_or(|s| s <= at)
            });
            if new_value || (seen.is_none() && home(word) != u64::from(processor)) {
                loads += 1;
                loaded[usize::from(processor)] = Some(i);
            }
        }
        loads
    };
    (0..choices).map(needed).min().unwrap()
}

fn check(trace: &[TinyReference]) {
    for merge in [1, 2, 5] {
        let found = counts(trace, merge);
        let (strict, thesis) = (found.interval_transfers, found.interval_transfers_thesis);
        assert_eq!(strict, oracle(trace, merge, Communication::Reference), "{merge}: {trace:?}");
        assert_eq!(thesis, oracle(trace, merge, Communication::Read), "{merge}: {trace:?}");
        let needed = necessary(trace, 3, 3);
        assert!(found.necessary_low <= needed, "{found:?} needs {needed}: {trace:?}");
        assert!(needed <= found.necessary_high, "{found:?} needs {needed}: {trace:?}");
        assert!(found.necessary_high <= found.transfers, "{found:?}: {trace:?}");
        assert!(thesis <= strict && strict <= found.transfers, "{found:?}: {trace:?}");
        assert!(found.necessary_low <= strict, "{found:?}: {trace:?}");
        let misses = found.cold + found.true_sharing + found.false_sharing;
        assert!(found.shared_blocks == 0 || misses == found.transfers + 1, "{found:?}: {trace:?}");
    }
}

/// Every trace of four references by two processors to two words.
#[test]
fn all_tiny_traces_agree_with_the_oracles() {
    for code in 0..12u32.pow(4) {
        let mut rest = code;
        let mut trace = Vec::new();
        for _ in 0..4 {
            let access = USES[(rest % 3) as usize];
            trace.push((u16::try_from(rest / 3 % 2).unwrap(), rest / 6 % 2, access));
            rest /= 12;
        }
        check(&trace);
    }
}

#[test]
fn random_small_traces_agree_with_the_oracles() {
    let mut rng = Rng::new(7);
    for _ in 0..3_000 {
        let length = 4 + rng.below(5);
        let mut reference = || {
            let access = USES
                [usize::try_from([0, 0, 1, 2][usize::try_from(rng.below(4)).unwrap()]).unwrap()];
            let word = u32::try_from(rng.below(3)).unwrap();
            (u16::try_from(rng.below(3)).unwrap(), word, access)
        };
        let trace: Vec<TinyReference> = (0..length).map(|_| reference()).collect();
        check(&trace);
    }
}

fn collected(trace: &[TinyReference]) -> Vec<WordEvent> {
    let mut collector = Collector::new(CollectorOptions {
        sizes: vec![BlockSize::new(32).unwrap()],
        processors: 4,
        filter: ReferenceFilter::default(),
        shard: Shard::default(),
        memory_budget_bytes: u64::MAX,
    });
    let kind = |access| match access {
        WordAccess::Read => AccessKind::Read,
        WordAccess::Write => AccessKind::Write,
        WordAccess::Update => AccessKind::Atomic,
    };
    collector.push(&Batch {
        turns: trace.iter().map(|r| r.0).collect(),
        kind: trace.iter().map(|r| kind(r.2).code()).collect(),
        size: vec![4; trace.len()],
        addr: trace.iter().map(|r| u64::from(r.1) * 4).collect(),
        ..Batch::default()
    });
    let (collected, _) = collector.finish();
    collected.regions.iter().flat_map(|region| region.events()).collect()
}

/// Of traces in which one processor writes first, then several mostly read.
#[test]
fn references_left_out_change_nothing() {
    let (mut rng, mut events, mut references) = (Rng::new(11), 0, 0);
    for round in 0..4_000 {
        let (first, reads) = (rng.below(12), 6 + rng.below(60));
        let (processors, words) = (2 + rng.below(3), 1 + rng.below(8));
        let mut reference = |writes: u64, processor: Option<u16>| {
            let at = rng.below(writes.max(3));
            let use_of = |at| USES[usize::try_from(at).unwrap()];
            let access = if writes > 0 && at < 3 { use_of(at) } else { WordAccess::Read };
            let word = u32::try_from(rng.below(words)).unwrap();
            let any = u16::try_from(rng.below(processors)).unwrap();
            (processor.unwrap_or(any), word, access)
        };
        let mut trace: Vec<TinyReference> = (0..first).map(|_| reference(4, Some(1))).collect();
        trace.extend((0..reads).map(|_| reference(0, None)));
        trace.extend((0..round % 30).map(|_| reference(12, None)));
        let reduced = collected(&trace);
        (events, references) = (events + reduced.len(), references + trace.len());
        for shift in 0..=3 {
            for block in 0..8 >> shift {
                let here = |&&(_, word, _): &&TinyReference| word >> shift == block;
                let whole: Vec<TinyReference> = trace.iter().filter(here).copied().collect();
                let mut part = reduced.clone();
                part.retain(|event| event.word >> shift == block);
                for merge in [1, 3] {
                    let found = counts_of(part.clone(), merge);
                    assert_eq!(found, counts(&whole, merge), "{merge}: {whole:?}");
                }
            }
        }
    }
    assert!(events * 2 < references, "{events} events of {references} references");
}

/// With more processors in the region, each of which reads a word of another block.
#[test]
fn counts_do_not_depend_on_how_many_processors_are_elsewhere() {
    let mut rng = Rng::new(3);
    for _ in 0..200 {
        let mut reference = || {
            let access = USES[usize::try_from(rng.below(4) % 3).unwrap()];
            let word = u32::try_from(rng.below(3)).unwrap();
            (u16::try_from(rng.below(3) * 40).unwrap(), word, access)
        };
        let trace: Vec<TinyReference> = (0..40).map(|_| reference()).collect();
        let few = counts(&trace, 1);
        for more in [90, 200, 900] {
            let elsewhere = (0..more).map(|processor| (processor, 8, WordAccess::Read));
            let all: Vec<TinyReference> = trace.iter().copied().chain(elsewhere).collect();
            let mut events = events(&all);
            let mut scratch = BlockScratch::default();
            scratch.begin(&mut events, 16);
            let mut facts = vec![WordFacts::default(); 16];
            scratch.word_transfers(&events, &mut facts);
            let mut many = SharingCounts::default();
            scratch.block(&events[..trace.len()], &facts, 1, &mut many);
            // The homes of initial values are only considered for up to 64 processors.
            many.necessary_low = few.necessary_low;
            many.necessary_high = few.necessary_high;
            assert_eq!(many, few, "{more}: {trace:?}");
        }
    }
}

/// Figure 7.1's situation: two maximal intervals that overlap, of which one must be given up.
#[test]
fn overlapping_maximal_intervals() {
    use WordAccess::{Read, Write};
    let trace = [(0, 0, Write), (1, 1, Write), (0, 2, Write), (1, 0, Read), (0, 1, Read)];
    check(&trace);
    assert!(is_silent(&trace[1..4], Communication::Read));
    assert!(is_silent(&trace[..3], Communication::Read));
    assert!(!is_silent(&trace[..4], Communication::Read));
}

/// Two processors write words of their own: nothing is communicated, so coherence can be off.
#[test]
fn full_duration_false_sharing() {
    use WordAccess::{Read, Write};
    let mut trace = Vec::new();
    for _ in 0..5 {
        trace.extend([(0, 0, Write), (1, 1, Write), (1, 2, Read)]);
    }
    let found = counts(&trace, 1);
    assert_eq!((found.transfers, found.full_duration_blocks), (9, 1));
    assert_eq!((found.full_duration_saved, found.interval_transfers), (8, 1));
    assert_eq!((found.necessary_low, found.necessary_high), (0, 0));
    assert_eq!((found.separable_words, found.separable_saved), (3, 9));
    trace.push((0, 1, Read));
    assert_eq!(counts(&trace, 1).full_duration_blocks, 0);
}

/// Processor 0 reads what three others read, each a word: if these words have their homes at the
/// others, one load is sufficient. With a fourth that shares a word with processor 0, one of these
/// two must load, in addition to the load for a new value; that processor 1 needs the block twice
/// is more than the lower bound sees.
#[test]
fn homes_are_chosen_so_that_few_load() {
    let mut trace: Vec<TinyReference> = (0..3).map(|word| (0, word, WordAccess::Read)).collect();
    trace.extend((0..3u16).map(|p| (p + 1, u32::from(p), WordAccess::Read)));
    let found = counts(&trace, 1);
    assert_eq!((found.transfers, found.necessary_low, found.necessary_high), (3, 1, 1));
    trace.extend([(4, 0, WordAccess::Read), (0, 5, WordAccess::Write), (1, 5, WordAccess::Read)]);
    let found = counts(&trace, 1);
    assert_eq!((found.necessary_low, found.necessary_high), (2, 3));
}
