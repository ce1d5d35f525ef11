//! The cache filter: hand-worked cases, comparison with caches written from the definition, and
//! temporary files.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::made::{made, trace_of};
use crate::oracle::filter::SlowCaches;
use crate::support::{Step, accesses, by_hand, read, steps};
use homenode_base::{Access, AccessKind, Rng};
use homenode_trace::TraceReader;
use homenode_transform::{CacheFilterShape, FilterReport, TransformReport, filter_temporarily};

fn filtered(
    trace: &TraceReader,
    cache: &str,
    processors: Option<u16>,
) -> (TraceReader, FilterReport) {
    let mut words = vec![format!("cache={cache}")];
    words.extend(processors.map(|count| format!("processors={count}")));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (made, written) = made(trace, "filter", &words).unwrap();
    let Some(TransformReport::Filtered(report)) = written.report else {
        panic!("no report of the filter")
    };
    (made, report)
}

/// The references that pass, as text: `0R100`.
fn passing(text: &str, cache: &str, processors: Option<u16>) -> String {
    let (made, _) = filtered(&trace_of(&by_hand(text)), cache, processors);
    let name = |access: &Access| {
        let kind = match access.kind {
            AccessKind::Read => 'R',
            AccessKind::Write => 'W',
            AccessKind::Atomic => 'A',
            AccessKind::Fetch => 'F',
        };
        format!("{}{kind}{:x}", access.thread, access.addr)
    };
    accesses(&read(&made)).iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn hand_worked_misses_pass() {
    let one_set = |text| passing(text, "128:2:64", None);
    // Two blocks fit; the least recently used one is replaced.
    assert_eq!(one_set("0R0 0R4 0R40 0R0 0R80 0R8 0R40"), "0R0 0R40 0R80 0R40");
    // Memory is informed once that a block is written, at the miss or later.
    assert_eq!(one_set("0W0 0R0 0W4 0A8"), "0W0");
    assert_eq!(one_set("0R0 0W0 0W4 0R8"), "0R0 0W0");
    // A write removes the other copy; a read ends the ownership of the writer.
    assert_eq!(one_set("0R0 1R0 1W4 1W8 0R0 1R4 1W4 0R0"), "0R0 1R0 1W4 0R0 1W4 0R0");
    // A removed copy is the first to be replaced.
    assert_eq!(one_set("0R0 0R40 1W40 0R80 0R0"), "0R0 0R40 1W40 0R80");
    // A reference to two blocks passes if one of them misses.
    assert_eq!(one_set("0R0 0R3e/4 0R3e/4 0R40"), "0R0 0R3e");
    // Threads of one processor share its cache; fetches pass.
    assert_eq!(passing("0R0 2R4 1R8 0F0", "128:2:64", Some(2)), "0R0 1R8 0F0");
    assert_eq!(passing("0R0 2R4 1R8", "128:2:64", None), "0R0 2R4 1R8");
}

#[test]
fn caches_of_lists_pass_the_same_references() {
    let mut rng = Rng::new(1);
    for round in 0..200 {
        let threads = 1 + rng.below(5);
        let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch];
        let random = |rng: &mut Rng| {
            let thread = u16::try_from(rng.below(threads)).unwrap();
            let kind = kinds[usize::try_from(rng.below(8).saturating_sub(4)).unwrap()];
            let high = if rng.below(40) == 0 { u64::MAX - 200 } else { 0x1000 };
            let size = u8::try_from(1 + rng.below(64)).unwrap();
            let gap = u32::try_from(rng.below(3)).unwrap();
            Step::Access(Access { gap, ..Access::new(thread, kind, high + rng.below(160), size) })
        };
        let all: Vec<Step> = (0..400).map(|_| random(&mut rng)).collect();
        let sets = 1 << rng.below(4);
        let ways = 1 + rng.below(4);
        let block_bytes = 4 << rng.below(4);
        let processors = (rng.below(2) == 0).then(|| 1 + u16::try_from(rng.below(4)).unwrap());
        let trace = trace_of(&all);
        let mut slow = SlowCaches {
            processors: processors.unwrap_or_else(|| trace.threads()),
            sets,
            ways: usize::try_from(ways).unwrap(),
            block_bytes,
            lists: BTreeMap::new(),
        };
        let place = |a: &Access| (a.thread, a.kind.code(), a.addr, a.size);
        let expected: Vec<_> =
            accesses(&all).iter().filter(|a| slow.passes(a)).map(place).collect();
        let cache = format!("{}:{ways}:{block_bytes}", sets * ways * block_bytes);
        let (made, report) = filtered(&trace, &cache, processors);
        let found = accesses(&read(&made));
        assert_eq!(found.iter().map(place).collect::<Vec<_>>(), expected, "{round}: {cache}");
        assert_eq!(report.references, report.hits + report.let_through());
        assert_eq!(
            (report.references, report.let_through()),
            (trace.references(), made.references())
        );
    }
}

#[test]
fn hits_become_gaps_and_events_stay() {
    let mut all = by_hand("0R0 0R4 0R8 1R0 0R40 1R4");
    for (gap, step) in (1..).zip(&mut all) {
        if let Step::Access(access) = step {
            access.gap = gap;
        }
    }
    all.splice(2..2, steps().into_iter().filter(|step| matches!(step, Step::Event(_))));
    let (made, _) = filtered(&trace_of(&all), "64:1:64", None);
    let made = read(&made);
    let gaps: Vec<u32> = accesses(&made).iter().map(|access| access.gap).collect();
    assert_eq!(gaps, [1, 4, 2 + 1 + 3 + 1 + 5]);
    let events = |all: &[Step]| {
        all.iter().filter(|s| matches!(s, Step::Event(_))).cloned().collect::<Vec<_>>()
    };
    assert_eq!(events(&made), events(&all));
}

#[test]
fn a_temporary_trace_equals_the_trace_that_the_transform_writes() {
    let trace = trace_of(&steps());
    let shape = CacheFilterShape::parse("128:2:16").unwrap();
    let (written, report) = filtered(&trace, "128:2:16", Some(2));
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let (temporary, other) = filter_temporarily(&trace, shape, 2, go_on).unwrap();
    assert_eq!((read(&temporary), other), (read(&written), report));
    assert_eq!((temporary.checksum(), temporary.path()), (written.checksum(), trace.path()));
    assert_eq!(temporary.metadata(), trace.metadata());
    let stop = &mut |_, _| ControlFlow::Break(());
    assert!(filter_temporarily(&trace, shape, 2, stop).is_err());
}
