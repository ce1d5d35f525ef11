//! The turns of threads. Most streams store the rows of each thread consecutively.

use std::ops::Range;

/// Index of the first row of each thread of a thread table.
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

/// Consecutive rows of one thread. Fields are 32 bits, because alternating threads make as many
/// turns as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    slot: u32,
    row: u32,
    rows: u32,
}

impl Turn {
    /// A turn, or `None` if a number exceeds 32 bits; rows of a chunk never do.
    pub(super) fn new(slot: usize, row: usize, rows: usize) -> Option<Self> {
        let [slot, row, rows] = [slot, row, rows].map(|number| u32::try_from(number).ok());
        Some(Self { slot: slot?, row: row?, rows: rows? })
    }

    /// Appends the next rows if they belong to the same thread; returns whether they do.
    pub(super) fn extend(&mut self, slot: usize, rows: usize) -> bool {
        let is_same = self.slot() == slot;
        if is_same {
            self.rows += u32::try_from(rows).unwrap_or(0);
        }
        is_same
    }

    pub(super) fn rename(&mut self, slots: &[usize]) {
        self.slot = u32::try_from(slots[self.slot()]).unwrap_or(u32::MAX);
    }

    pub(super) const fn slot(self) -> usize {
        self.slot as usize
    }

    pub(super) const fn len(self) -> usize {
        self.rows as usize
    }

    /// The row after its last.
    pub(super) const fn end(self) -> u32 {
        self.row + self.rows
    }

    pub(super) const fn range(self) -> Range<usize> {
        self.row as usize..self.row as usize + self.rows as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_thread_follow_those_of_the_previous_thread() {
        assert_eq!(starts(&[(3, 3), (9, 1)]), [0, 3]);
    }
}
