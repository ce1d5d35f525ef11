//! The optimum with replication, without global memory.

use homenode_base::ProcId;
use homenode_placement::{Run, Tally};

use crate::change::Changes;
use crate::key::{CostKey, KeyPrices};
use crate::place_costs::{GroupDecision, PlaceCosts, ProcIndex, WriteExtra, WriteGroup};

#[derive(Default)]
pub(crate) struct ReplicationScratch {
    /// Processors that refer to the block, ascending.
    active: Vec<ProcId>,
    /// Index of each processor in `active`; only those of `active` are set for this block.
    proc_of: Vec<ProcIndex>,
    seen: Vec<bool>,
    record: GroupDecision,
    /// Place after each step, the place before the first one in front.
    path: Vec<ProcIndex>,
    reads: Vec<u64>,
    readers: Vec<(ProcIndex, u64)>,
}

/// A step: the reads between two groups of writes, and the second group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GroupStep<'a> {
    /// Place before the reads.
    pub(crate) start: ProcIndex,
    /// Place at the writes; equal to `start` after the last write.
    pub(crate) end: ProcIndex,
    /// Each reader and the position of its first read in the history, in order.
    pub(crate) readers: &'a [(ProcIndex, u64)],
    pub(crate) reads: &'a [u64],
    /// The writer, the run that begins with the writes and its position in the history; `None`
    /// after the last write.
    pub(crate) writes: Option<(ProcIndex, Run, u64)>,
}

impl ReplicationScratch {
    pub(crate) fn new(processors: u16) -> Self {
        Self {
            proc_of: vec![0; usize::from(processors)],
            seen: vec![false; usize::from(processors)],
            ..Self::default()
        }
    }

    /// Finds the processors that refer to the block and the number of references.
    ///
    /// Other processors need no index: at such a place every reference costs r, and getting there
    /// costs a move, so it is never as cheap as staying at a processor that refers to the block.
    pub(crate) fn survey(&mut self, runs: &[Run]) -> u64 {
        self.active.clear();
        let mut references = 0;
        for run in runs {
            references += run.references();
            let seen = &mut self.seen[usize::from(run.processor())];
            if !*seen {
                *seen = true;
                self.active.push(run.processor());
            }
        }
        self.active.sort_unstable();
        for (proc, &p) in (0..).zip(&self.active) {
            self.proc_of[usize::from(p)] = proc;
            self.seen[usize::from(p)] = false;
        }
        references
    }

    /// Processors that refer to the block surveyed last, ascending.
    pub(crate) fn active(&self) -> &[ProcId] {
        &self.active
    }

    /// The same, and the index of each of them.
    pub(crate) fn procs(&self) -> (&[ProcId], impl Fn(ProcId) -> ProcIndex + Copy + '_) {
        (&self.active, |p| self.proc_of[usize::from(p)])
    }

    pub(crate) fn solve(&mut self, runs: &[Run], prices: KeyPrices) -> i128 {
        // The array length is a constant of the inner loop; the next larger length is used.
        let fits = PlaceCosts::<i64, 4>::fits(&prices);
        let (key, last) = match self.active.len() {
            0..=4 if fits => self.forward::<i64, 4>(runs, prices),
            0..=8 if fits => self.forward::<i64, 8>(runs, prices),
            0..=16 if fits => self.forward::<i64, 16>(runs, prices),
            0..=64 if fits => self.forward::<i64, 64>(runs, prices),
            0..=64 => self.forward::<i128, 64>(runs, prices),
            0..=256 if fits => self.forward::<i64, 256>(runs, prices),
            _ if fits => self.forward::<i64, 1024>(runs, prices),
            _ => self.forward::<i128, 1024>(runs, prices),
        };
        let steps = self.record.steps();
        // Backwards: each step has recorded the origin of every ending place.
        self.path.clear();
        self.path.resize(steps + 1, last);
        for step in (0..steps).rev() {
            self.path[step] = self.record.before(step, self.path[step + 1]);
        }
        key
    }

    fn forward<K: CostKey, const L: usize>(
        &mut self,
        runs: &[Run],
        p: KeyPrices,
    ) -> (i128, ProcIndex) {
        self.record.clear(L);
        let mut procs = PlaceCosts::<K, L>::new(p, self.active.len());
        let (more, one) = (p.remote - p.one, p.one);
        let mut local = 0;
        for run in runs {
            let proc = self.proc_of[usize::from(run.processor())];
            if run.is_read_only() {
                procs.read(proc, run.references());
                continue;
            }
            let (writes, reads) = (run.cycle_writes(), run.cycle_reads());
            let mut extra = WriteExtra::References(writes);
            if run.repeats() > 1 {
                // In every cycle the writer stays where it is or refers remotely: a move is better
                // before the first cycle or after the last.
                let again = i128::from(run.repeats() - 1);
                let first = i128::from(writes) * more;
                extra = WriteExtra::Key(first + again * (first + p.extra(reads)));
                procs.add(again * i128::from(writes + reads) * one);
            }
            procs.write(WriteGroup { proc, extra }, &mut self.record);
            local += writes;
            if reads > 0 {
                procs.read(proc, reads);
            }
        }
        procs.add(i128::from(local) * one);
        procs.finish()
    }

