//! Data re-alignment: hand-worked cases, and comparison with an oracle that keeps whole sets.

use std::collections::{BTreeMap, BTreeSet};

use crate::made::{made, trace_of, written};
use crate::support::{Step, accesses, by_hand, read, small_chunks};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{
    AddressRange, Event, EventKind, Metadata, RangeKind, SourceLine, TraceReader, WriterOptions,
};
use homenode_transform::TransformReport;
use homenode_transform::realign::{FalseSharing, MovedObject, Realignment};

fn realigned(steps: &[Step], page: &str, window: u64) -> Result<Vec<Step>, String> {
    realigned_with(steps, page, windows_of(window))
}

#[derive(Clone, Copy)]
struct Windows {
    length: u64,
    /// Whether private and synchronisation references count.
    all: bool,
}

const fn windows_of(length: u64) -> Windows {
    Windows { length, all: false }
}

fn realigned_with(steps: &[Step], page: &str, windows: Windows) -> Result<Vec<Step>, String> {
    Ok(reported(&trace_of(steps), page, windows)?.0)
}

fn counts(access: &Access, all: bool) -> bool {
    let left_out = |flag| access.flags.contains(flag) && !all;
    access.kind != AccessKind::Fetch && !left_out(Flags::PRIVATE) && !left_out(Flags::SYNC)
}

fn reported(
    trace: &TraceReader,
    page: &str,
    windows: Windows,
) -> Result<(Vec<Step>, Realignment), String> {
    let (page, window) = (format!("page-size={page}"), format!("window={}", windows.length));
    let mut words = vec![page.as_str(), &window];
    if windows.all {
        words.extend(["private=shared", "sync=include"]);
    }
    let (made, written) = made(trace, "realign", &words).map_err(|error| error.to_string())?;
    let report = written.report.and_then(TransformReport::realigned);
    Ok((read(&made), report.unwrap()))
}

fn addresses(steps: &[Step]) -> Vec<u64> {
    accesses(steps).iter().map(|access| access.addr).collect()
}

#[track_caller]
fn check(window: u64, before: &str, after: &str) {
    let found = realigned(&by_hand(before), "16", window).unwrap();
    assert_eq!(found, by_hand(after), "{before}");
}

/// Pages of 16 bytes: the trace's last is 10x, so new ones are 110, 120 and so on.
#[test]
fn hand_worked_cases() {
    // Each word has one user: each goes to a page of its user, in order of address.
    check(9, "0W100 1R104 0R108 1R10c", "0W110 1R120 0R114 1R124");
    // A word with two users stays; bytes within a word stay where they are in it.
    check(9, "0W100 1R100 1R106/1 0R108", "0W100 1R100 1R112/1 0R120");
    // No thread writes the page, or a single thread uses it.
    check(9, "0R100 1R104 1W0f0", "0R100 1R104 1W0f0");
    // The write may come last, be an atomic, and be to the word that stays.
    check(9, "0R104 1R100 0A100", "0R110 1R100 0A100");
    // Fetches are no data references: neither users, nor moved, nor part of a window.
    check(2, "0W100 1I104 1I100 0W104 1W104", "0W100 1I104 1I100 0W104 1W104");
    // Neither are references to private memory and to synchronisation variables, unless included.
    let flagged = |flag: Flags| {
        let mut steps = by_hand("0W100 1R104 0W100");
        if let Step::Access(access) = &mut steps[1] {
            access.flags = flag;
        }
        let found =
            [false, true].map(|all| realigned_with(&steps, "16", Windows { length: 9, all }));
        found.map(|steps| addresses(&steps.unwrap()))
    };
    for flag in [Flags::PRIVATE, Flags::SYNC] {
        assert_eq!(flagged(flag), [[0x100, 0x104, 0x100], [0x110, 0x120, 0x110]]);
    }
    // A page that is full is followed by another.
    check(
        9,
        "0W0f0 1W0f4 0W0f8 0W0fc 0W100 0W104 1W108",
        "0W110 1W120 0W114 0W118 0W11c 0W130 1W124",
    );
}

#[test]
fn moves_last_until_the_next() {
    // The second window finds 100 at 110, and nothing to do.
    check(2, "0W100 1W104 0R100 0R10c 1R104", "0W110 1W120 0R110 0R10c 1R120");
    // 100 and 108 are on a page of thread 0. Then thread 1 uses 108: both move again.
    check(
        3,
        "0W100 1W104 0W108 0R100 1W108 1R108 1R104",
        "0W110 1W120 0W114 0R130 1W140 1R140 1R120",
    );
    // Every window begins pages of its own.
    check(2, "0W100 1W104 0W108 1W10c", "0W110 1W120 0W130 1W140");
}

