//! Reads the rings: one in deterministic order, one a thread in free order. `logical.rs` reads
//! those of logical order.

use crate::area::SharedArea;
use crate::decode::Decoder;
use crate::item::{DecodedItem, ItemSink};
use crate::wire::at;

/// The reading end of one ring: where its next record is.
#[derive(Debug, Default)]
pub struct RingCursor {
    ring: u32,
    next: usize,
}

impl RingCursor {
    /// The beginning of ring number `ring`.
    #[must_use]
    pub const fn new(ring: u32) -> Self {
        Self { ring, next: 0 }
    }

    /// The number of the ring.
    #[must_use]
    pub const fn ring(&self) -> u32 {
        self.ring
    }

    /// Whether the next record begins a block.
    pub const fn is_between_blocks(&self, area: &SharedArea) -> bool {
        self.next.is_multiple_of(area.geometry().block_records as usize)
    }

    /// Appends the records written so far to `records`, at most to the end of a block; returns
    /// their number.
    pub fn read_block(&mut self, area: &SharedArea, records: &mut Vec<[u64; 2]>) -> usize {
        let block = area.geometry().block_records as usize;
        let end = (self.next / block + 1) * block;
        let taken = area.take(self.ring, self.next..end, records);
        self.next += taken;
        if self.next == end {
            area.give_back(self.ring);
            self.next %= area.geometry().ring_records();
        }
        taken
    }
}

/// Reads and decodes one ring.
#[derive(Debug, Default)]
pub struct RingReader {
    cursor: RingCursor,
    decoder: Decoder,
    records: Vec<[u64; 2]>,
}

impl RingReader {
    /// The reader of ring number `ring`, at its beginning.
    #[must_use]
    pub fn new(ring: u32) -> Self {
        Self { cursor: RingCursor::new(ring), ..Self::default() }
    }

    /// Decodes the records written so far, at most one revolution of the ring; returns their
    /// number.
    pub fn drain(&mut self, area: &SharedArea, sink: &mut impl ItemSink) -> usize {
        let mut taken = 0;
        for _ in 0..area.geometry().ring_blocks {
            self.records.clear();
            match self.cursor.read_block(area, &mut self.records) {
                0 => break,
                some => taken += some,
            }
            self.decoder.take_all(&self.records, sink);
        }
        taken
    }
}

/// Merges the rings of free order by the sequence numbers in them.
///
/// Before the rings are read, the last number given out is noted. Items with numbers up to it
/// cannot depend on items that are yet to be read from another ring, because an acquiring operation
/// takes a new number. They are emitted in order; the others wait for the next round.
#[derive(Debug, Default)]
pub struct RingMerger {
    rings: Vec<RingReader>,
    stamps: Vec<u64>,
    waiting: Vec<(u64, Vec<DecodedItem>)>,
}

