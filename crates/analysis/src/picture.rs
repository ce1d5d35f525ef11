//! The data of a sharing picture: which processors reference which part of memory when.
//!
//! Time is cut into slices of equally many references, memory into stretches of equally many bytes.
//! Each pair of the two is a cell: referenced by no processor, by one, or by several.

use homenode_base::{AccessKind, BlockSize, ProcId, ReferenceFilter, ReferenceRole};
use homenode_trace::{Batch, BatchPart, Columns, EventKind, ThreadTurn, TraceReader, Want};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::map::{MapBuilder, SharingMap};
use crate::objects::Names;
use crate::rank::for_each_batch;
use crate::{AnalysisError, AnalysisProgress};

/// Resolution and content of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureFrame {
    /// Smallest stretch of memory; doubled until the stretches are few enough.
    pub block_size: BlockSize,
    /// Most stretches of memory; at least 1.
    pub stretches_max: usize,
    /// Slices of Time; at least 1.
    pub slices: u32,
    /// Thread i runs on processor i modulo this; at least 1.
    pub processors: u16,
    /// Which references are in the picture.
    pub filter: ReferenceFilter,
}

/// A program's sharing by memory and Time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharingPicture {
    /// References in the picture.
    pub references: u64,
    /// How many of them were made before the program said that initialisation is over; `null` if it
    /// did not.
    pub init_done: Option<u64>,
    /// References by stretch and processor over all Time.
    pub map: SharingMap,
    /// One row a slice of Time, one number a stretch: 0 none, 1 several processors that only
    /// read, 2 several of which at least one wrote, 3 + 2p processor p alone, reading, 4 + 2p
    /// processor p alone, writing.
    pub slices: Vec<Vec<u32>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct PictureCell {
    first: Option<u16>,
    several: bool,
    written: bool,
}

impl PictureCell {
    fn add(&mut self, processor: u16, write: bool) {
        self.several |= *self.first.get_or_insert(processor) != processor;
        self.written |= write;
    }

    fn code(self) -> u32 {
        let Some(processor) = self.first else { return 0 };
        let written = u32::from(self.written);
        if self.several { 1 + written } else { 3 + 2 * u32::from(processor) + written }
    }
}

/// Computes the picture. Reads the trace twice: once for the stretches, once for the cells. Memory
/// is bounded by the frame; cost: O(references).
///
/// # Errors
/// When the trace cannot be read or the progress callback asked to stop.
pub fn picture(
    trace: &TraceReader,
    frame: &PictureFrame,
    progress: AnalysisProgress<'_>,
) -> Result<SharingPicture, AnalysisError> {
    let mut done = 0;
    let mut map = MapBuilder::new(frame.block_size, frame.processors, frame.stretches_max);
    let (mut references, mut init_done) = (0, None);
    let columns = Columns { flags: true, ..Columns::default() };
    let want = Want { columns, events: true };
    for_each_batch(trace, want, &mut *progress, &mut done, |batch| {
        for part in batch.parts() {
            match part {
                BatchPart::Turn(turn) => pictured(batch, turn, frame, |addr, processor, write| {
                    map.add(addr, usize::from(processor), write);
                    references += 1;
                }),
                BatchPart::Event(event) => {
                    let ends = event.what == EventKind::InitDone;
                    init_done = init_done.or(ends.then_some(references));
                }
            }
        }
    })?;
    let (shift, rows) = map.layout();
    let columns: FxHashMap<u64, usize> =
        rows.iter().enumerate().map(|(i, &row)| (row, i)).collect();
    let mut cells = vec![vec![PictureCell::default(); rows.len()]; frame.slices.max(1) as usize];
    let mut seen = 0u64;
    for_each_batch(trace, want, &mut *progress, &mut done, |batch| {
        for turn in batch.turns.iter() {
            pictured(batch, turn, frame, |addr, processor, write| {
                let slice = slice_of(seen, references, frame.slices);
                seen += 1;
                if let Some(&column) = columns.get(&(addr >> shift)) {
                    cells[slice][column].add(processor, write);
                }
            });
        }
    })?;
    Ok(SharingPicture {
        references,
        init_done,
        map: map.finish(&Names::new(trace.metadata())),
        slices: cells
            .into_iter()
            .map(|row| row.into_iter().map(PictureCell::code).collect())
            .collect(),
    })
}

/// The slice of the reference that follows `seen` of all `references`.
fn slice_of(seen: u64, references: u64, slices: u32) -> usize {
    let slice = u128::from(seen) * u128::from(slices.max(1)) / u128::from(references.max(1));
    usize::try_from(slice).unwrap_or(usize::MAX)
}

/// Calls `take` with address, processor and whether it writes, for each reference of a turn that is
/// in the picture.
#[inline]
fn pictured(
    batch: &Batch,
    turn: ThreadTurn,
    frame: &PictureFrame,
    mut take: impl FnMut(u64, ProcId, bool),
) {
    let processor = turn.thread % frame.processors.max(1);
    for row in turn.rows {
        if batch.role(row, frame.filter) == ReferenceRole::Shared {
            take(batch.addr[row], processor, batch.kind[row] != AccessKind::Read.code());
        }
    }
}
