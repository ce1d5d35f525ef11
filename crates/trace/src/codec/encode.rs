//! Encodes rows as streams while they come: the inverse of `decode`, and the choice of sites and
//! codes.

use homenode_base::put_varint;

use super::coder::{ByProgramCounter, SiteCoder};
use super::held::HeldRows;
use super::rows::{RowColumns, any, run_length};
use super::stream::{StreamPacker, StreamWriter};
use super::turns::Turn;
use super::{event, id, wide};
use crate::model::Event;

/// A chunk on its way to the file. Memory is kept from chunk to chunk.
#[derive(Default)]
pub(crate) struct ChunkEncoder {
    rows: usize,
    threads: ThreadList,
    /// Turns of threads, as yet by their place in `threads`.
    turns: Vec<Turn>,
    /// Whether a program counter has occurred; before, rows are held.
    has_pc: bool,
    held: HeldRows,
    coder: SiteCoder,
    gap: SparseColumn,
    pid: SparseColumn,
    gathered: Gathered,
}

/// The threads of a chunk in order of appearance, with their rows.
#[derive(Default)]
struct ThreadList {
    list: Vec<(u16, u32)>,
    /// By thread, one more than its place in `list`; 0 if it is not there.
    places: Vec<u32>,
}

/// A column that is mostly 0 in all rows.
#[derive(Default)]
struct SparseColumn(Vec<u32>);

/// Buffers for streams.
#[derive(Default)]
struct Gathered {
    slots: Vec<u8>,
    lengths: Vec<u8>,
    narrow: Vec<u8>,
    wide: Vec<[u8; 2]>,
    codes: Vec<u8>,
    events: Vec<u8>,
}

impl ChunkEncoder {
    /// Rows taken since [`clear`](Self::clear).
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Forgets the chunk.
    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.threads.clear();
        self.turns.clear();
        self.has_pc = false;
        self.held.clear();
        self.coder.clear();
        self.gap.0.clear();
        self.pid.0.clear();
    }

    /// Takes the next rows.
    pub(crate) fn take(&mut self, rows: &RowColumns<'_>) {
        let reference = &rows.reference;
        let count = reference.addr.len();
        if !self.has_pc && any(reference.pc) {
            self.has_pc = true;
            self.code_held(false);
        }
        let mut at = 0;
        while at < count {
            let slot = self.threads.slot(reference.traits[at].thread());
            let length = if self.has_pc {
                self.coder.turn(slot, (reference, at..count), &ByProgramCounter)
            } else {
                let length = run_length(&rows.thread[at..]);
                self.held.push(slot, &reference.part(at..at + length));
                length
            };
            self.note_turn(slot, self.rows + at, length);
            at += length;
        }
        self.gap.push(self.rows, rows.gap);
        self.pid.push(self.rows, rows.pid);
        self.rows += count;
    }

    fn note_turn(&mut self, slot: usize, row: usize, rows: usize) {
        self.threads.list[slot].1 += u32::try_from(rows).unwrap_or(u32::MAX);
        let more = |last: &mut Turn| last.extend(slot, rows);
        if !self.turns.last_mut().is_some_and(more) {
            self.turns.extend(Turn::new(slot, row, rows));
        }
    }

    /// Codes the rows that were held: without program counters if they are `all` of a chunk, or as
    /// having 0 for one.
    #[cold]
    fn code_held(&mut self, all: bool) {
        let (rows, counted) = self.held.rows();
        for turn in &self.turns {
            let (mut at, end) = (turn.range().start, turn.range().end);
            while at < end {
                let part = (&rows, at..end);
                at += if all {
                    self.coder.turn(turn.slot(), part, counted)
                } else {
                    self.coder.turn(turn.slot(), part, &ByProgramCounter)
                };
            }
        }
        self.held.clear();
    }

    /// Threads with rows and how many, by thread.
    pub(crate) fn table(&self) -> Vec<(u16, u32)> {
        let mut table = self.threads.list.clone();
        table.sort_unstable();
        table
    }

    /// Appends the streams of the rows and events to `out`; `table` is that of the rows.
    pub(crate) fn finish(
        &mut self,
        table: &[(u16, u32)],
        events: &[(u32, Event)],
        packer: &mut StreamPacker,
        out: &mut Vec<u8>,
    ) {
        if !self.has_pc {
            self.code_held(true);
        }
        let place = |&(thread, _): &(u16, u32)| table.partition_point(|entry| entry.0 < thread);
        let places: Vec<usize> = self.threads.list.iter().map(place).collect();
        self.turns.iter_mut().for_each(|turn| turn.rename(&places));
        let Self { coder, gathered, gap, pid, rows, turns, .. } = self;
        gathered.turns(turns, table.len());
        let is_narrow = gathered.rows(&places, coder);
        let mut streams = StreamWriter::new(packer);
        streams.put(id::TURNS, &gathered.slots);
        streams.put(id::LENGTHS, &gathered.lengths);
        if is_narrow {
            streams.put(id::SITES, &gathered.narrow);
        } else {
            streams.put(id::WIDE_SITES, gathered.wide.as_flattened());
        }
        streams.put(id::CODES, &gathered.codes);
        streams.put(id::DIFFERENCES, coder.differences.written());
        streams.put(id::FIRST_USES, &coder.first_uses);
        streams.put(id::DEFINITIONS, &coder.definitions);
        wide::put_gaps(gap.complete(*rows), turns, table, &mut streams);
        wide::put_pids(pid.complete(*rows), turns, table, &mut streams);
        gathered.events.clear();
        event::encode(events, &mut gathered.events);
        streams.put_dense(id::EVENTS, &gathered.events);
        streams.finish(out);
    }
}

