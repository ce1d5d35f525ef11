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

    /// Adds rows to it, if they are of the same thread and follow; returns whether.
    pub(super) fn extend(&mut self, slot: usize, rows: usize) -> bool {
        let is_same = self.slot() == slot;
        if is_same {
            self.rows += u32::try_from(rows).unwrap_or(0);
        }
        is_same
    }

    /// Gives its thread another slot, that at the old one in `slots`.
    pub(super) fn rename(&mut self, slots: &[usize]) {
        self.slot = u32::try_from(slots[self.slot()]).unwrap_or(u32::MAX);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_thread_begin_after_those_before_it() {
        assert_eq!(starts(&[(3, 3), (9, 1)]), [0, 3]);
    }
}
