//! The records of one thread in logical order, between its ring and the merger.

use crate::area::SharedArea;
use crate::decode::Decoder;
use crate::item::DecodedItem;
use crate::ring::RingCursor;
use crate::wire::{CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, ORDERED_BIT, SYNC_BIT, WITHIN_BIT, code};

/// Bits of a reference that is ordered with those of other threads.
const OPERATION: u64 = 1 << SYNC_BIT | 1 << ORDERED_BIT;

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Not read yet; the other threads wait for it.
    Unknown,
    /// Nothing that the other threads wait for.
    Nothing,
    /// A plain reference.
    Reference,
    /// An event, or a reference that is ordered with those of other threads.
    Operation,
}

/// Records that have been read and not taken, in order.
#[derive(Debug, Default)]
struct RecordQueue {
    records: Vec<[u64; 2]>,
    next: usize,
    /// End of the plain references known to begin at `next`.
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

    /// Takes the next `count` records, which must be there.
    #[inline]
    fn take(&mut self, count: usize) -> &[[u64; 2]] {
        let first = self.next;
        self.next += count;
        &self.records[first..self.next]
    }

    /// The number of plain references that come next.
    #[inline]
    fn plain(&mut self) -> usize {
        let from = self.plain_end.max(self.next);
        let is_plain = |words: &&[u64; 2]| words[0] & (1 << EVENT_BIT | OPERATION) == 0;
        self.plain_end = from + self.records[from..].iter().take_while(is_plain).count();
        self.plain_end - self.next
    }

    /// Frees the memory of taken records. Moves at most one record for each that was taken.
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
    /// Whether all records written so far have been read.
    is_read: bool,
    /// Clock of the next record.
    clock: u64,
    /// Least clock of what it writes next; `None` while it runs.
    floor: Option<u64>,
    /// Number of the present turn, and the clock at its end.
    turn: u64,
    turn_end: u64,
}

impl ThreadStream {
    /// At the beginning of ring number `ring`.
    pub fn new(ring: u32) -> Self {
        let (clock, turn, turn_end) = (0, 0, 0);
        let (cursor, records) = (RingCursor::new(ring), RecordQueue::default());
        let (decoder, is_read) = (Decoder::default(), false);
        Self { cursor, records, decoder, is_read, clock, floor: None, turn, turn_end }
    }

    /// Number of the ring, and of the thread.
    pub const fn ring(&self) -> u32 {
        self.cursor.ring()
    }

    /// Number of records read and not merged.
    pub fn waiting(&self) -> usize {
        self.records.len()
    }

    /// Number of the present turn: the clock in quanta.
    pub const fn turn(&self) -> u64 {
        self.turn
    }

    /// Sets the least clock of what it writes next, valid if all records have been read; `None` if
    /// it runs.
    pub fn set_floor(&mut self, floor: Option<u64>) {
        self.floor = floor.filter(|_| self.is_read);
    }

    /// Reads records unless `most` wait already; returns their number. Unless `all` must be read it
    /// reads at most a block, so that the records are still in the caches when they are merged.
    pub fn read(&mut self, area: &SharedArea, all: bool, most: usize) -> usize {
        self.is_read = false;
        self.records.make_room();
        let mut read = 0;
        while all || read == 0 && self.records.len() < most {
            let count = self.cursor.read_block(area, &mut self.records.records);
            read += count;
            self.is_read = count == 0 || !self.cursor.is_between_blocks(area);
            if self.is_read {
                break;
            }
        }
        read
    }

    /// What it does next; advances clock and turn to that. An event is in the turn of the record
    /// before it, unless a clock record is between.
    #[inline]
    pub fn look(&mut self, all: bool, quantum: u64) -> NextStep {
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
            if self.clock >= self.turn_end && first >> WITHIN_BIT & 1 == 0 {
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

    /// Takes the next record if it is a reference, and advances the clock if that is counted.
    pub fn take_reference(&mut self) -> Option<[u64; 2]> {
        let words = self.records.get(0).filter(|[first, _]| first >> EVENT_BIT == 0)?;
        self.records.take(1);
        self.clock += !words[0] >> WITHIN_BIT & 1;
        Some(words)
    }

    /// Takes the next item, an event of which all records are there.
    pub fn take_event(&mut self) -> Option<DecodedItem> {
        let [first, _] = self.records.get(0)?;
        let records = self.records.take(1 + usize::from(byte(first >> EXTRA_SHIFT)));
        records.iter().map(|&words| self.decoder.take(words)).last().flatten()
    }

    /// Takes the plain references that come next in its turn.
    #[inline]
    pub fn take_turn(&mut self) -> &[[u64; 2]] {
        let left = usize::try_from(self.turn_end - self.clock).unwrap_or(usize::MAX);
        let count = self.records.plain().min(left);
        self.clock += count as u64;
        self.records.take(count)
    }

    /// The number of whole turns of plain references that come next; 0 in the middle of a turn. One
    /// more reference must follow, as an event after the last reference would be in its turn.
    #[inline]
    pub fn whole_turns(&mut self, quantum: u64) -> u64 {
        if self.turn_end - self.clock != quantum {
            return 0;
        }
        (self.records.plain() as u64).saturating_sub(1) / quantum
    }

    /// Takes the references of the next `turns` [whole turns](Self::whole_turns).
    #[inline]
    pub fn take_whole_turns(&mut self, turns: u64, quantum: u64) -> &[[u64; 2]] {
        self.turn += turns;
        self.clock += turns * quantum;
        self.turn_end = self.clock + quantum;
        self.records.take(usize::try_from(turns * quantum).unwrap_or(0))
    }

    /// Its place in the order of turns; the low 16 bits are its number.
    #[inline]
    pub fn place(&self) -> u64 {
        self.turn.min((1 << 48) - 1) << 16 | u64::from(self.cursor.ring())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low byte is what is wanted")]
const fn byte(word: u64) -> u8 {
    word as u8
}
