//! What one thread has written in logical order, on its way to the merger.

use crate::area::SharedArea;
use crate::decode::Decoder;
use crate::item::DecodedItem;
use crate::ring::RingCursor;
use crate::wire::{CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, ORDERED_BIT, SYNC_BIT, code};

/// Of a reference that is ordered with those of others.
const OPERATION: u64 = 1 << SYNC_BIT | 1 << ORDERED_BIT;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Nothing has been read yet, and others may have to wait for it.
    Unknown,
    /// Nothing that the others have to wait for.
    Nothing,
    /// A plain reference.
    Reference,
    /// An event, or a reference that is ordered with those of others.
    Operation,
}

/// Records that have been read and not been taken, in their order.
#[derive(Debug, Default)]
struct RecordQueue {
    records: Vec<[u64; 2]>,
    next: usize,
    /// Where the plain references end that begin at `next`, as far as has been looked.
    plain_end: usize,
}

impl RecordQueue {
    fn len(&self) -> usize {
        self.records.len() - self.next
    }

    #[inline]
    fn get(&self, index: usize) -> Option<[u64; 2]> {
        self.records.get(self.next + index).copied()
    }

    /// Takes the next records; there are as many.
    #[inline]
    fn take(&mut self, count: usize) -> &[[u64; 2]] {
        let first = self.next;
        self.next += count;
        &self.records[first..self.next]
    }

    /// How many plain references come next.
    #[inline]
    fn plain(&mut self) -> usize {
        let from = self.plain_end.max(self.next);
        let is_plain = |words: &&[u64; 2]| words[0] & (1 << EVENT_BIT | OPERATION) == 0;
        self.plain_end = from + self.records[from..].iter().take_while(is_plain).count();
        self.plain_end - self.next
    }

    /// Gives the memory of taken records to those that come. It moves few of the others for each
    /// that was taken.
    fn make_room(&mut self) {
        if self.next >= self.records.len() / 2 {
            self.records.drain(..self.next);
            self.plain_end = self.plain_end.saturating_sub(self.next);
            self.next = 0;
        }
    }
}

/// The records of one thread that have been read and not been merged.
#[derive(Debug)]
pub struct ThreadStream {
    cursor: RingCursor,
    records: RecordQueue,
    decoder: Decoder,
    /// Whether all was read that was written.
    is_read: bool,
    /// Of the next record.
    clock: u64,
    /// Of what it writes next, at least; `None` while it runs.
    floor: Option<u64>,
    /// The quantum of its clock, and where that ends.
    turn: u64,
    turn_end: u64,
}

impl ThreadStream {
    /// The thread with this ring, at its beginning.
    pub fn new(ring: u32) -> Self {
        let (clock, turn, turn_end) = (0, 0, 0);
        let (cursor, records) = (RingCursor::new(ring), RecordQueue::default());
        let (decoder, is_read) = (Decoder::default(), false);
        Self { cursor, records, decoder, is_read, clock, floor: None, turn, turn_end }
    }

    /// The number of its ring.
    pub const fn ring(&self) -> u32 {
        self.cursor.ring()
    }

    /// Records that wait.
    pub fn waiting(&self) -> usize {
        self.records.len()
    }

    /// The quantum that its clock is in.
    pub const fn turn(&self) -> u64 {
        self.turn
    }

    /// Says with which clock it goes on at least after what it had written when that was read;
    /// `None` if it runs.
    pub fn set_floor(&mut self, floor: Option<u64>) {
        self.floor = floor.filter(|_| self.is_read);
    }

    /// Reads what has been written, unless `most` records wait already; returns the number of
    /// records. That is at most a block as long as not `all` must be read, so that what waits is
    /// still in the caches when it is merged.
    pub fn read(&mut self, area: &SharedArea, (all, most): (bool, usize)) -> usize {
        self.is_read = false;
        self.records.make_room();
        let records = &mut self.records.records;
        let mut read = 0;
        while all || read == 0 && records.len() < most {
            let count = self.cursor.read_block(area, records);
            read += count;
            self.is_read = count == 0 || !self.cursor.is_between_blocks(area);
            if self.is_read {
                break;
            }
        }
        read
    }

    /// What it does next; brings its clock and turn there. An event is in the turn of what was
    /// before it, unless the clock is told anew.
    #[inline]
    pub fn look(&mut self, (all, quantum): (bool, u64)) -> NextStep {
        let missing = if all { NextStep::Nothing } else { NextStep::Unknown };
        let Some([first, _]) = self.records.get(0) else {
            let Some(floor) = self.floor else { return missing };
            if all || floor == u64::MAX {
                return NextStep::Nothing;
            }
            self.turn_to(self.clock.max(floor), quantum);
            return NextStep::Unknown;
        };
        if first >> EVENT_BIT == 0 {
            if self.clock >= self.turn_end {
                self.turn_to(self.clock, quantum);
            }
            let operation = first & OPERATION != 0;
            return if operation { NextStep::Operation } else { NextStep::Reference };
        }
        if self.records.len() <= usize::from(byte(first >> EXTRA_SHIFT)) {
            return missing;
        }
        if byte(first >> CODE_SHIFT) & 0x7f == code::CLOCK
            && let Some([clock, _]) = self.records.get(1)
        {
            self.turn_to(clock & !(1 << EVENT_BIT), quantum);
        }
        NextStep::Operation
    }

    fn turn_to(&mut self, clock: u64, quantum: u64) {
        self.clock = clock;
        self.turn = clock / quantum;
        self.turn_end = (self.turn + 1).saturating_mul(quantum);
    }

    /// The next record, if it is a reference; its clock moves on.
    pub fn take_reference(&mut self) -> Option<[u64; 2]> {
        let words = self.records.get(0).filter(|[first, _]| first >> EVENT_BIT == 0)?;
        self.records.take(1);
        self.clock += 1;
        Some(words)
    }

    /// The next item, an event of which all records are there.
    pub fn take_event(&mut self) -> Option<DecodedItem> {
        let [first, _] = self.records.get(0)?;
        let records = self.records.take(1 + usize::from(byte(first >> EXTRA_SHIFT)));
        records.iter().map(|&words| self.decoder.take(words)).last().flatten()
    }

    /// The plain references that come next in its turn.
    #[inline]
    pub fn take_turn(&mut self) -> &[[u64; 2]] {
        let left = usize::try_from(self.turn_end - self.clock).unwrap_or(usize::MAX);
        let count = self.records.plain().min(left);
        self.clock += count as u64;
        self.records.take(count)
    }

    /// Whole turns that come next of plain references, with one more reference behind them, so that
    /// nothing else is in the last; 0 in the middle of a turn.
    #[inline]
    pub fn whole_turns(&mut self, quantum: u64) -> u64 {
        if self.turn_end - self.clock != quantum {
            return 0;
        }
        (self.records.plain() as u64).saturating_sub(1) / quantum
    }

    /// The references of so many [whole turns](Self::whole_turns), which come next.
    #[inline]
    pub fn take_whole_turns(&mut self, turns: u64, quantum: u64) -> &[[u64; 2]] {
        self.turn += turns;
        self.clock += turns * quantum;
        self.turn_end = self.clock + quantum;
        self.records.take(usize::try_from(turns * quantum).unwrap_or(0))
    }

    /// Its place in the order of turns, which ends with its number.
    #[inline]
    pub fn place(&self) -> u64 {
        self.turn.min((1 << 48) - 1) << 16 | u64::from(self.cursor.ring())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
const fn byte(word: u64) -> u8 {
    word as u8
}
