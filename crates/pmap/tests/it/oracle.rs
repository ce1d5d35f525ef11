//! The manager against a slow one that is written from the prose of §3.1.3, not from the table:
//! reference by reference, with sets and maps, under policies that are written out again here.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Trace, histories, random_trace};
use homenode_base::{Rng, Time};
use homenode_placement::Times;
use homenode_pmap::policy::{CachePolicy, PolicyQuery, find};
use homenode_pmap::{FaultKind, Location, Manager, OwnerCopy, PageState, PmapCounts};

/// Where a mapping points, and whether it allows writing.
type Mapping = (Location, bool);

/// A logical page, as the prose describes it.
#[derive(Default)]
struct Slow {
    /// Local memories that hold the page.
    copies: BTreeSet<u16>,
    mappings: BTreeMap<u16, Mapping>,
    /// Whether the only good copy is a local one.
    stale: bool,
    /// Whether it is in global memory.
    global: bool,
    /// Whether a processor has been allowed to write.
    written: bool,
    invalidations: u64,
}

/// Answers LOCAL or GLOBAL, directly from the definitions.
type Answer = dyn FnMut(&Slow, u16, bool) -> bool;

impl Slow {
    fn reference(
        &mut self,
        q: u16,
        write: bool,
        answer: &mut Answer,
        keeps_owner_copy: bool,
        c: &mut PmapCounts,
    ) {
        let allowed = self.mappings.get(&q).is_some_and(|&(_, writable)| writable || !write);
        if !allowed {
            c.faults += 1;
            let local = answer(self, q, write);
            let before = self.copies.clone();
            if local {
                self.place_locally(q, write, keeps_owner_copy, c)
            } else {
                self.place_globally(q, c)
            }
            c.flushes += before.difference(&self.copies).count() as u64;
            let lost = before.iter().any(|p| *p != q && !self.copies.contains(p));
            c.invalidations += u64::from(lost);
            self.invalidations += u64::from(lost);
            self.written |= write || self.global;
        }
        let counter = match (self.mappings[&q].0, write) {
            (Location::Local, false) => &mut c.local_reads,
            (Location::Local, true) => &mut c.local_writes,
            (Location::Global, false) => &mut c.global_reads,
            (Location::Global, true) => &mut c.global_writes,
        };
        *counter += 1;
    }

    /// The global copy must be good: the one local memory with newer data is written back.
    fn write_back(&mut self, c: &mut PmapCounts) {
        c.syncs += u64::from(self.stale);
        self.stale = false;
    }

    fn drop_copy(&mut self, p: u16) {
        self.copies.remove(&p);
        self.mappings.remove(&p);
    }

    fn place_globally(&mut self, q: u16, c: &mut PmapCounts) {
        self.write_back(c);
        for p in self.copies.clone() {
            self.drop_copy(p);
        }
        if !self.global {
            c.pins += 1;
            c.global_zero_fills += u64::from(!self.written);
        }
        self.global = true;
        self.mappings.insert(q, (Location::Global, true));
    }

    fn place_locally(&mut self, q: u16, write: bool, keep: bool, c: &mut PmapCounts) {
        if self.global {
            c.unmaps += self.mappings.len() as u64;
            self.mappings.clear();
            self.global = false;
        }
        let dirty_elsewhere = self.stale && !self.copies.contains(&q);
        if dirty_elsewhere {
            self.write_back(c);
        }
        let others: Vec<u16> = self.copies.iter().copied().filter(|&p| p != q).collect();
        for p in others {
            if write || dirty_elsewhere && !keep {
                self.drop_copy(p);
            } else if dirty_elsewhere {
                c.protects += 1;
                self.mappings.insert(p, (Location::Local, false));
            }
        }
        if self.copies.insert(q) {
            *(if self.written { &mut c.copies } else { &mut c.local_zero_fills }) += 1;
        }
        self.stale |= write;
        self.mappings.insert(q, (Location::Local, write));
    }

    /// The frames are released, and with them all that the kernel knew of the page.
    fn free(&mut self, c: &mut PmapCounts) {
        c.freed_pages += u64::from(self.global || !self.copies.is_empty());
        c.freed_copies += self.copies.len() as u64;
        *self = Self::default();
    }

    fn state(&self) -> PageState {
        match (self.global, self.stale) {
            (true, _) => PageState::GlobalWritable,
            (false, true) => PageState::LocalWritable,
            (false, false) => PageState::ReadOnly,
        }
    }
}

