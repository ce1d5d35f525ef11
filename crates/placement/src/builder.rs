//! From references to histories, in one pass over the trace.

use homenode_base::{AccessKind, BlockSize, ProcId, ReferenceFilter, ReferenceRole, Time};
use homenode_trace::{Batch, DenseIndex, ThreadTurn};

use crate::history::{Histories, HistoryTotals, Run};
use crate::references::{OutsideReferences, ReferenceColumns};
use crate::runs::{PARTS, RunLists, UnsortedHistories};

/// Indices of blocks, with a cache of the blocks that were used lately.
type BlockMap = DenseIndex<1024>;

/// Index of a block that belongs to another shard.
const ELSEWHERE: u32 = BlockMap::UNWANTED;

/// Bytes a run needs at the peak: in the list with its block index, and in its final place.
const RUN_BYTES: u64 = 32;

/// The same if the histories are taken part by part.
const RUN_BYTES_IN_PARTS: u64 = 16 + 16 / PARTS as u64;

/// Bytes a block needs: open run, number, map entry, offset.
const BLOCK_BYTES: u64 = 160;

/// Shards are not halved more often than this; a shard that is still too large has few blocks.
const SHARD_BITS_MAX: u32 = 16;

/// A part of the blocks: those whose hashed number has `index` as its last `bits` bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shard {
    /// Which part, below 2^`bits`.
    pub index: u32,
    /// How often the set of all blocks has been halved to obtain this part.
    pub bits: u32,
}

impl Shard {
    /// Whether the block is in this part.
    #[must_use]
    pub fn holds(self, block: u64) -> bool {
        let hash = block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        hash & ((1 << self.bits) - 1) == u64::from(self.index)
    }

    /// The two halves of this part; the first has the same index.
    #[must_use]
    pub fn halves(self) -> (Self, Self) {
        let bits = self.bits + 1;
        (Self { index: self.index, bits }, Self { index: self.index | 1 << self.bits, bits })
    }
}

/// The histories to build.
#[derive(Clone, Debug)]
pub struct HistoryOptions {
    /// The unit of placement.
    pub block_size: BlockSize,
    /// Thread i runs on processor i modulo this; at least 1.
    pub processors: u16,
    /// Which references to take into account.
    pub filter: ReferenceFilter,
    /// Runs end at every multiple of each of these, see [`crate::Policy::split_period`].
    pub split_periods: Vec<u64>,
    /// Which blocks to take.
    pub shard: Shard,
    /// Bytes of memory above which the shard is halved; the other half needs another pass.
    pub memory_budget_bytes: u64,
}

impl HistoryOptions {
    /// Histories of all references, of whole traces, with runs of any length, whatever memory they
    /// take.
    #[must_use]
    pub fn new(block_size: BlockSize, processors: u16) -> Self {
        Self {
            block_size,
            processors,
            filter: ReferenceFilter::default(),
            split_periods: Vec::new(),
            shard: Shard::default(),
            memory_budget_bytes: u64::MAX,
        }
    }
}

/// The references of a history whose Time must be exact: each of them begins a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Times {
    /// The first of every visit, and its first write after a read: what [`Run`] promises.
    #[default]
    Visits,
    /// Also the first read of every visit, even after writes.
    FirstReads,
    /// All: the references of a run are consecutive in Time, so that reference i is made at the
    /// run's Time plus i. Histories are several times as long.
    All,
}

/// A visit of one processor to a block that has not ended yet.
#[derive(Clone, Copy)]
struct OpenVisit {
    /// Period between splits in the upper 48 bits, processor in the lower 16.
    tag: u64,
    /// Time of the first reference of the repeated cycle.
    time: Time,
    /// Time of the first reference of the current cycle.
    cycle_time: Time,
    /// Time of the last reference; kept with [`Times::All`] only.
    last_time: Time,
    /// How often the cycle before the current one has been seen; 0: none yet.
    repeats: u32,
    writes: u16,
    reads: u16,
    cycle_writes: u16,
    cycle_reads: u16,
}

