//! The turns of threads among consecutive references.

use std::ops::Range;

use crate::model::Event;

/// Which thread made each of some consecutive references: their turns, each as long as possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Each turn with its end instead of its length, so that the turn of a row is found by
    /// bisection.
    ends: Vec<TurnEnd>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TurnEnd {
    thread: u16,
    end: u32,
}

/// Consecutive rows of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadTurn {
    /// The thread.
    pub thread: u16,
    /// Its rows, at least one.
    pub rows: Range<usize>,
}

/// The turns among some rows, in order; the first and the last one are cut at the rows' ends.
#[derive(Clone, Debug)]
pub struct TurnsWithin<'a> {
    turns: &'a [TurnEnd],
    rows: Range<usize>,
}

/// A turn, or an event before the next row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchPart<'a> {
    /// Rows of one thread without an event between them.
    Turn(ThreadTurn),
    /// An event.
    Event(&'a Event),
}

impl Turns {
    /// Number of rows.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.ends.last().map_or(0, |last| last.end as usize)
    }

    /// Adds rows of a thread; adjacent rows of the same thread become one turn.
    ///
    /// # Panics
    /// When there are more than 2^32 - 1 rows.
    #[inline]
    pub fn add(&mut self, thread: u16, rows: usize) {
        let end = u32::try_from(self.rows() + rows).expect("a batch has at most 2^32 - 1 rows");
        match self.ends.last_mut() {
            Some(last) if last.thread == thread => last.end = end,
            Some(_) | None if rows == 0 => {}
            Some(_) | None => self.ends.push(TurnEnd { thread, end }),
        }
    }

    /// Replaces all turns by these, each the thread and the row after its last.
    #[inline]
    pub(crate) fn refill(&mut self, turns: impl Iterator<Item = (u16, u32)>) {
        self.ends.clear();
        self.ends.reserve(turns.size_hint().0);
        for (thread, end) in turns {
            match self.ends.last_mut() {
                Some(last) if last.thread == thread => last.end = end,
                Some(_) | None => self.ends.push(TurnEnd { thread, end }),
            }
        }
    }

    /// Adds a row of a thread.
    ///
    /// # Panics
    /// As [`Turns::add`].
    #[inline]
    pub fn push(&mut self, thread: u16) {
        self.add(thread, 1);
    }

    /// All turns, in order.
    #[must_use]
    pub fn iter(&self) -> TurnsWithin<'_> {
        TurnsWithin { turns: &self.ends, rows: 0..self.rows() }
    }

    /// The turns among these rows, in order. Cost: O(log n) for n turns, besides those returned.
    #[must_use]
    pub fn within(&self, rows: Range<usize>) -> TurnsWithin<'_> {
        TurnsWithin { turns: self.from(rows.start), rows }
    }

    /// The turns of these rows alone.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let mut turns = Self::default();
        self.within(rows).for_each(|turn| turns.add(turn.thread, turn.rows.len()));
        turns
    }

    /// The thread of a row. Cost: O(log n) for n turns.
    ///
    /// # Panics
    /// When there is no such row.
    #[must_use]
    pub fn thread(&self, row: usize) -> u16 {
        self.from(row)[0].thread
    }

    /// The thread of each row.
    pub fn threads(&self) -> impl Iterator<Item = u16> {
        self.row_by_row(0, |thread| thread)
    }

    /// For each row from this one to the last, what `of` gives for its thread, called once a turn:
    /// for work on many rows at a time, however short the turns are.
    #[inline]
    pub fn row_by_row<T: Copy + Default>(
        &self,
        first: usize,
        mut of: impl FnMut(u16) -> T,
    ) -> impl Iterator<Item = T> {
        let mut turns = self.from(first).iter();
        let (mut row, mut end, mut value) = (first, first, T::default());
        std::iter::from_fn(move || {
            if row == end {
                let turn = turns.next()?;
                (end, value) = (turn.end as usize, of(turn.thread));
            }
            row += 1;
            Some(value)
        })
    }

    fn from(&self, row: usize) -> &[TurnEnd] {
        &self.ends[self.ends.partition_point(|turn| turn.end as usize <= row)..]
    }

    /// The turns with events between them, in order: a turn is cut where an event comes. Each event
    /// has the row before which it happened.
    pub fn with_events<'a>(
        &'a self,
        events: &'a [(u32, Event)],
    ) -> impl Iterator<Item = BatchPart<'a>> {
        let mut turns = self.iter();
        let mut events = events.iter();
        std::iter::from_fn(move || {
            let before = events.as_slice().first().map_or(usize::MAX, |&(row, _)| row as usize);
            let turn = turns.next_before(before).map(BatchPart::Turn);
            turn.or_else(|| events.next().map(|(_, event)| BatchPart::Event(event)))
        })
    }

    /// Removes the rows from this one on.
    pub fn truncate(&mut self, rows: usize) {
        self.ends.truncate(self.ends.partition_point(|turn| (turn.end as usize) < rows) + 1);
        if rows == 0 {
            self.ends.clear();
        } else if let Some(last) = self.ends.last_mut() {
            last.end = last.end.min(u32::try_from(rows).unwrap_or(u32::MAX));
        }
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
    }
}

