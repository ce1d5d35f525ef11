//! The sharing map: which processor references which part of the address space, and how often.

use homenode_base::BlockSize;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::objects::Names;

/// Most rows of the map of [`crate::worst_blocks`].
pub(crate) const ROWS_MAX: usize = 512;

/// References by address and processor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharingMap {
    /// Bytes a row covers: a power of two, the smallest for which the rows are few enough.
    pub row_bytes: u64,
    /// The rows with references, by address.
    pub rows: Vec<MapRow>,
}

/// One row: consecutive addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MapRow {
    /// First address, in hexadecimal.
    pub address: String,
    /// Name of the object at its first referenced address.
    pub object: String,
    /// Reads by each processor.
    pub reads: Vec<u64>,
    /// Writes and atomics by each processor.
    pub writes: Vec<u64>,
}

struct RowCounts {
    first: u64,
    reads: Vec<u64>,
    writes: Vec<u64>,
}

pub(crate) struct MapBuilder {
    shift: u32,
    rows_max: usize,
    processors: usize,
    rows: FxHashMap<u64, usize>,
    counts: Vec<RowCounts>,
    /// The row referenced last, with its index: most references are to the same row again.
    latest: (u64, usize),
}

impl MapBuilder {
    /// A row covers one block at first; there are at most `rows_max` rows, at least one.
    pub(crate) fn new(block_size: BlockSize, processors: u16, rows_max: usize) -> Self {
        Self {
            shift: block_size.bytes().trailing_zeros(),
            rows_max: rows_max.max(1),
            processors: usize::from(processors),
            rows: FxHashMap::default(),
            counts: Vec::new(),
            latest: (u64::MAX, 0),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, addr: u64, processor: usize, write: bool) {
        let row = addr >> self.shift;
        let index = if self.latest.0 == row { self.latest.1 } else { self.index(row, addr) };
        let counts = &mut self.counts[index];
        counts.first = counts.first.min(addr);
        let column = if write { &mut counts.writes } else { &mut counts.reads };
        column[processor] += 1;
    }

    fn index(&mut self, row: u64, addr: u64) -> usize {
        let (mut row, processors) = (row, self.processors);
        while !self.rows.contains_key(&row) && self.rows.len() >= self.rows_max {
            self.coarsen();
            row >>= 1;
        }
        let counts = &mut self.counts;
        let index = *self.rows.entry(row).or_insert_with(|| {
            let none = vec![0; processors];
            counts.push(RowCounts { first: addr, reads: none.clone(), writes: none });
            counts.len() - 1
        });
        self.latest = (row, index);
        index
    }

    fn coarsen(&mut self) {
        self.shift += 1;
        let mut old: Vec<(u64, usize)> = self.rows.drain().collect();
        old.sort_unstable();
        let mut counts: Vec<Option<RowCounts>> = self.counts.drain(..).map(Some).collect();
        for (row, index) in old {
            let Some(more) = counts[index].take() else { continue };
            if let Some(&into) = self.rows.get(&(row >> 1)) {
                let sum = &mut self.counts[into];
                for (a, b) in sum.reads.iter_mut().zip(more.reads) {
                    *a += b;
                }
                for (a, b) in sum.writes.iter_mut().zip(more.writes) {
                    *a += b;
                }
            } else {
                self.rows.insert(row >> 1, self.counts.len());
                self.counts.push(more);
            }
        }
        self.latest = (u64::MAX, 0);
    }

    /// Bits of an address within a row, and the numbers of all rows in order.
    pub(crate) fn layout(&self) -> (u32, Vec<u64>) {
        let mut rows: Vec<u64> = self.rows.keys().copied().collect();
        rows.sort_unstable();
        (self.shift, rows)
    }

    pub(crate) fn finish(self, names: &Names<'_>) -> SharingMap {
        let mut rows: Vec<(u64, usize)> = self.rows.into_iter().collect();
        rows.sort_unstable();
        let mut counts: Vec<Option<RowCounts>> = self.counts.into_iter().map(Some).collect();
        let rows = rows.into_iter().filter_map(|(row, index)| {
            let counts = counts[index].take()?;
            Some(MapRow {
                address: format!("0x{:x}", row << self.shift),
                object: names.object_of(names.group(counts.first)).label(),
                reads: counts.reads,
                writes: counts.writes,
            })
        });
        SharingMap { row_bytes: 1 << self.shift, rows: rows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_trace::Metadata;

    #[test]
    fn rows_double_until_they_are_few_and_lose_nothing() {
        let mut map = MapBuilder::new(BlockSize::new(64).unwrap(), 2, ROWS_MAX);
        for i in 0..10_000u64 {
            map.add(0x10_0000 + i * 64, usize::from(i % 3 == 0), i % 5 == 0);
        }
        let metadata = Metadata::default();
        let map = map.finish(&Names::new(&metadata));
        assert_eq!(map.row_bytes, 2048, "10,000 blocks of 64 bytes in at most 512 rows");
        assert_eq!(map.rows.len(), 313);
        assert_eq!(map.rows[0].address, "0x100000");
        let sum = |pick: fn(&MapRow) -> &[u64]| {
            map.rows.iter().map(|row| pick(row).iter().sum::<u64>()).sum::<u64>()
        };
        assert_eq!((sum(|row| &row.reads), sum(|row| &row.writes)), (8_000, 2_000));
        assert!(map.rows.windows(2).all(|pair| pair[0].address < pair[1].address));
    }
}