#[test]
fn words_of_one_reference_stay_together() {
    // Eight bytes at 100: one location, of one user, or of two.
    check(9, "0W100/8 1W108 0R104", "0W110/8 1W120 0R114");
    check(9, "0W100/8 1W108 1R104", "0W100/8 1W110 1R104");
    // They do not fit on the page: both words go to the next one.
    check(9, "0W0f0 0W0f4 0W0f8 1W0fc 0W100/8 1W108", "0W110 0W114 0W118 1W120 0W130/8 1W124");
    // A reference across pages: its location is on both, one of which is falsely shared.
    check(9, "0R0fc/8 1W104", "0R110/8 1W120");
    // A location larger than a page begins one.
    check(9, "0W0f0 0W0f4/20 1W108 1R0f8/1", "0W110 0W0f4/20 1W120 1R0f8/1");
    check(9, "0W0f0 0W0f4/20 1W108 0R10c", "0W0f0 0W110/20 1W130 0R124");
    // Separated by one window, rejoined by the next.
    check(2, "0W100 1W104 0R100/8 0R100", "0W110 1W120 0R130/8 0R130");
    check(2, "0W100 1W104 0R100/8 1R100/8", "0W110 1W120 0R130/8 1R130/8");
}

/// The address of each word by section 3.4, implemented naively.
#[derive(Default)]
struct Oracle {
    place: BTreeMap<u64, u64>,
    pages: u64,
}

impl Oracle {
    fn at(&self, word: u64) -> u64 {
        *self.place.get(&word).unwrap_or(&word)
    }

    fn window(&mut self, references: &[Access], page_words: u64, all: bool) {
        let page = |place: u64| place / page_words;
        let data = || references.iter().filter(|a| counts(a, all));
        let words_of = |a: &Access| a.addr / 4..=(a.addr + u64::from(a.size) - 1) / 4;
        // Steps 2 and 3: pages referenced, by whom, and which of them are written.
        let (mut users, mut written) = (BTreeMap::<u64, BTreeSet<u16>>::new(), BTreeSet::new());
        for access in data() {
            for word in words_of(access) {
                users.entry(page(self.at(word))).or_default().insert(access.thread);
                if matches!(access.kind, AccessKind::Write | AccessKind::Atomic) {
                    written.insert(page(self.at(word)));
                }
            }
        }
        let falsely = |p: u64| users[&p].len() > 1 && written.contains(&p);
        // Locations: sets of words, united until no reference touches two of them.
        let mut locations: Vec<BTreeSet<u64>> = Vec::new();
        for access in data() {
            let mut whole: BTreeSet<u64> = words_of(access).collect();
            let (touched, others) =
                locations.into_iter().partition(|l: &BTreeSet<u64>| !l.is_disjoint(&whole));
            locations = others;
            whole.extend(touched.into_iter().flatten());
            locations.push(whole);
        }
        locations.sort();
        // Step 4.
        let mut next: BTreeMap<BTreeSet<u16>, u64> = BTreeMap::new();
        let mut moves = Vec::new();
        for location in &locations {
            let threads: BTreeSet<u16> = data()
                .filter(|a| words_of(a).any(|word| location.contains(&word)))
                .map(|a| a.thread)
                .collect();
            let places: Vec<u64> = location.iter().map(|&word| self.at(word)).collect();
            let together = places.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            let alone = threads.len() == 1;
            if together && !(alone && places.iter().any(|&place| falsely(page(place)))) {
                continue;
            }
            let key = if alone { threads } else { BTreeSet::new() };
            let length = u64::try_from(location.len()).unwrap();
            let mut first = next.get(&key).copied().unwrap_or(0);
            if first % page_words == 0 || page_words - first % page_words < length {
                first = self.pages * page_words;
                self.pages += length.div_ceil(page_words);
            }
            next.insert(key, first + length);
            moves.extend(location.iter().copied().zip(first..));
        }
        self.place.extend(moves);
    }
}