/// Collects histories from batches given in Time order.
pub struct HistoryBuilder {
    options: HistoryOptions,
    roles: [ReferenceRole; 256],
    /// The index of every block, in order of first reference.
    map: BlockMap,
    open: Vec<OpenVisit>,
    runs: RunLists,
    run_bytes: u64,
    given_up: Vec<Shard>,
    period: u64,
    period_end: Time,
    times: Times,
    totals: HistoryTotals,
}

impl OpenVisit {
    /// Ends the current cycle: either it repeats the one before, or that one becomes a run.
    fn end_cycle(&mut self, index: u32, runs: &mut RunLists) {
        // A loop makes the same writes and reads again and again: counting cycles keeps its run
        // short.
        let same = self.cycle_writes == self.writes && self.cycle_reads == self.reads;
        if self.repeats > 0 && same && self.repeats < u32::MAX {
            self.repeats += 1;
            return;
        }
        if self.repeats > 0 {
            runs.push(index, self.run());
        }
        self.time = self.cycle_time;
        self.writes = self.cycle_writes;
        self.reads = self.cycle_reads;
        self.repeats = 1;
    }

    fn begin_cycle(&mut self, time: Time, write: bool) {
        self.cycle_time = time;
        self.cycle_writes = u16::from(write);
        self.cycle_reads = u16::from(!write);
    }

    fn begin_visit(tag: u64, time: Time, write: bool) -> Self {
        let mut open = Self {
            tag,
            time,
            cycle_time: time,
            last_time: time,
            repeats: 0,
            writes: 0,
            reads: 0,
            cycle_writes: 0,
            cycle_reads: 0,
        };
        open.begin_cycle(time, write);
        open
    }

    /// Whether the Time of this reference must be exact although it continues the visit. Only the
    /// first read of a visit follows a cycle without reads.
    fn begins_run(&mut self, times: Times, time: Time, write: bool) -> bool {
        let last = std::mem::replace(&mut self.last_time, time);
        match times {
            Times::Visits => false,
            Times::FirstReads => !write && self.reads == 0 && self.cycle_reads == 0,
            Times::All => time != last + 1,
        }
    }

    fn run(&self) -> Run {
        let [low, high, ..] = self.tag.to_le_bytes();
        let processor = ProcId::from_le_bytes([low, high]);
        Run::new(self.time, processor, self.repeats, self.writes, self.reads)
    }

    #[inline]
    fn extend(&mut self, time: Time, write: bool, index: u32, runs: &mut RunLists) {
        // A write after a read begins a cycle, and so does the overflow of a count.
        let count = if write {
            if self.cycle_reads > 0 { None } else { self.cycle_writes.checked_add(1) }
        } else {
            self.cycle_reads.checked_add(1)
        };
        match count {
            Some(n) if write => self.cycle_writes = n,
            Some(n) => self.cycle_reads = n,
            None => {
                self.end_cycle(index, runs);
                self.begin_cycle(time, write);
            }
        }
    }
}

impl HistoryBuilder {
    /// A builder without references.
    ///
    /// # Panics
    /// When there are no processors or a split period is 0.
    #[must_use]
    pub fn new(options: HistoryOptions) -> Self {
        assert!(options.processors > 0, "at least one processor");
        assert!(options.split_periods.iter().all(|&p| p > 0), "split periods are positive");
        let roles = options.filter.roles(AccessKind::Read);
        let period_end = next_split(&options.split_periods, 0);
        Self {
            options,
            roles,
            map: BlockMap::default(),
            open: Vec::new(),
            runs: RunLists::default(),
            run_bytes: RUN_BYTES,
            given_up: Vec::new(),
            period: 0,
            period_end,
            times: Times::Visits,
            totals: HistoryTotals::default(),
        }
    }

    /// Keeps more Times than a run needs. Must be called before the first batch.
    #[must_use]
    pub fn with_times(mut self, times: Times) -> Self {
        self.times = times;
        self
    }

    /// Adds the references of a batch. Batches come in Time order.
    pub fn push(&mut self, batch: &Batch) {
        if self.times == Times::Visits {
            self.rows::<false>(batch);
        } else {
            self.rows::<true>(batch);
        }
    }

