//! Encodes rows as streams, incrementally: the inverse of `decode`, with the choice of sites and
//! codes.

use homenode_base::put_varint;

use super::coder::SiteCoder;
use super::counted::CountedSites;
use super::rows::{BLOCK_ROWS, RowColumns, any};
use super::stream::{StreamPacker, StreamWriter};
use super::thread::{INSTRUCTIONS, MADE_UP, SCATTERED};
use super::turns::Turn;
use super::{event, id, wide};
use crate::model::Event;

/// Threads alternate if turns have fewer rows than this on average.
const ALTERNATING: usize = 4;
/// Rows with this many bytes of differences on average are hardly predictable.
const SCATTERED_BYTES: usize = 2;
/// Blocks after a block of such rows that are coded without a search for predictions.
const SCATTERED_BLOCKS: usize = 15;

#[derive(Default)]
pub(crate) struct ChunkEncoder {
    rows: usize,
    threads: ThreadList,
    /// Turns, by the position of the thread in `threads`.
    turns: Vec<Turn>,
    /// Whether a program counter has occurred; until then sites are chosen as in `made_up`.
    has_pc: bool,
    /// Number of next blocks whose rows are expected to be unpredictable.
    scattered: usize,
    coder: SiteCoder,
    /// With more effort, the alternative encoding of a chunk that begins without program counters.
    counted: Option<CountedSites>,
    gap: SparseColumn,
    pid: SparseColumn,
    gathered: Gathered,
}

/// The threads of a chunk in order of appearance, with their row counts.
#[derive(Default)]
struct ThreadList {
    list: Vec<(u16, u32)>,
    /// By thread, one more than its position in `list`; 0 if it is absent.
    places: Vec<u32>,
}

/// A column that is mostly 0 in all rows.
#[derive(Default)]
struct SparseColumn(Vec<u32>);

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
    /// An encoder; with `effort` it tries two encodings where that may save bytes.
    pub(crate) fn new(effort: bool) -> Self {
        Self { counted: effort.then(CountedSites::default), ..Self::default() }
    }

    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn clear(&mut self) {
        self.rows = 0;
        self.threads.clear();
        self.turns.clear();
        self.has_pc = false;
        self.scattered = 0;
        self.coder.clear();
        self.counted.iter_mut().for_each(CountedSites::clear);
        self.gap.0.clear();
        self.pid.0.clear();
    }

    pub(crate) fn take(&mut self, rows: &RowColumns<'_>) {
        let reference = &rows.reference;
        if !self.has_pc && any(reference.pc) {
            self.has_pc = true;
            self.coder.forget_names();
        }
        if let Some(counted) = &mut self.counted
            && (!self.has_pc || counted.rows() > 0)
        {
            counted.hold(reference);
        }
        if self.has_pc {
            self.take_rows::<INSTRUCTIONS>(rows);
        } else {
            self.take_without_pc(rows);
        }
        self.gap.push(self.rows, rows.gap);
        self.pid.push(self.rows, rows.pid);
        self.rows += reference.addr.len();
    }

    /// Takes rows without program counters and decides whether to search for predictions in the
    /// next block.
    fn take_without_pc(&mut self, rows: &RowColumns<'_>) {
        let before = self.coder.differences.written().len();
        if self.scattered > 0 {
            self.take_alternating::<SCATTERED>(rows);
        } else {
            self.take_rows::<MADE_UP>(rows);
        }
        let bytes = self.coder.differences.written().len() - before;
        self.scattered = match self.scattered {
            _ if bytes < SCATTERED_BYTES * rows.thread.len() => 0,
            0 => SCATTERED_BLOCKS,
            left => left - 1,
        };
    }

    fn take_rows<const BY: u8>(&mut self, rows: &RowColumns<'_>) {
        let (reference, count) = (&rows.reference, rows.thread.len());
        let pairs = rows.thread.iter().zip(rows.thread.get(1..).unwrap_or_default());
        let changes: usize = pairs.map(|(thread, next)| usize::from(thread != next)).sum();
        if changes > count / ALTERNATING {
            self.take_alternating::<BY>(rows);
            return;
        }
        let mut at = 0;
        while at < count {
            let slot = self.threads.slot(reference.traits[at].thread());
            let length = self.coder.turn::<BY>(slot, reference, at..count);
            self.note_turn(slot, self.rows + at, length);
            at += length;
        }
    }

    /// Takes rows of threads with short turns, without a branch on the end of a turn, which would
    /// be hard to predict.
    fn take_alternating<const BY: u8>(&mut self, rows: &RowColumns<'_>) {
        let mut starts = [0u16; BLOCK_ROWS + 1];
        let small = |row: usize| u16::try_from(row).unwrap_or(0);
        let (mut turns, mut before) = (0, None);
        for (row, thread) in rows.thread.iter().enumerate() {
            starts[turns] = small(row);
            turns += usize::from(before != Some(thread));
            before = Some(thread);
            let slot = self.threads.slot(u16::from_le_bytes(*thread));
            self.coder.row::<BY>(slot, &rows.reference, row);
        }
        starts[turns] = small(rows.thread.len());
        for turn in starts[..=turns].windows(2) {
            let turn = [turn[0], turn[1]].map(usize::from);
            let slot = self.threads.slot(u16::from_le_bytes(rows.thread[turn[0]]));
            self.note_turn(slot, self.rows + turn[0], turn[1] - turn[0]);
        }
    }

    fn note_turn(&mut self, slot: usize, row: usize, rows: usize) {
        self.threads.list[slot].1 += u32::try_from(rows).unwrap_or(u32::MAX);
        let more = |last: &mut Turn| last.extend(slot, rows);
        if !self.turns.last_mut().is_some_and(more)
            && let Some(turn) = Turn::new(slot, row, rows)
        {
            self.turns.push(turn);
        }
    }

    /// Threads with rows and their row counts, ordered by thread.
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
        let place = |&(thread, _): &(u16, u32)| table.partition_point(|entry| entry.0 < thread);
        let places: Vec<usize> = self.threads.list.iter().map(place).collect();
        let Self { coder, counted, gathered, gap, pid, rows, turns, has_pc, .. } = self;
        let counted = counted.as_mut().filter(|counted| counted.rows() > 0);
        let other = counted.map(|counted| counted.code(turns, *has_pc));
        turns.iter_mut().for_each(|turn| turn.rename(&places));
        gathered.turns(turns, table.len());
        gathered.events.clear();
        event::encode(events, &mut gathered.events);
        let mut put = |coder: &SiteCoder, out: &mut Vec<u8>| {
            let mut streams = StreamWriter::new(packer);
            gathered.put_rows(&places, coder, &mut streams);
            wide::put_gaps(gap.complete(*rows), turns, table, &mut streams);
            wide::put_pids(pid.complete(*rows), turns, table, &mut streams);
            streams.put_dense(id::EVENTS, &gathered.events);
            streams.finish(out);
        };
        let start = out.len();
        put(coder, out);
        if let Some(other) = other {
            let end = out.len();
            put(other, out);
            if out.len() - end < end - start {
                out.drain(start..end);
            } else {
                out.truncate(end);
            }
        }
    }
}