    /// Calls `visit` for each step of the placement found by [`solve`](Self::solve).
    pub(crate) fn replay(&mut self, runs: &[Run], mut visit: impl FnMut(GroupStep<'_>)) {
        self.reads.clear();
        self.reads.resize(self.active.len(), 0);
        self.readers.clear();
        let (mut step, mut position) = (0, 0);
        for &run in runs {
            let proc = self.proc_of[usize::from(run.processor())];
            let mut at = position;
            position += run.references();
            let reads = if run.is_read_only() {
                run.references()
            } else {
                visit(GroupStep {
                    start: self.path[step],
                    end: self.path[step + 1],
                    readers: &self.readers,
                    reads: &self.reads,
                    writes: Some((proc, run, at)),
                });
                step += 1;
                for (proc, _) in self.readers.drain(..) {
                    self.reads[usize::from(proc)] = 0;
                }
                at = position - run.cycle_reads();
                run.cycle_reads()
            };
            if self.reads[usize::from(proc)] == 0 && reads > 0 {
                self.readers.push((proc, at));
            }
            self.reads[usize::from(proc)] += reads;
        }
        let last = self.path[step];
        let (readers, reads) = (&self.readers[..], &self.reads[..]);
        visit(GroupStep { start: last, end: last, readers, reads, writes: None });
    }
}

impl GroupStep<'_> {
    /// Whether reader `j` gets a copy: because that pays, or because the block is at `j` when it is
    /// written.
    pub(crate) fn replicates(&self, j: ProcIndex, prices: &KeyPrices) -> bool {
        j != self.start && (j == self.end || prices.copies(self.reads[usize::from(j)]))
    }

    pub(crate) fn record(&self, prices: &KeyPrices, active: &[ProcId], changes: &mut Changes) {
        let name = |proc: ProcIndex| active[usize::from(proc)];
        if changes.is_empty() {
            changes.set(0, vec![name(self.start)], false);
        }
        for &(j, at) in self.readers.iter().filter(|(j, _)| self.replicates(*j, prices)) {
            changes.add(at, Some(name(j)));
        }
        let Some((w, run, at)) = self.writes else { return };
        changes.set(at, vec![name(self.end)], false);
        if w == self.end || !prices.copies(run.cycle_reads()) {
            return;
        }
        let cycle = run.cycle_writes() + run.cycle_reads();
        for again in 1..run.repeats() {
            changes.add(at + again * cycle - run.cycle_reads(), Some(name(w)));
            changes.set(at + again * cycle, vec![name(self.end)], false);
        }
    }

    pub(crate) fn count(&self, prices: &KeyPrices, tally: &mut Tally) {
        let writer = self.writes.map(|(proc, ..)| proc);
        // Whether the write invalidates a copy that is neither the writer's nor the one that stays.
        let mut lost = self.start != self.end && Some(self.start) != writer;
        let mut changed = self.start != self.end;
        for &(j, _) in self.readers {
            let reads = self.reads[usize::from(j)];
            if self.replicates(j, prices) {
                tally.remote_moves += 1;
                tally.replications += 1;
                tally.faults += 1;
                lost |= j != self.end && Some(j) != writer;
                changed = true;
            }
            if j == self.start || self.replicates(j, prices) {
                tally.local_reads += reads;
            } else {
                tally.remote_reads += reads;
            }
        }
        let Some((w, run, _)) = self.writes else { return };
        let arrives = self.end != self.start && self.reads[usize::from(self.end)] == 0;
        tally.remote_moves += u64::from(arrives);
        tally.invalidations += u64::from(lost);
        // Copies beside the one at the end go now; a lone copy that was made by a read stays.
        tally.faults += u64::from(changed);
        if w == self.end {
            tally.local_writes += run.writes();
            tally.local_reads += run.reads() - run.cycle_reads();
            return;
        }
        tally.remote_writes += run.writes();
        let again = run.repeats() - 1;
        if prices.copies(run.cycle_reads()) {
            tally.remote_moves += again;
            tally.replications += again;
            tally.faults += 2 * again;
            tally.local_reads += again * run.cycle_reads();
        } else {
            tally.remote_reads += again * run.cycle_reads();
        }
    }
}
