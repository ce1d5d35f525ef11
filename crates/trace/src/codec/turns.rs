//! The turns of threads: most streams have the rows of one thread together.

use std::ops::Range;

/// Where the rows of each thread begin, for a thread table.
pub(super) fn starts(table: &[(u16, u32)]) -> Vec<usize> {
    let mut next = 0;
    table
        .iter()
        .map(|&(_, rows)| {
            let start = next;
            next += rows as usize;
            start
        })
        .collect()
}

/// One turn: a thread (its slot in the table) and its consecutive rows. Four-byte numbers, as there
/// are as many turns as rows when threads alternate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    slot: u32,
    row: u32,
    rows: u32,
}

impl Turn {
    /// A turn, or `None` if a number does not fit; rows of a chunk always do.
    pub(super) fn new(slot: usize, row: usize, rows: usize) -> Option<Self> {
        let [slot, row, rows] = [slot, row, rows].map(|number| u32::try_from(number).ok());
        Some(Self { slot: slot?, row: row?, rows: rows? })
    }

    /// Slot of the thread in the table.
    pub(super) const fn slot(self) -> usize {
        self.slot as usize
    }

    /// Number of rows.
    pub(super) const fn len(self) -> usize {
        self.rows as usize
    }

    /// The rows in trace order.
    pub(super) const fn range(self) -> Range<usize> {
        self.row as usize..self.row as usize + self.rows as usize
    }
}

/// The turns of a column of threads.
pub(super) fn turns(threads: &[u16], table: &[(u16, u32)]) -> Vec<Turn> {
    let mut out = Vec::new();
    let mut row = 0;
    for group in threads.chunk_by(|a, b| a == b) {
        let slot = table.partition_point(|&(thread, _)| thread < group[0]);
        out.extend(Turn::new(slot, row, group.len()));
        row += group.len();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_follow_the_threads() {
        let table = [(3, 3), (9, 1)];
        let found = turns(&[3, 3, 9, 3], &table);
        let expected = [(0, 0, 2), (1, 2, 1), (0, 3, 1)];
        let expected = expected.map(|(slot, row, rows)| Turn { slot, row, rows });
        assert_eq!(found, expected);
        assert_eq!(starts(&table), [0, 3]);
    }
}