    fn rows<const FINER: bool>(&mut self, batch: &Batch) {
        let rows = batch.len();
        let (kinds, sizes) = (&batch.kind[..rows], &batch.size[..rows]);
        let (addrs, flags) = (&batch.addr[..rows], batch.flags.get(..rows));
        let first_shard = self.options.shard.index == 0;
        let block_size = self.options.block_size;
        let mut next_time = batch.first_time;
        for ThreadTurn { thread, rows } in batch.turns.iter() {
            let processor = thread % self.options.processors;
            for row in rows {
                let kind = kinds[row];
                if kind == AccessKind::Fetch.code() {
                    continue;
                }
                // Time counts data references, so fetches do not advance it but skipped references
                // do.
                let time = next_time;
                next_time += 1;
                let role = self.roles[flags.map_or(0, |f| usize::from(f[row]))];
                if role == ReferenceRole::Excluded {
                    continue;
                }
                let write = kind != AccessKind::Read.code();
                let (first, last) = block_size.blocks_touched(addrs[row], sizes[row]).into_inner();
                self.totals.references += u64::from(first_shard);
                if role == ReferenceRole::Private {
                    self.totals.outside_references += u64::from(first_shard);
                    self.count_outside(first_shard, write, last - first + 1);
                    continue;
                }
                self.reference::<FINER>(first, last, processor, time, write);
            }
        }
        self.fit();
    }

    /// Adds references that are all part of histories.
    ///
    /// # Panics
    /// When the columns are not of equal length.
    pub fn push_references(&mut self, references: &ReferenceColumns<'_>) {
        if self.times == Times::Visits {
            self.columns::<false>(references);
        } else {
            self.columns::<true>(references);
        }
    }

    fn columns<const FINER: bool>(&mut self, columns: &ReferenceColumns<'_>) {
        let rows = columns.time.len();
        let (processors, writes) = (&columns.processor[..rows], &columns.write[..rows]);
        let (sizes, addrs) = (&columns.size[..rows], &columns.addr[..rows]);
        let block_size = self.options.block_size;
        for row in 0..rows {
            let (first, last) = block_size.blocks_touched(addrs[row], sizes[row]).into_inner();
            self.reference::<FINER>(first, last, processors[row], columns.time[row], writes[row]);
        }
        self.totals.references += if self.options.shard.index == 0 { rows as u64 } else { 0 };
        self.fit();
    }

    /// Adds references that are counted as local.
    pub fn push_outside(&mut self, outside: &OutsideReferences) {
        if self.options.shard.index == 0 {
            self.totals.references += outside.references();
            self.totals.outside_references += outside.references();
            self.totals.outside += &outside.tally(self.options.block_size);
        }
    }

    #[inline]
    fn reference<const FINER: bool>(
        &mut self,
        first: u64,
        last: u64,
        processor: ProcId,
        time: Time,
        write: bool,
    ) {
        // The period is part of the tag, so that a visit ends at every split without a test per
        // block.
        if time >= self.period_end {
            self.period += 1;
            self.period_end = next_split(&self.options.split_periods, time);
        }
        let tag = self.period << 16 | u64::from(processor);
        // The first block comes before the loop: few references touch a second one.
        let mut block = first;
        self.access::<FINER>(block, tag, time, write);
        while block < last {
            block += 1;
            self.access::<FINER>(block, tag, time, write);
        }
    }

    /// Gives up halves of the shard until the rest fits the budget.
    fn fit(&mut self) {
        while self.bytes() > self.options.memory_budget_bytes {
            if !self.halve() {
                break;
            }
        }
    }

    /// Adds one reference to one block, without the filter; references come in Time order. For
    /// callers that choose block by block, and keep within the budget themselves.
    #[inline]
    pub fn push_block(&mut self, block: u64, processor: ProcId, write: bool, time: Time) {
        if self.times == Times::Visits {
            self.reference::<false>(block, block, processor, time, write);
        } else {
            self.reference::<true>(block, block, processor, time, write);
        }
    }

