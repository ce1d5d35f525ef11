//! Rows of a chunk as one stream a column.

use crate::bytes::{Cursor, Fault, put_varint, zigzag};
use crate::codec::event;
use crate::codec::stream::{StreamWriter, Streams};
use crate::format::v1::ChunkHeader;
use crate::model::{Batch, Columns};
use crate::reader::Want;

/// Appends the streams of `batch` to `out`.
pub(crate) fn encode(batch: &Batch, level: i32, out: &mut Vec<u8>) {
    let mut streams = StreamWriter::new(level);
    let threads: Vec<u8> = batch.thread.iter().flat_map(|t| t.to_le_bytes()).collect();
    streams.put(0, &threads);
    streams.put(1, &batch.kind);
    streams.put(2, &batch.size);
    streams.put(3, &deltas(&batch.addr));
    streams.put(4, &batch.flags);
    streams.put(5, &deltas(&batch.pc));
    let wide = |column: &[u32]| column.iter().map(|&v| u64::from(v)).collect::<Vec<_>>();
    streams.put(6, &deltas(&wide(&batch.gap)));
    streams.put(7, &deltas(&wide(&batch.pid)));
    let mut raw = Vec::new();
    event::encode(&batch.events, &mut raw);
    streams.put(8, &raw);
    streams.finish(out);
}

fn deltas(values: &[u64]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = 0u64;
    for &value in values {
        put_varint(&mut out, zigzag(value.wrapping_sub(last).cast_signed()));
        last = value;
    }
    out
}

/// Fills `batch` with the rows of a chunk.
pub(crate) fn decode(
    section: &[u8],
    header: &ChunkHeader,
    columns: Columns,
    want: Want,
    batch: &mut Batch,
) -> Result<(), Fault> {
    let streams = Streams::parse(section)?;
    let rows = header.rows as usize;
    let mut raw = Vec::new();
    streams.get(0, rows * 2, &mut raw)?;
    batch.clear();
    batch.thread.extend(raw.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])));
    streams.get(1, rows, &mut batch.kind)?;
    streams.get(2, rows, &mut batch.size)?;
    streams.get(3, rows * 10, &mut raw)?;
    sums(&raw, rows, &mut batch.addr)?;
    let wanted = columns.intersection(want.columns);
    if wanted.flags {
        streams.get(4, rows, &mut batch.flags)?;
    }
    if wanted.pc {
        streams.get(5, rows * 10, &mut raw)?;
        sums(&raw, rows, &mut batch.pc)?;
    }
    for (id, wanted, column) in [(6, wanted.gap, &mut batch.gap), (7, wanted.pid, &mut batch.pid)] {
        if wanted {
            streams.get(id, rows * 10, &mut raw)?;
            let mut wide = Vec::new();
            sums(&raw, rows, &mut wide)?;
            column.extend(wide.iter().map(|&v| u32::try_from(v).unwrap_or(u32::MAX)));
        }
    }
    if want.events {
        streams.get(8, usize::MAX, &mut raw)?;
        event::decode(&raw, header.events, header.rows, &mut batch.events)?;
    }
    Ok(())
}

fn sums(raw: &[u8], rows: usize, out: &mut Vec<u64>) -> Result<(), Fault> {
    let mut cursor = Cursor::new(raw);
    let mut last = 0u64;
    for _ in 0..rows {
        last = last.wrapping_add(cursor.signed()?.cast_unsigned());
        out.push(last);
    }
    cursor.end()
}
