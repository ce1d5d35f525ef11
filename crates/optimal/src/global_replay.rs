//! What the optimum with global memory does, step by step: its counts and its changes of place.

use homenode_base::ProcId;
use homenode_placement::{Run, Tally};

use crate::change::Changes;
use crate::global::{Cycles, GlobalPrices, Solution, Way, steps};
use crate::lanes::Lane;

/// What happened between two groups of writes and at the second of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GlobalStep<'a> {
    start: Lane,
    end: Lane,
    way: Way,
    /// Who reads and the position of the first read in the history, in order.
    readers: &'a [(Lane, u64)],
    reads: &'a [u64],
    /// The writer, its cycles and the position of the first write; `None` after the last write.
    writes: Option<(Lane, Cycles, u64)>,
    /// Lane of global memory.
    global: Lane,
    prices: &'a GlobalPrices,
}

/// Walks the placement of a solution.
pub(crate) fn replay(
    runs: &[Run],
    (solution, prices): (&Solution, &GlobalPrices),
    (active, lane_of): (usize, impl Fn(ProcId) -> Lane),
    mut visit: impl FnMut(GlobalStep<'_>),
) {
    let global = Lane::try_from(active).unwrap_or(Lane::MAX);
    let mut path = solution.path.iter().copied();
    let mut here = path.next().unwrap_or((global, Way::Global));
    let mut reads = vec![0; active];
    let mut readers: Vec<(Lane, u64)> = Vec::new();
    let mut position = 0;
    for &run in runs {
        let lane = lane_of(run.processor());
        for cycles in steps(run, prices) {
            if cycles.writes > 0 {
                let next = path.next().unwrap_or((global, Way::Global));
                visit(GlobalStep {
                    start: here.0,
                    end: next.0,
                    way: here.1,
                    readers: &readers,
                    reads: &reads,
                    writes: Some((lane, cycles, position)),
                    global,
                    prices,
                });
                here = next;
                for (lane, _) in readers.drain(..) {
                    reads[usize::from(lane)] = 0;
                }
            }
            position += (cycles.writes + cycles.reads) * cycles.repeats;
            if reads[usize::from(lane)] == 0 && cycles.reads > 0 {
                readers.push((lane, position - cycles.reads));
            }
            reads[usize::from(lane)] += cycles.reads;
        }
    }
    let ((start, way), readers, reads) = (here, &readers[..], &reads[..]);
    visit(GlobalStep { start, end: start, way, readers, reads, writes: None, global, prices });
}

impl GlobalStep<'_> {
    /// Whether reader `j` gets a copy.
    fn copies(&self, j: Lane) -> bool {
        let reads = self.reads[usize::from(j)];
        let pays = match self.way {
            Way::Remote => self.prices.copies_remote(reads),
            Way::Joined | Way::Global => self.prices.copies_global(reads),
        };
        j != self.start && (j == self.end || pays)
    }

    /// Whether the first read brings a global copy.
    fn joins(&self) -> bool {
        self.way == Way::Joined && !self.readers.is_empty()
    }

    /// Counts this step's events.
    pub(crate) fn count(&self, tally: &mut Tally) {
        let writer = self.writes.map(|(lane, ..)| lane);
        let moves = |tally: &mut Tally, count: u64| match self.way {
            Way::Remote => tally.remote_moves += count,
            Way::Joined | Way::Global => tally.global_moves += count,
        };
        let leaves = self.start != self.end;
        let mut lost = leaves && self.start != self.global && Some(self.start) != writer;
        let mut changed = leaves || self.joins();
        moves(tally, u64::from(self.joins()));
        tally.faults += u64::from(self.joins());
        for (i, &(j, _)) in self.readers.iter().enumerate() {
            let reads = self.reads[usize::from(j)];
            let copies = self.copies(j);
            if copies {
                moves(tally, 1);
                tally.replications += 1;
                tally.faults += u64::from(i > 0 || !self.joins());
                lost |= j != self.end && Some(j) != writer;
                changed = true;
            }
            match self.way {
                _ if copies || j == self.start => tally.local_reads += reads,
                Way::Remote => tally.remote_reads += reads,
                Way::Joined | Way::Global => tally.global_reads += reads,
            }
        }
        let Some((w, cycles, _)) = self.writes else { return };
        let arrived = if self.end == self.global {
            self.joins()
        } else {
            self.reads[usize::from(self.end)] > 0
        };
        moves(tally, u64::from(leaves && !arrived));
        tally.invalidations += u64::from(lost);
        tally.faults += u64::from(changed);
        self.count_cycles(w, cycles, tally);
    }

    /// Counts the writes, and the reads between them.
    fn count_cycles(&self, w: Lane, cycles: Cycles, tally: &mut Tally) {
        let again = cycles.repeats - 1;
        let (writes, reads) = (cycles.writes * cycles.repeats, cycles.reads * again);
        if w == self.end {
            tally.local_writes += writes;
            tally.local_reads += reads;
            return;
        }
        let in_global = self.end == self.global;
        *if in_global { &mut tally.global_writes } else { &mut tally.remote_writes } += writes;
        let visit = self.visit(cycles.reads);
        if visit.joins || visit.copies {
            tally.faults += 2 * again;
        }
        tally.replications += if visit.copies { again } else { 0 };
        let moves = again * (u64::from(visit.joins) + u64::from(visit.copies));
        let with_global = in_global || visit.joins;
        *if with_global { &mut tally.global_moves } else { &mut tally.remote_moves } += moves;
        if visit.copies {
            tally.local_reads += reads;
        } else if with_global {
            tally.global_reads += reads;
        } else {
            tally.remote_reads += reads;
        }
    }

    /// How the writer's reads between two of its writes are served while the block's home is
    /// elsewhere.
    fn visit(&self, reads: u64) -> Visit {
        if self.end == self.global {
            return Visit { joins: false, copies: self.prices.copies_global(reads) };
        }
        let joins = self.prices.visits_global(reads);
        let copies =
            if joins { self.prices.copies_global(reads) } else { self.prices.copies_remote(reads) };
        Visit { joins, copies }
    }

    /// Writes this step's changes of place down.
    pub(crate) fn record(&self, active: &[ProcId], changes: &mut Changes) {
        let place = |lane: Lane| active.get(usize::from(lane)).copied();
        let only = |changes: &mut Changes, at: u64, lane: Lane| {
            changes.set(at, place(lane).into_iter().collect(), lane == self.global);
        };
        if changes.is_empty() {
            only(changes, 0, self.start);
        }
        if let Some(&(_, at)) = self.readers.first().filter(|_| self.joins()) {
            changes.add(at, None);
        }
        for &(j, at) in self.readers.iter().filter(|(j, _)| self.copies(*j)) {
            changes.add(at, place(j));
        }
        let Some((w, cycles, at)) = self.writes else { return };
        only(changes, at, self.end);
        let visit = self.visit(cycles.reads);
        if w == self.end || !visit.joins && !visit.copies {
            return;
        }
        let length = cycles.writes + cycles.reads;
        for again in 1..cycles.repeats {
            let read = at + again * length - cycles.reads;
            if visit.joins {
                changes.add(read, None);
            }
            if visit.copies {
                changes.add(read, place(w));
            }
            only(changes, at + again * length, self.end);
        }
    }
}

/// Copies made for reads between two writes.
#[derive(Clone, Copy, Debug)]
struct Visit {
    /// A global one.
    joins: bool,
    /// One for the reader.
    copies: bool,
}
