//! Applies a layout to a trace: to batches during a pass, or to a file.

use std::path::Path;

use homenode_advise::{Layout, MovedBytes};
use homenode_base::{AccessKind, BlockSize, Time};
use homenode_trace::{
    AddressRange, Batch, BatchPart, EventKind, LocalRange, Metadata, Summary, ThreadTurn,
    TraceError, TraceReader, TraceWriter, Want, WriterOptions,
};

#[derive(Default)]
pub(crate) struct LayoutApplier {
    time: Time,
}

impl LayoutApplier {
    /// Fills an empty batch with the references of another at their new addresses. If the layout
    /// splits a reference, each part is a reference and advances Time.
    pub(crate) fn batch(&mut self, layout: &Layout, input: &Batch, output: &mut Batch) {
        output.clear();
        output.first_time = self.time;
        for part in input.parts() {
            match part {
                BatchPart::Event(event) => push_event(layout, event, output),
                BatchPart::Turn(turn) => self.turn(layout, input, turn, output),
            }
        }
    }

    fn turn(&mut self, layout: &Layout, input: &Batch, turn: ThreadTurn, output: &mut Batch) {
        let before = output.len();
        for row in turn.rows {
            let mut gap = input.gap.get(row).copied();
            if input.kind[row] == AccessKind::Fetch.code() {
                push(input, row, input.addr[row], input.size[row], gap, output);
                continue;
            }
            layout.parts(input.addr[row], input.size[row], |addr, size| {
                push(input, row, addr, size, gap, output);
                gap = gap.map(|_| 0);
                self.time += 1;
            });
        }
        output.turns.add(turn.thread, output.len() - before);
    }
}

/// Appends a row with another address, size and gap, but not to the turns.
fn push(input: &Batch, row: usize, addr: u64, size: u8, gap: Option<u32>, out: &mut Batch) {
    out.kind.push(input.kind[row]);
    out.addr.push(addr);
    out.size.push(size);
    out.gap.extend(gap);
    out.flags.extend(input.flags.get(row));
    out.pc.extend(input.pc.get(row));
    out.pid.extend(input.pid.get(row));
}

/// Appends an event; addresses in it are mapped like those of references.
fn push_event(layout: &Layout, event: &homenode_trace::Event, out: &mut Batch) {
    let mut event = event.clone();
    match &mut event.what {
        EventKind::Alloc { addr, .. }
        | EventKind::Free { addr }
        | EventKind::LockAcquire { addr }
        | EventKind::LockRelease { addr }
        | EventKind::BarrierEnter { addr }
        | EventKind::BarrierLeave { addr }
        | EventKind::ConditionWait { addr }
        | EventKind::ConditionWake { addr } => *addr = layout.address(*addr),
        EventKind::ThreadStart { .. }
        | EventKind::ThreadExit
        | EventKind::ThreadCreate { .. }
        | EventKind::ThreadJoin { .. }
        | EventKind::Map { .. }
        | EventKind::Unmap { .. }
        | EventKind::SyscallEnter { .. }
        | EventKind::SyscallExit { .. }
        | EventKind::Fork { .. }
        | EventKind::InitDone
        | EventKind::Phase { .. }
        | EventKind::Marker { .. } => {}
    }
    let row = u32::try_from(out.len()).unwrap_or(u32::MAX);
    out.events.push((row, event));
}

/// Writes the trace under a layout for blocks of this size, and translates its named ranges.
pub(crate) fn write(
    trace: &TraceReader,
    layout: &Layout,
    block: BlockSize,
    out: &Path,
    record: String,
    tick: &mut dyn FnMut(f64) -> Result<(), TraceError>,
) -> Result<Summary, TraceError> {
    let options = WriterOptions {
        columns: trace.columns(),
        chunk_rows: trace.chunk_rows(),
        ..WriterOptions::default()
    };
    let mut writer = TraceWriter::create(out, options)?;
    let mut write_all = || -> Result<(), TraceError> {
        let (mut input, mut output) = (Batch::default(), Batch::default());
        let mut relay = LayoutApplier::default();
        for index in 0..trace.chunks().len() {
            trace.read_chunk(index, Want::ALL, &mut input)?;
            relay.batch(layout, &input, &mut output);
            writer.push_batch(&output)?;
            #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
            tick((index + 1) as f64 / trace.chunks().len() as f64)?;
        }
        Ok(())
    };
    if let Err(error) = write_all() {
        writer.abort()?;
        return Err(error);
    }
    let mut metadata: Metadata = trace.metadata().clone();
    metadata.ranges = ranges(&metadata.ranges, layout, block);
    let stays = |local: &LocalRange| moved(layout.moves(), local.start, local.end()).is_empty();
    metadata.locals.retain(stays);
    metadata.provenance.push(record);
    writer.finish(metadata)
}

/// Named ranges at their new addresses. Parts of a range that are less than a block apart stay one
/// range.
fn ranges(old: &[AddressRange], layout: &Layout, block: BlockSize) -> Vec<AddressRange> {
    let mut new = Vec::with_capacity(old.len());
    for range in old {
        let end = range.start.saturating_add(range.size);
        let mut parts = moved(layout.moves(), range.start, end);
        if parts.is_empty() {
            new.push(range.clone());
            continue;
        }
        parts.sort_unstable();
        let mut merged: Vec<(u64, u64)> = Vec::new();
        for (start, end) in parts {
            match merged.last_mut() {
                Some(last) if start - last.1 < block.bytes() => last.1 = end,
                Some(_) | None => merged.push((start, end)),
            }
        }
        // The layout may move only a part of an element.
        let one =
            |(start, end)| AddressRange { start, size: end - start, layout: 0, ..range.clone() };
        new.extend(merged.into_iter().map(one));
    }
    // The sort is stable: of ranges with the same start the last one owns the bytes.
    new.sort_by_key(|range| range.start);
    new
}

/// The new address range (end exclusive) of the bytes from `start` to `end`, if the first byte
/// moves.
fn moved(pieces: &[MovedBytes], start: u64, end: u64) -> Vec<(u64, u64)> {
    let from = pieces.partition_point(|piece| piece.from + piece.bytes <= start);
    let within = pieces[from..].iter().take_while(|piece| piece.from < end);
    let place = |piece: &MovedBytes| {
        let first = start.max(piece.from);
        let last = end.min(piece.from + piece.bytes);
        let to = piece.to + (first - piece.from);
        (to, to + (last - first))
    };
    within.map(place).collect()
}