fn by_the_oracle(steps: &[Step], page_bytes: u64, windows: Windows) -> Vec<Step> {
    let Windows { length: window, all } = windows;
    let window = usize::try_from(window).unwrap();
    let highest = accesses(steps).iter().map(|a| a.addr + u64::from(a.size) - 1).max().unwrap();
    let mut oracle = Oracle { pages: highest / page_bytes + 1, ..Oracle::default() };
    let mut after = Vec::new();
    let mut rest = steps;
    while !rest.is_empty() {
        let is_data = |step: &Step| matches!(step, Step::Access(a) if counts(a, all));
        let data: Vec<usize> = (0..rest.len()).filter(|&i| is_data(&rest[i])).collect();
        let length = data.get(window - 1).map_or(rest.len(), |&last| last + 1);
        oracle.window(&accesses(&rest[..length]), page_bytes / 4, all);
        after.extend(rest[..length].iter().map(|step| match step {
            Step::Access(a) if counts(a, all) => {
                Step::Access(Access { addr: oracle.at(a.addr / 4) * 4 + a.addr % 4, ..*a })
            }
            Step::Access(_) | Step::Event(_) => step.clone(),
        }));
        rest = &rest[length..];
    }
    after
}

/// References of `threads` threads to few words, of these sizes, with events between.
fn random_steps(rng: &mut Rng, threads: u64, sizes: &[u8]) -> Vec<Step> {
    let mut steps = Vec::new();
    for i in 0..20 + rng.below(300) {
        // Threads from 64 on have another representation.
        let thread = u16::try_from(rng.below(threads) * 31).unwrap();
        if rng.below(15) == 0 {
            let what = EventKind::Marker { text: format!("before {i}") };
            steps.push(Step::Event(Event { thread, what }));
        }
        let kind =
            AccessKind::from_code(u8::try_from(rng.below(12).saturating_sub(8)).unwrap()).unwrap();
        let size = sizes[usize::try_from(rng.below(sizes.len() as u64)).unwrap()];
        let addr = 0x1000 + if size == 4 { 4 * rng.below(80) } else { rng.below(320) };
        let flags = Flags(u8::try_from(rng.below(8)).unwrap());
        let access =
            Access { flags, pc: i, gap: 1, pid: 3, ..Access::new(thread, kind, addr, size) };
        steps.push(Step::Access(access));
    }
    steps
}

#[test]
fn random_traces_agree_with_the_oracle() {
    let mut rng = Rng::new(34);
    let mut moved = 0;
    for round in 0..90 {
        let sizes: &[u8] = [&[4][..], &[4, 4, 8], &[1, 2, 4, 8, 16, 64]][round % 3];
        let threads = 1 + rng.below(5);
        let steps = random_steps(&mut rng, threads, sizes);
        for (page, window) in [(4, 50), (16, 7), (64, 30), (64, 1_000), (256, 100), (4096, 64)] {
            let all = rng.below(2) == 0;
            let windows = Windows { length: window, all };
            let found = realigned_with(&steps, &page.to_string(), windows).unwrap();
            let expected = by_the_oracle(&steps, page, windows);
            assert!(found == expected, "round {round}, pages of {page}, windows of {window}");
            moved += usize::from(found != steps);
        }
    }
    assert!(moved > 250, "only {moved} runs moved something");
}

/// The purpose of re-alignment, without the algorithm: in no window has a page that several threads
/// use and one writes a word of a single user, and two words never share an address.
#[test]
fn no_falsely_shared_page_is_left_in_a_window() {
    let mut rng = Rng::new(35);
    for _ in 0..60 {
        let steps = random_steps(&mut rng, 4, &[4]);
        let after =
            accesses(&realigned_with(&steps, "64", Windows { length: 40, all: true }).unwrap());
        let before = accesses(&steps);
        let mut kept: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let data: Vec<_> =
            before.iter().zip(&after).filter(|(a, _)| a.kind != AccessKind::Fetch).collect();
        for window in data.chunks(40) {
            let mut pages: BTreeMap<u64, (BTreeSet<u16>, bool)> = BTreeMap::new();
            let mut words: BTreeMap<u64, BTreeSet<u16>> = BTreeMap::new();
            for (old, new) in window {
                let page = pages.entry(new.addr / 64).or_default();
                page.0.insert(new.thread);
                page.1 |= new.kind.writes();
                words.entry(new.addr).or_default().insert(new.thread);
                kept.entry(new.addr).or_default().insert(old.addr);
            }
            for (word, users) in words {
                let (page_users, written) = &pages[&(word / 64)];
                assert!(users.len() > 1 || page_users.len() == 1 || !written, "{word:x}");
            }
        }
        assert!(kept.values().all(|words| words.len() == 1));
        let one_window = Windows { length: 1_000_000, all: true };
        let whole = realigned_with(&steps, "64", one_window).unwrap();
        let again = realigned_with(&whole, "64", one_window).unwrap();
        assert!(again == whole, "nothing is left to move");
    }
}

