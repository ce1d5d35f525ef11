//! Consumers of the places of a block: a list of changes, or counts.

use homenode_base::ProcId;
use homenode_placement::{Run, Tally};

use crate::change::Changes;
use crate::walk::PlaceSink;

impl PlaceSink for Changes {
    fn set(&mut self, reference: u64, places: &[ProcId], global: bool) {
        Self::set(self, reference, places.to_vec(), global);
    }
}

/// Places that hold a block: processors, ascending, and whether global memory.
#[derive(Debug, Default)]
struct HoldingPlaces {
    processors: Vec<ProcId>,
    global: bool,
}

impl HoldingPlaces {
    fn has(&self, processor: ProcId) -> bool {
        match self.processors.as_slice() {
            [] => false,
            [only] => *only == processor,
            several => several.binary_search(&processor).is_ok(),
        }
    }

    /// Whether these are the places. Mostly there are none or one, which needs no loop.
    fn equal(&self, processors: &[ProcId], global: bool) -> bool {
        let same = match (self.processors.as_slice(), processors) {
            ([], []) => true,
            ([one], [other]) => one == other,
            (all, others) => all.len() == others.len() && all == others,
        };
        same && self.global == global
    }

    fn is_empty(&self) -> bool {
        self.processors.is_empty() && !self.global
    }
}

pub(crate) struct EventCounter<'a> {
    runs: &'a [Run],
    /// Reference of the history up to which everything is counted, and its run and place in it.
    position: u64,
    run: usize,
    within: u64,
    before: HoldingPlaces,
    now: HoldingPlaces,
    /// Whether the places of `before` were in force before the reference at `position`.
    changed: bool,
    tally: Tally,
}

impl<'a> EventCounter<'a> {
    pub(crate) fn new(runs: &'a [Run]) -> Self {
        let (before, now) = (HoldingPlaces::default(), HoldingPlaces::default());
        let tally = Tally::default();
        Self { runs, position: 0, run: 0, within: 0, before, now, changed: false, tally }
    }

    pub(crate) fn finish(mut self) -> Tally {
        self.change();
        self.refer(u64::MAX);
        self.tally
    }

    /// Counts the change from the places `before` to those of `now`, made by the reference at
    /// `position`.
    fn change(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        let (before, now) = (&self.before, &self.now);
        if !changed || before.equal(&now.processors, now.global) {
            return;
        }
        let Some(run) = self.runs.get(self.run) else { return };
        let write = run.next_write(self.within) == Some(self.within);
        let added = now.processors.iter().filter(|p| !before.has(**p)).count();
        let added = u64::try_from(added).unwrap_or(u64::MAX);
        let joined = u64::from(now.global && !before.global);
        let moves = if now.global || before.global {
            &mut self.tally.global_moves
        } else {
            &mut self.tally.remote_moves
        };
        *moves += added + joined;
        self.tally.faults += 1;
        let mut gone = before.processors.iter().filter(|p| !now.has(**p));
        let lost = gone.any(|&p| p != run.processor());
        self.tally.invalidations += u64::from(write && lost);
        let stays = before.global && now.global || before.processors.iter().any(|p| now.has(*p));
        if !write && stays {
            self.tally.replications += added;
        }
    }

    fn refer(&mut self, until: u64) {
        while let Some(run) = self.runs.get(self.run).filter(|_| self.position < until) {
            let left = run.references() - self.within;
            let count = left.min(until - self.position);
            // Most changes of place fall between runs, so whole runs need no division.
            let (more_reads, more_writes) = if count == run.references() {
                (run.reads(), run.writes())
            } else {
                let (from, to) = (run.prefix(self.within), run.prefix(self.within + count));
                (to.0 - from.0, to.1 - from.1)
            };
            let t = &mut self.tally;
            let (reads, writes) = if self.now.has(run.processor()) {
                (&mut t.local_reads, &mut t.local_writes)
            } else if self.now.global {
                (&mut t.global_reads, &mut t.global_writes)
            } else {
                (&mut t.remote_reads, &mut t.remote_writes)
            };
            *reads += more_reads;
            *writes += more_writes;
            self.position += count;
            self.within += count;
            if self.within == run.references() {
                (self.run, self.within) = (self.run + 1, 0);
            }
        }
    }
}

impl PlaceSink for EventCounter<'_> {
    fn set(&mut self, reference: u64, places: &[ProcId], global: bool) {
        if self.now.equal(places, global) {
            return;
        }
        if reference > self.position {
            self.change();
            self.refer(reference);
        }
        // The free place at the beginning is no change.
        if !self.changed && !self.now.is_empty() {
            std::mem::swap(&mut self.before, &mut self.now);
            self.changed = true;
        }
        self.now.processors.clear();
        self.now.processors.extend_from_slice(places);
        self.now.global = global;
    }
}
