//! Which processes wait for the end of another, known before the trace says so.
//!
//! A trace has a join when it is over. A simulation that does not know that a process only waits
//! cannot go on without its next operation, which may be at the end of the trace: everything up to
//! there would have to be kept. So the joins are found beforehand, from the order of the rows.

use std::collections::VecDeque;

use homenode_trace::{ChunkOutline, EventKind};

/// A process waits for another one's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ForeseenJoin {
    /// The number of rows of the trace among which all is that the process does before.
    pub(super) after: u64,
    /// The process that it waits for.
    pub(super) child: u16,
}

/// Finds the joins of all processes, from the outlines of all chunks in order.
#[derive(Debug)]
pub struct JoinForecast {
    /// Rows of the chunks so far.
    rows: u64,
    /// For each process the number of rows among which its last one, or last event, is.
    last: Vec<u64>,
    pub(super) joins: Vec<VecDeque<ForeseenJoin>>,
}

impl JoinForecast {
    /// For so many processes.
    #[must_use]
    pub fn new(processes: usize) -> Self {
        Self { rows: 0, last: vec![0; processes], joins: vec![VecDeque::new(); processes] }
    }

    /// Adds the next chunk.
    pub fn add(&mut self, outline: &ChunkOutline) {
        let mut turns = outline.turns.iter().copied();
        let mut turn: Option<(u16, u32)> = None;
        let mut row = 0;
        for (at, event) in &outline.events {
            // The rows before the event.
            while row < *at {
                let Some((thread, rows)) = turn.take().or_else(|| turns.next()) else { break };
                let taken = rows.min(at - row);
                row += taken;
                self.did(thread, self.rows + u64::from(row));
                turn = (taken < rows).then_some((thread, rows - taken));
            }
            let process = usize::from(event.thread);
            if process >= self.last.len() {
                continue;
            }
            if let EventKind::ThreadJoin { child } = event.what {
                let after = self.last[process];
                self.joins[process].push_back(ForeseenJoin { after, child });
            }
            self.did(event.thread, self.rows + u64::from(*at) + 1);
        }
        for (thread, rows) in turn.into_iter().chain(turns) {
            row += rows;
            self.did(thread, self.rows + u64::from(row));
        }
        self.rows += u64::from(row);
    }

    fn did(&mut self, thread: u16, rows: u64) {
        if let Some(last) = self.last.get_mut(usize::from(thread)) {
            *last = rows;
        }
    }
}

#[cfg(test)]
mod tests {
    use homenode_trace::Event;

    use super::*;

    #[test]
    fn a_join_is_foreseen_after_the_last_row_or_event_before_it() {
        let join =
            |at, thread, child| (at, Event { thread, what: EventKind::ThreadJoin { child } });
        let mut forecast = JoinForecast::new(3);
        let release = Event { thread: 2, what: EventKind::LockRelease { addr: 8 } };
        let turns = vec![(0, 4), (1, 2), (2, 1)];
        forecast.add(&ChunkOutline { turns, events: vec![join(2, 0, 1), (6, release)] });
        let turns = vec![(1, 3), (0, 1)];
        forecast.add(&ChunkOutline { turns, events: vec![join(1, 2, 1), join(3, 0, 1)] });
        let after = |process: usize| {
            let joins = forecast.joins[process].iter();
            joins.map(|join| join.after).collect::<Vec<_>>()
        };
        assert_eq!(after(0), [2, 4]);
        assert_eq!(after(1), [0; 0]);
        assert_eq!(after(2), [7]);
    }
}
