//! Counts references in words.

use crate::entry::{Entry, Transform};
use crate::output::TransformOutput;
use crate::param::TransformParam;
use homenode_trace::{Batch, TraceError, WordSize};

/// Replaces a reference that touches k words by k references of a word. Fetches and events stay.
pub const ENTRY: Entry = Entry {
    name: "words",
    summary: "count references in words: one that touches several words becomes one to each",
    source: "Bolosky 1993, section 4.1.2: a reference is a word",
    params: &[TransformParam {
        name: "word-bytes",
        default: "4",
        form: "W",
        doc: "bytes of a word, a power of two from 1 to 64",
    }],
    pieces: false,
    several: false,
    build: |values, _| {
        let text = values.text("word-bytes").unwrap_or_default();
        let word = text.parse().ok().and_then(WordSize::new).ok_or_else(|| {
            let most = WordSize::BYTES_MAX;
            values.error(format!(
                "word-bytes={text}: expected a power of two from 1 to {most}, such as 4"
            ))
        })?;
        Ok(Box::new(WordTransform { word, input: Batch::default(), done: 0 }))
    },
};

/// References split at a time; each may become 64.
const STEP: usize = 1 << 16;

struct WordTransform {
    word: WordSize,
    input: Batch,
    done: usize,
}

impl Transform for WordTransform {
    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError> {
        self.input.clone_from(input);
        self.done = 0;
        self.step(out);
        Ok(())
    }

    fn more(&mut self, out: &mut TransformOutput) -> bool {
        let more = self.done < self.input.len();
        if more {
            self.step(out);
        }
        more
    }
}

impl WordTransform {
    /// Emits the next references with the events before them; after the last reference, all
    /// remaining events.
    fn step(&mut self, out: &mut TransformOutput) {
        let rows = self.done..self.input.len().min(self.done + STEP);
        let last = rows.end == self.input.len();
        let mut part = slice(&self.input, &rows);
        let events = &mut self.input.events;
        let here = if last {
            events.len()
        } else {
            events.partition_point(|&(row, _)| (row as usize) < rows.end)
        };
        let begin = u32::try_from(rows.start).unwrap_or(u32::MAX);
        part.events.extend(events.drain(..here).map(|(row, event)| (row - begin, event)));
        self.word.split(&mut part);
        self.done = rows.end;
        out.batch(part);
    }
}

fn slice(batch: &Batch, rows: &std::ops::Range<usize>) -> Batch {
    fn part<T: Copy>(column: &[T], rows: &std::ops::Range<usize>) -> Vec<T> {
        column.get(rows.clone()).unwrap_or_default().to_vec()
    }
    Batch {
        first_time: batch.first_time,
        turns: batch.turns.slice(rows.clone()),
        kind: part(&batch.kind, rows),
        size: part(&batch.size, rows),
        addr: part(&batch.addr, rows),
        flags: part(&batch.flags, rows),
        pc: part(&batch.pc, rows),
        gap: part(&batch.gap, rows),
        pid: part(&batch.pid, rows),
        events: Vec::new(),
    }
}