impl ThreadList {
    fn clear(&mut self) {
        for (thread, _) in self.list.drain(..) {
            self.places[usize::from(thread)] = 0;
        }
    }

    /// The place of a thread, which may be new.
    #[inline]
    fn slot(&mut self, thread: u16) -> usize {
        match self.places.get(usize::from(thread)) {
            Some(&place) if place != 0 => place as usize - 1,
            _ => self.add(thread),
        }
    }

    #[cold]
    fn add(&mut self, thread: u16) -> usize {
        let at = usize::from(thread);
        self.places.resize(self.places.len().max(at + 1), 0);
        self.list.push((thread, 0));
        self.places[at] = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.len() - 1
    }
}

impl SparseColumn {
    /// Adds values after those of `rows` rows.
    fn push(&mut self, rows: usize, values: &[[u8; 4]]) {
        if self.0.is_empty() && !any(values) {
            return;
        }
        self.0.resize(rows, 0);
        self.0.extend(values.iter().map(|&bytes| u32::from_le_bytes(bytes)));
    }

    /// The column: all rows, or none if all are 0.
    fn complete(&mut self, rows: usize) -> &[u32] {
        if !self.0.is_empty() {
            self.0.resize(rows, 0);
        }
        &self.0
    }
}

impl Gathered {
    fn turns(&mut self, turns: &[Turn], threads: usize) {
        self.slots.clear();
        self.lengths.clear();
        let mut before = 0;
        for turn in turns {
            let mut step = turn.slot() + threads - before;
            if step >= threads {
                step -= threads;
            }
            put_varint(&mut self.slots, step as u64);
            put_varint(&mut self.lengths, turn.len() as u64);
            before = turn.slot();
        }
    }

    /// Brings the rows of all threads together; `places` has the place in the thread table of each
    /// of the coder's. Returns whether a byte holds each site's number.
    fn rows(&mut self, places: &[usize], coder: &SiteCoder) -> bool {
        let mut slots: Vec<usize> = (0..places.len()).collect();
        slots.sort_unstable_by_key(|&slot| places[slot]);
        let narrow = |&slot: &usize| coder.rows(slot).0.iter().fold(0, |bits, n| bits | n) <= 255;
        let is_narrow = slots.iter().all(narrow);
        self.codes.clear();
        self.narrow.clear();
        self.wide.clear();
        for slot in slots {
            let (numbers, codes) = coder.rows(slot);
            self.codes.extend_from_slice(codes);
            if is_narrow {
                self.narrow.extend(numbers.iter().map(|number| number.to_le_bytes()[0]));
            } else {
                self.wide.extend(numbers.iter().map(|number| number.to_le_bytes()));
            }
        }
        is_narrow
    }
}