impl FromIterator<u16> for Turns {
    fn from_iter<T: IntoIterator<Item = u16>>(threads: T) -> Self {
        let mut turns = Self::default();
        threads.into_iter().for_each(|thread| turns.push(thread));
        turns
    }
}

impl TurnsWithin<'_> {
    /// The next turn, up to this row, if any of it comes before the row.
    #[inline]
    fn next_before(&mut self, row: usize) -> Option<ThreadTurn> {
        let end = self.rows.end.min(row);
        let (turn, rest) = self.turns.split_first()?;
        if self.rows.start >= end {
            return None;
        }
        let last = turn.end as usize;
        let rows = self.rows.start..end.min(last);
        if rows.end == last {
            self.turns = rest;
        }
        self.rows.start = rows.end;
        Some(ThreadTurn { thread: turn.thread, rows })
    }
}

impl Iterator for TurnsWithin<'_> {
    type Item = ThreadTurn;

    #[inline]
    fn next(&mut self) -> Option<ThreadTurn> {
        self.next_before(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EventKind;

    fn turns() -> Turns {
        [3, 3, 1, 1, 1, 3].into_iter().collect()
    }

    fn parts(turn: ThreadTurn) -> (u16, usize, usize) {
        (turn.thread, turn.rows.start, turn.rows.end)
    }

    #[test]
    fn turns_end_where_the_thread_changes_or_the_rows_end() {
        let within = |rows| -> Vec<_> { turns().within(rows).map(parts).collect() };
        assert_eq!(within(0..6), [(3, 0, 2), (1, 2, 5), (3, 5, 6)]);
        assert_eq!(within(1..4), [(3, 1, 2), (1, 2, 4)]);
        assert_eq!(within(4..4), []);
        assert_eq!(within(6..6), []);
    }

    #[test]
    fn rows_are_removed_within_a_turn_or_between_two() {
        for rows in 0..=7 {
            let mut cut = turns();
            cut.truncate(rows);
            assert_eq!(cut, turns().slice(0..rows.min(6)), "{rows} rows");
        }
    }

    #[test]
    fn rows_of_one_thread_are_one_turn_however_they_are_added() {
        let mut added = Turns::default();
        for (thread, rows) in [(3, 1), (3, 1), (7, 0), (1, 2), (1, 1), (3, 1)] {
            added.add(thread, rows);
        }
        assert_eq!(added, turns());
        assert_eq!(added.threads().collect::<Vec<_>>(), [3, 3, 1, 1, 1, 3]);
        assert!((0..6).map(|row| added.thread(row)).eq(added.threads()));
    }

    #[test]
    fn events_cut_turns() {
        let event = |row| (row, Event { thread: 0, what: EventKind::InitDone });
        let events = [event(0), event(4), event(4), event(5), event(9)];
        let turns = turns();
        let rows = turns.with_events(&events).map(|part| match part {
            BatchPart::Turn(turn) => (turn.rows.start, turn.rows.end),
            BatchPart::Event(_) => (9, 9),
        });
        let event = (9, 9);
        let expected = [event, (0, 2), (2, 4), event, event, (4, 5), event, (5, 6), event];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
    }
}