impl RingMerger {
    /// Reads all rings once; returns the number of records. With `all`, keeps no items for the next
    /// round.
    pub fn drain(&mut self, area: &SharedArea, all: bool, sink: &mut impl ItemSink) -> usize {
        let safe = if all { u64::MAX } else { area.get64(at::STAMP) };
        for ring in u32::try_from(self.rings.len()).unwrap_or(u32::MAX)..area.rings_used() {
            self.rings.push(RingReader::new(ring));
            self.stamps.push(0);
        }
        let mut taken = 0;
        for (reader, stamp) in self.rings.iter_mut().zip(&mut self.stamps) {
            let mut segment = Vec::new();
            let waiting = &mut self.waiting;
            taken += reader.drain(area, &mut |found| match found {
                DecodedItem::Stamp(next) => {
                    waiting.push((*stamp, std::mem::take(&mut segment)));
                    *stamp = next;
                }
                found @ (DecodedItem::Access(_)
                | DecodedItem::Event(..)
                | DecodedItem::Alloc(_)
                | DecodedItem::Map { .. }
                | DecodedItem::Start { .. }
                | DecodedItem::System(..)
                | DecodedItem::Fact(..)
                | DecodedItem::Clock { .. }
                | DecodedItem::Sync(..)
                | DecodedItem::Private { .. }) => segment.push(found),
            });
            self.waiting.push((*stamp, segment));
        }
        // Stable: a thread's own segments stay in order.
        self.waiting.sort_by_key(|(stamp, _)| *stamp);
        let ready = self.waiting.partition_point(|(stamp, _)| *stamp <= safe);
        self.waiting.drain(..ready).flat_map(|(_, items)| items).for_each(|item| sink.item(item));
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::area::RingGeometry;
    use crate::wire::{CODE_SHIFT, EVENT_BIT, EXTRA_SHIFT, SIZE_SHIFT, THREAD_SHIFT, code};

    const SMALL: RingGeometry =
        RingGeometry { rings: 2, ring_blocks: 2, block_records: 4, stack_words: 0 };

    fn reference(thread: u64, addr: u64) -> [u64; 2] {
        [addr | (4 << SIZE_SHIFT), thread << THREAD_SHIFT]
    }

    fn addresses(items: &[DecodedItem]) -> Vec<u64> {
        items
            .iter()
            .filter_map(|item| if let DecodedItem::Access(a) = item { Some(a.addr) } else { None })
            .collect()
    }

    /// The child side, simulated: writes until the ring is full, and on when blocks come back.
    #[test]
    fn blocks_are_given_back_as_they_are_read() {
        let area = SharedArea::new(SMALL).unwrap();
        let mut reader = RingReader::new(0);
        let mut seen = Vec::new();
        for round in 0..5_u64 {
            for i in 0..8 {
                area.put(0, i, reference(0, 0x1000 + round * 8 + i as u64));
            }
            assert_eq!(reader.drain(&area, &mut |item| seen.push(item)), 8);
            assert_eq!(
                area.get(crate::wire::RING_LINES_AT),
                2 * (u32::try_from(round).unwrap() + 1)
            );
        }
        assert_eq!(addresses(&seen), (0x1000..0x1028).collect::<Vec<_>>());
    }

    #[test]
    fn what_a_killed_writer_left_is_read_up_to_the_first_empty_record() {
        let area = SharedArea::new(SMALL).unwrap();
        let mut reader = RingReader::new(0);
        for i in 0..3 {
            area.put(0, i, reference(0, 0x40 + i as u64));
        }
        // Killed between the two stores of the fourth record: word 0 is written last.
        let mut seen = Vec::new();
        assert_eq!(reader.drain(&area, &mut |item| seen.push(item)), 3);
        assert_eq!(addresses(&seen), [0x40, 0x41, 0x42]);
    }

    fn stamp(area: &SharedArea, ring: u32, index: usize, number: u64) {
        let event = 1 << EVENT_BIT;
        let head = event | (u64::from(code::STAMP) << CODE_SHIFT) | (1 << EXTRA_SHIFT);
        area.put(ring, index, [head, u64::from(ring) << THREAD_SHIFT]);
        area.put(ring, index + 1, [event | number, 0]);
    }

    #[test]
    fn rings_are_merged_by_their_stamps() {
        let area = SharedArea::new(SMALL).unwrap();
        area.set(at::RINGS_USED, 2);
        stamp(&area, 0, 0, 1);
        area.put(0, 2, reference(0, 0xa0));
        stamp(&area, 0, 3, 4);
        area.put(0, 5, reference(0, 0xa1));
        stamp(&area, 1, 0, 2);
        area.put(1, 2, reference(1, 0xb0));
        stamp(&area, 1, 3, 3);
        area.put(1, 5, reference(1, 0xb1));
        area.set(at::STAMP, 3);
        let mut merger = RingMerger::default();
        let mut seen = Vec::new();
        assert_eq!(merger.drain(&area, false, &mut |item| seen.push(item)), 12);
        assert_eq!(addresses(&seen), [0xa0, 0xb0, 0xb1]);
        area.put(1, 6, reference(1, 0xb2));
        assert_eq!(merger.drain(&area, true, &mut |item| seen.push(item)), 1);
        assert_eq!(addresses(&seen), [0xa0, 0xb0, 0xb1, 0xb2, 0xa1]);
    }
}