#[test]
fn new_pages_are_where_the_trace_has_none() {
    // The largest unused interval may lie below them.
    let high = by_hand("0Wfffffffffffffff0 1Wfffffffffffffff4");
    assert_eq!(addresses(&realigned(&high, "64K", 9).unwrap()), [0, 0x1_0000]);
    // Of a chunk only the lowest and the highest address are known.
    let all = by_hand("0Wfffffffffffffff0 1W40");
    let error = realigned(&all, "64", 9).unwrap_err();
    assert!(error.contains("leave no room for new pages; keep a part of them"), "{error}");
}

#[test]
fn invalid_page_sizes_are_explained() {
    let steps = by_hand("0W100 1W104");
    for wrong in ["0", "3", "48", "2048M", "1G", "K", "-4", "99999999999999999999K"] {
        let error = realigned(&steps, wrong, 9).unwrap_err();
        assert!(error.contains("expected a power of two from 4 to 1024M"), "{error}");
    }
    let error = realigned(&steps, "64", 0).unwrap_err();
    assert!(error.contains("window=0: expected a whole number from 1"), "{error}");
    assert_eq!(addresses(&realigned(&steps, "1K", 9).unwrap()), [0x400, 0x800]);
    assert_eq!(addresses(&realigned(&steps, "1M", 9).unwrap()), [0x10_0000, 0x20_0000]);
}

/// Falsely shared pages and references to them, from whole sets.
fn false_sharing(steps: &[Step], page_bytes: u64, windows: Windows) -> FalseSharing {
    let Windows { length: window, all } = windows;
    let window = usize::try_from(window).unwrap();
    let mut found = FalseSharing::default();
    let data = accesses(steps).into_iter().filter(|a| counts(a, all));
    for window in data.collect::<Vec<_>>().chunks(window) {
        let mut users = BTreeMap::<u64, BTreeSet<u16>>::new();
        let mut written = BTreeSet::new();
        for access in window {
            for word in access.addr / 4..=(access.addr + u64::from(access.size) - 1) / 4 {
                users.entry(word).or_default().insert(access.thread);
                if access.kind.writes() {
                    written.insert(word * 4 / page_bytes);
                }
            }
        }
        let falsely = |page: &u64| {
            let on_it = || users.iter().filter(|(word, _)| *word * 4 / page_bytes == *page);
            on_it().map(|(_, set)| set).collect::<BTreeSet<_>>().len() > 1
        };
        let pages: BTreeSet<u64> = written.into_iter().filter(falsely).collect();
        found.pages += pages.len() as u64;
        let there = |a: &&Access| pages.contains(&(a.addr / page_bytes));
        found.references += window.iter().filter(there).count() as u64;
    }
    found
}

#[test]
fn the_report_agrees_with_the_traces() {
    let mut rng = Rng::new(36);
    let mut left = 0;
    for round in 0..60 {
        let sizes: &[u8] = [&[4][..], &[4, 8], &[1, 4, 64]][round % 3];
        let steps = random_steps(&mut rng, 4, sizes);
        let trace = trace_of(&steps);
        for (page, window) in [(16, 20), (64, 50), (1024, 1_000)] {
            let all = round % 2 == 0;
            let windows = Windows { length: window, all };
            let (after, report) = reported(&trace, &page.to_string(), windows).unwrap();
            assert_eq!(report.before, false_sharing(&steps, page, windows), "{round}");
            assert_eq!(report.after, false_sharing(&after, page, windows), "{round}");
            left += report.after.references;
            let pages = |steps: &[Step]| {
                let data = accesses(steps).into_iter().filter(|a| counts(a, all));
                let touched =
                    data.flat_map(|a| a.addr / page..=(a.addr + u64::from(a.size) - 1) / page);
                touched.collect::<BTreeSet<u64>>()
            };
            let (old, new) = (pages(&steps), pages(&after));
            assert_eq!(
                [report.pages_before, report.pages_after],
                [old.len(), new.len()].map(|n| n as u64)
            );
            assert_eq!(
                report.new_pages,
                new.difference(&old).filter(|p| **p > *old.last().unwrap()).count() as u64
            );
            assert_eq!(report.new_bytes, report.new_pages * page);
            let data = accesses(&steps).iter().filter(|a| counts(a, all)).count();
            assert_eq!(report.windows, (data as u64).div_ceil(window));
            assert!(report.moves >= report.words_moved);
            let sum: u64 = report.objects.iter().map(|object| object.words_moved).sum();
            assert_eq!(sum, report.words_moved);
        }
    }
    assert!(left > 0, "words with different users on one page stay");
}

