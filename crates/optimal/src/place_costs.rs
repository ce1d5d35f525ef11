//! The recurrence of the optimum with replication over the processors that refer to a block: arrays
//! with one element for each, which the compiler turns into vector instructions.

use crate::key::{CostKey, KeyPrices};

/// A processor that refers to the block: its position among those that do, in ascending order.
pub(crate) type ProcIndex = u16;

/// Decisions of the recurrence at each group of writes, for the way back: for each ending place
/// whether the block was there before, and else the place that it came from.
#[derive(Clone, Debug, Default)]
pub(crate) struct GroupDecision {
    /// One bit per processor index, `words` words per step.
    stays: Vec<u64>,
    from: Vec<ProcIndex>,
    words: usize,
}

impl GroupDecision {
    pub(crate) fn clear(&mut self, procs: usize) {
        self.stays.clear();
        self.from.clear();
        self.words = procs.div_ceil(64);
    }

    pub(crate) fn steps(&self) -> usize {
        self.from.len()
    }

    /// Where the block was before step `step` if it is at `proc` after it.
    pub(crate) fn before(&self, step: usize, proc: ProcIndex) -> ProcIndex {
        let word = self.stays[step * self.words + usize::from(proc / 64)];
        if word >> (proc % 64) & 1 != 0 { proc } else { self.from[step] }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteGroup {
    pub(crate) proc: ProcIndex,
    /// The additional cost of the group at a place other than the writer.
    pub(crate) extra: WriteExtra,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum WriteExtra {
    References(u64),
    Key(i128),
}

/// Cheapest cost of every ending place, relative to `base`.
///
/// With c_j reads by j since the last write, s the place before them, m the place at the write:
/// cost\[m\] := A + min(cost\[m\] - saved(m), min over s of (cost\[s\] - saved(s)) + pen(m)), where
/// a_j = min(c_j + R, r c_j), A their sum, saved(j) = a_j - c_j and pen(j) = R - saved(j)
/// (`docs/optimal.md`).
pub(crate) struct PlaceCosts<K, const L: usize> {
    cost: [K; L],
    /// saved(j); 0 where nothing has been read.
    saved: [K; L],
    reads: [u64; L],
    readers: Vec<ProcIndex>,
    /// Added to every cost.
    base: i128,
    /// Reads seen: each adds the price of a local reference to every cost.
    local: u64,
    prices: KeyPrices,
    moved: K,
    /// The price of a remote reference less that of a local one.
    more: K,
    /// The number of remote writes that cost 3R more than local ones, to which counts are clamped.
    far_from: u64,
}

impl<K: CostKey, const L: usize> PlaceCosts<K, L> {
    /// Free at any of the first `active` processors.
    pub(crate) fn new(prices: KeyPrices, active: usize) -> Self {
        let zero = K::of(0);
        // Unused elements are too expensive ever to be chosen, so loops need not know their number.
        let mut cost = [K::FAR; L];
        cost[..active].fill(zero);
        Self {
            cost,
            saved: [zero; L],
            reads: [0; L],
            readers: Vec::with_capacity(active),
            base: 0,
            local: 0,
            prices,
            moved: K::of(prices.moved),
            more: K::of(prices.remote - prices.one),
            far_from: prices.copy_from.saturating_mul(3),
        }
    }

    /// Whether the keys of these prices fit the key type: costs differ by at most 5R.
    pub(crate) fn fits(prices: &KeyPrices) -> bool {
        prices.moved < K::FAR.wide() / 8
    }

    pub(crate) fn read(&mut self, proc: ProcIndex, count: u64) {
        let reads = &mut self.reads[usize::from(proc)];
        if *reads == 0 {
            self.readers.push(proc);
        }
        *reads += count;
        self.local += count;
    }

    /// Ends the read-run: sets saved(j) and adds A to the base.
    fn settle(&mut self) {
        for &proc in &self.readers {
            let j = usize::from(proc);
            let reads = self.reads[j];
            let copies = self.prices.copies(reads);
            let saved = if copies { self.moved } else { self.more.times(reads) };
            self.base += saved.wide();
            self.saved[j] = saved;
        }
    }

    fn starts(&self) -> [K; L] {
        let mut starts = self.cost;
        for (start, &saved) in starts.iter_mut().zip(&self.saved) {
            *start = *start - saved;
        }
        starts
    }

    /// A group of writes, and the reads before it.
    ///
    /// Extra cost beyond 3R is cut off: the next read-run cannot start at such a place, and staying
    /// there does not pay, so the order of the others does not change.
    pub(crate) fn write(&mut self, writes: WriteGroup, record: &mut GroupDecision) {
        self.settle();
        let starts = self.starts();
        let (best, from) = cheapest(&starts);
        let most = self.moved + self.moved + self.moved;
        let extra = match writes.extra {
            WriteExtra::References(count) if count >= self.far_from => most,
            WriteExtra::References(count) => self.more.times(count).min(most),
            WriteExtra::Key(key) => K::of(key).min(most),
        };
        let enter = best + self.moved;
        for block in 0..L.div_ceil(64) {
            let procs = block * 64..L.min(block * 64 + 64);
            let mut stays = 0u64;
            for (bit, m) in procs.enumerate() {
                let stay = starts[m];
                let come = enter - self.saved[m];
                // Keys are integers: adding 1 where the place has the lower number settles ties. A
                // branch here would be mispredicted about as often as not.
                let keeps = stay < come + K::step(m <= usize::from(from));
                stays |= u64::from(keeps) << bit;
                // Relative to the cheapest start, so that narrow keys do not overflow.
                self.cost[m] = stay.min(come) - best + extra;
            }
            record.stays.push(stays);
        }
        record.from.push(from);
        let w = usize::from(writes.proc);
        self.cost[w] = self.cost[w] - extra;
        self.base += best.wide();
        for proc in self.readers.drain(..) {
            self.reads[usize::from(proc)] = 0;
            self.saved[usize::from(proc)] = K::of(0);
        }
    }

    /// Adds cost that arises at every place alike.
    pub(crate) fn add(&mut self, cost: i128) {
        self.base += cost;
    }

    /// Key of the cheapest placement of all, and where it has the block after the last write.
    pub(crate) fn finish(mut self) -> (i128, ProcIndex) {
        self.settle();
        let (best, from) = cheapest(&self.starts());
        let local = i128::from(self.local) * self.prices.one;
        (self.base + local + best.wide(), from)
    }
}

/// The cheapest place to start the read-run from, the lowest-numbered of several.
fn cheapest<K: CostKey, const L: usize>(starts: &[K; L]) -> (K, ProcIndex) {
    let best = starts.iter().fold(starts[0], |best, &start| best.min(start));
    let procs = (0..).zip(starts);
    let from = procs.fold(ProcIndex::MAX, |from, (proc, &start)| {
        from.min(if start == best { proc } else { ProcIndex::MAX })
    });
    (best, from)
}