impl ThreadList {
    fn clear(&mut self) {
        for (thread, _) in self.list.drain(..) {
            self.places[usize::from(thread)] = 0;
        }
    }

    /// The position of a thread, which may be new.
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
    fn push(&mut self, rows: usize, values: &[[u8; 4]]) {
        if self.0.is_empty() && !any(values) {
            return;
        }
        self.0.resize(rows, 0);
        self.0.extend(values.iter().map(|&bytes| u32::from_le_bytes(bytes)));
    }

    /// The column: one value per row, or empty if all are 0.
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
        let steps = turns.iter().map(|turn| {
            let step = turn.slot() + threads - before;
            before = turn.slot();
            if step >= threads { step - threads } else { step }
        });
        let lengths = turns.iter().map(|turn| turn.len());
        put_varints(&mut self.slots, steps, threads);
        put_varints(&mut self.lengths, lengths.clone(), lengths.max().unwrap_or(0));
    }

    fn put_rows(&mut self, places: &[usize], coder: &SiteCoder, streams: &mut StreamWriter<'_>) {
        let is_narrow = self.rows(places, coder);
        streams.put(id::TURNS, &self.slots);
        streams.put(id::LENGTHS, &self.lengths);
        if is_narrow {
            streams.put(id::SITES, &self.narrow);
        } else {
            streams.put(id::WIDE_SITES, self.wide.as_flattened());
        }
        streams.put(id::CODES, &self.codes);
        streams.put(id::DIFFERENCES, coder.differences.written());
        streams.put(id::FIRST_USES, &coder.first_uses);
        streams.put(id::DEFINITIONS, &coder.definitions);
    }

    /// Concatenates the rows of all threads; `places` has the position in the thread table of each
    /// thread of the coder. Returns whether every site number fits a byte.
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

fn put_varints(out: &mut Vec<u8>, numbers: impl Iterator<Item = usize>, most: usize) {
    if most < 0x80 {
        out.extend(numbers.map(|number| number.to_le_bytes()[0]));
    } else {
        numbers.for_each(|number| put_varint(out, number as u64));
    }
}