#[test]
fn moved_words_have_the_names_of_the_program() {
    // Thread 0 uses 100 to 10c and 200, thread 1 uses 110, both use 108; 300 has no name.
    let text = "0W100 0W104 0W108 1W108 0W10c 1W110 0W200 1W204 0W300 1W304";
    let range = |start, size, kind, name: &str, site| AddressRange {
        site,
        thread: 1,
        ..AddressRange::new(kind, start, size, name)
    };
    let ranges = vec![
        range(0x100, 0x100, RangeKind::Mapping, "file", 0),
        range(0x100, 8, RangeKind::Heap, "", 7),
        range(0x104, 8, RangeKind::Static, "sum", 0),
        range(0x10e, 6, RangeKind::Heap, "", 8),
        range(0x200, 4, RangeKind::Heap, "", 9),
        range(0x204, 4, RangeKind::Stack, "", 0),
    ];
    let line = |pc| SourceLine { pc, function: "main".into(), file: "/a/b.c".into(), line: 3 };
    let lines = vec![line(7), line(8)];
    let metadata = Metadata { ranges, lines, ..Metadata::default() };
    let trace = written("t.hnt", &by_hand(text), small_chunks(64), metadata);
    let (_, report) = reported(&trace, "256", windows_of(100)).unwrap();
    let short = |o: &MovedObject| {
        format!("{:?} {}{} {} {}", o.kind, o.name, o.allocated_at, o.ranges, o.words_moved)
    };
    let found: Vec<String> = report.objects.iter().map(short).collect();
    let expected = [
        "Some(Heap) main b.c:3 2 3",
        "None  0 2",
        "Some(Stack)  1 1",
        "Some(Static) sum 1 1",
        "Some(Heap) 0x9 1 1",
    ];
    assert_eq!(found, expected);
    assert_eq!((report.words_moved, report.moves, report.new_pages), (8, 8, 2));
    assert_eq!((report.before.pages, report.before.references), (3, 10));
    assert_eq!((report.after, report.gone), (FalseSharing::default(), Some(1.0)));
}

/// The new trace names the data on its pages, also after a second re-alignment.
#[test]
fn new_pages_have_the_names_of_the_moved_data() {
    // Threads 0 and 1 use alternate words of both arrays, and thread 1 a word without a name.
    let text = "0W100 1W104 0W108 1W10c 0W110 1W114 0W118 1W11c 1W120";
    let range = |start, name| AddressRange::new(RangeKind::Static, start, 16, name);
    let ranges = vec![range(0x100, "a"), range(0x110, "b")];
    let metadata = Metadata { ranges, ..Metadata::default() };
    let trace = written("t.hnt", &by_hand(text), WriterOptions::default(), metadata);
    let again = |trace: &TraceReader, page: &str| {
        let (made, written) = made(trace, "realign", &[page]).unwrap();
        let objects = written.report.and_then(TransformReport::realigned).unwrap().objects;
        let objects = objects.iter().map(|o| (o.name.clone(), o.words_moved)).collect::<Vec<_>>();
        (made, objects)
    };
    let found = |trace: &TraceReader| {
        let moved = trace.metadata().moved.iter();
        moved.map(|range| (range.start, range.size, range.from)).collect::<Vec<_>>()
    };
    // 64-byte pages at 140 and 180: words of a, then of b, then without a name.
    let (apart, objects) = again(&trace, "page-size=64");
    assert_eq!(objects, [("a".to_owned(), 4), ("b".to_owned(), 4), (String::new(), 1)]);
    let expected = vec![(0x140, 8, 0x100), (0x148, 8, 0x110), (0x180, 8, 0x104), (0x188, 8, 0x114)];
    assert_eq!(found(&apart), expected);
    assert_eq!(apart.metadata().ranges, trace.metadata().ranges);
    // With pages of 1 KB both threads share a page again, and all words move to 400 and 800.
    let (further, objects) = again(&apart, "page-size=1024");
    assert_eq!(objects, [("a".to_owned(), 4), ("b".to_owned(), 4), (String::new(), 1)]);
    let more = [(0x400, 8, 0x100), (0x408, 8, 0x110), (0x800, 8, 0x104), (0x808, 8, 0x114)];
    assert_eq!(found(&further), [&expected[..], &more].concat());
}