    /// Counts a private reference to this number of blocks as local.
    fn count_outside(&mut self, first_shard: bool, write: bool, blocks: u64) {
        if first_shard {
            self.totals.outside.local_writes += if write { blocks } else { 0 };
            self.totals.outside.local_reads += if write { 0 } else { blocks };
        }
    }

    #[inline]
    fn access<const FINER: bool>(&mut self, block: u64, tag: u64, time: Time, write: bool) {
        let shard = self.options.shard;
        let index = self.map.number(block, || shard.holds(block));
        if index == ELSEWHERE {
            return;
        }
        let Some(open) = usize::try_from(index).ok().and_then(|i| self.open.get_mut(i)) else {
            // Indices are dense, so the first one beyond the open visits is a new block's.
            self.open.push(OpenVisit::begin_visit(tag, time, write));
            return;
        };
        if open.tag == tag {
            if FINER && open.begins_run(self.times, time, write) {
                open.end_cycle(index, &mut self.runs);
                self.runs.push(index, open.run());
                *open = OpenVisit::begin_visit(tag, time, write);
                return;
            }
            open.extend(time, write, index, &mut self.runs);
        } else {
            open.end_cycle(index, &mut self.runs);
            self.runs.push(index, open.run());
            *open = OpenVisit::begin_visit(tag, time, write);
        }
    }

    /// An estimate of the memory the finished histories will have needed at the peak.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        count(self.runs.len()) * self.run_bytes + count(self.open.len()) * BLOCK_BYTES
    }

    /// Gives up half of the blocks; returns false if that is no longer possible.
    fn halve(&mut self) -> bool {
        if self.options.shard.bits == SHARD_BITS_MAX || self.open.len() < 2 {
            return false;
        }
        let (keep, drop) = self.options.shard.halves();
        self.options.shard = keep;
        self.given_up.push(drop);
        let new_index = self.map.retain(|b| keep.holds(b));
        let mut indices = new_index.iter();
        self.open.retain(|_| indices.next().is_some_and(|&i| i != ELSEWHERE));
        // All runs of a block are in one list, which keeps their order.
        for list in std::mem::take(&mut self.runs).0 {
            list.drain(|index, run| {
                let index = usize::try_from(index).map_or(ELSEWHERE, |i| new_index[i]);
                if index != ELSEWHERE {
                    self.runs.push(index, run);
                }
            });
        }
        true
    }

    /// The histories, and the shards that were given up and need a pass of their own.
    #[must_use]
    pub fn finish(self) -> (Histories, Vec<Shard>) {
        let (mut closed, given_up) = self.close();
        (closed.take_all(), given_up)
    }

    /// Declares that the histories will be taken [part by part](Self::close), which needs less
    /// memory, so that more of them fit the budget.
    #[must_use]
    pub fn in_parts(self) -> Self {
        Self { run_bytes: RUN_BYTES_IN_PARTS, ..self }
    }

    /// Changes the budget from now on.
    pub fn allow(&mut self, memory_budget_bytes: u64) {
        self.options.memory_budget_bytes = memory_budget_bytes;
    }

    /// Discards everything collected and frees its memory.
    pub fn give_up(&mut self) {
        *self = Self::new(self.options.clone()).with_times(self.times);
    }

    /// Ends the collection; the histories can be taken part by part. Also returns the shards that
    /// were given up and need a pass of their own.
    #[must_use]
    pub fn close(mut self) -> (UnsortedHistories, Vec<Shard>) {
        for (index, open) in (0u32..).zip(&mut self.open) {
            open.end_cycle(index, &mut self.runs);
            self.runs.push(index, open.run());
        }
        self.open = Vec::new();
        let closed = UnsortedHistories {
            block_size: self.options.block_size,
            processors: self.options.processors,
            numbers: self.map.into_keys(),
            runs: self.runs,
            totals: self.totals,
        };
        (closed, self.given_up)
    }
}

/// The smallest multiple of any period above `time`.
fn next_split(periods: &[u64], time: Time) -> Time {
    let next = periods.iter().map(|&p| (time / p + 1).saturating_mul(p));
    next.min().unwrap_or(Time::MAX)
}