/// A policy with changing answers: pseudo-random in the number of queries for a page.
struct Moody(u64);

fn mood(asked: u64) -> bool {
    asked.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 62 != 0
}

impl CachePolicy for Moody {
    fn cache_policy(&mut self, _: &PolicyQuery) -> Location {
        self.0 += 1;
        if mood(self.0) { Location::Local } else { Location::Global }
    }
}

/// A policy of the manager, and its form for the slow manager.
fn policies(name: &str, limit: u64) -> (Box<dyn CachePolicy>, Box<Answer>) {
    let table = |name| (find(name).unwrap().build)(limit);
    match name {
        "limit" => (table(name), Box::new(move |page, _, _| page.invalidations < limit)),
        "limit-writes" => (
            table(name),
            Box::new(move |page, q, write| {
                let takes = write && page.copies.iter().any(|&p| p != q);
                !(page.global || takes && page.invalidations >= limit)
            }),
        ),
        "all-global" => (table(name), Box::new(|_, _, _| false)),
        _ => {
            let mut asked = 0;
            let answer = move |_: &Slow, _, _| {
                asked += 1;
                mood(asked)
            };
            (Box::new(Moody(0)), Box::new(answer))
        }
    }
}

/// The page is freed before the references with these Times. Returns how many pages were.
fn compare(
    trace: &Trace,
    processors: u16,
    freed: &[Time],
    (name, limit): (&str, u64),
    owner_copy: OwnerCopy,
) -> u64 {
    let mut pages = 0;
    let times = if freed.is_empty() { Times::Visits } else { Times::All };
    let histories = histories(trace, processors, times);
    for block in histories.blocks() {
        let (policy, mut answer) = policies(name, limit);
        let found = Manager::new(policy, owner_copy).page(block, freed);
        let (mut page, mut expected) = (Slow::default(), PmapCounts::default());
        let keeps = owner_copy == OwnerCopy::Keep;
        let mut writes = false;
        for (time, &(p, number, write)) in (0..).zip(trace) {
            freed.iter().filter(|&&at| at == time).for_each(|_| page.free(&mut expected));
            if number == block.number {
                writes |= write;
                page.reference(p % processors, write, &mut *answer, keeps, &mut expected);
            }
        }
        freed.iter().filter(|&&at| at >= trace.len() as u64).for_each(|_| page.free(&mut expected));
        // The slow manager has no table, so no cells.
        let faults: u64 = found.counts.cells.iter().sum();
        assert_eq!(faults, expected.faults);
        expected.cells = found.counts.cells;
        assert_eq!(found.counts, expected, "{name}:{limit} {owner_copy:?} {trace:?}");
        assert_eq!(found.state, page.state());
        assert_eq!(found.writable_data, writes);
        pages += expected.freed_pages;
    }
    pages
}

#[test]
fn every_policy_counts_what_the_prose_says() {
    let (mut rng, mut freed_pages) = (Rng::new(11), 0);
    for round in 0..2_000u64 {
        let processors = [1, 2, 3, 5, 70][usize::try_from(round % 5).unwrap()];
        let trace = random_trace(&mut rng, processors);
        let often = [0, 0, 1, 5][usize::try_from(round % 4).unwrap()];
        let mut freed: Vec<Time> = (0..often).map(|_| rng.below(160)).collect();
        freed.sort_unstable();
        for name in ["limit", "limit-writes", "all-global", "moody"] {
            for owner_copy in [OwnerCopy::Flush, OwnerCopy::Keep] {
                let policy = (name, rng.below(6));
                freed_pages += compare(&trace, processors, &freed, policy, owner_copy);
            }
        }
    }
    assert!(freed_pages > 10_000, "{freed_pages}");
}

/// Accesses of the table are the two kinds of reference.
#[test]
fn the_policy_hears_what_the_reference_needs() {
    struct Listening(Vec<FaultKind>);
    impl CachePolicy for &mut Listening {
        fn cache_policy(&mut self, page: &PolicyQuery) -> Location {
            self.0.push(page.access);
            Location::Local
        }
    }
    let mut heard = Listening(Vec::new());
    let (mut page, mut counts) = (homenode_pmap::LogicalPage::default(), PmapCounts::default());
    let faults = [(0, FaultKind::Read), (1, FaultKind::Write), (0, FaultKind::Read)];
    for (q, access) in faults {
        page.fault(q, access, &mut &mut heard, OwnerCopy::Flush, &mut counts);
    }
    assert_eq!(heard.0, faults.map(|(_, access)| access));
}
