//! The content checksum, which depends on the contents of a trace and not on its storage.
//!
//! It covers the set of columns, every value of every column and every event with its position. It
//! does not cover metadata, compression level, chunk size or format version: repairing a trace or
//! rewriting it at another level keeps the checksum.
//!
//! Each column is hashed separately over its little-endian values (XXH3, 128 bits), so the hash
//! does not depend on chunk boundaries. The checksum is the hash of these hashes and the column
//! bits.

use twox_hash::xxhash3_128::Hasher;

use crate::codec::RowColumns;
use crate::events;
use crate::model::{Batch, Columns, Event};

pub(crate) struct ContentHash {
    hashes: [Hasher; 9],
    rows: u64,
    scratch: Vec<u8>,
}

impl ContentHash {
    pub(crate) fn new() -> Self {
        let hashes = std::array::from_fn(|_| Hasher::new());
        Self { hashes, rows: 0, scratch: Vec::new() }
    }

    /// Adds the rows and events of `batch`, which must hold every column of the trace.
    pub(crate) fn add(&mut self, batch: &Batch) {
        let scratch = &mut self.scratch;
        let [thread, kind, size, addr, flags, pc, gap, pid, _] = &mut self.hashes;
        let threads: Vec<u16> = batch.turns.threads().collect();
        feed(thread, scratch, &threads, |v| v.to_le_bytes());
        kind.write(&batch.kind);
        size.write(&batch.size);
        feed(addr, scratch, &batch.addr, |v| v.to_le_bytes());
        flags.write(&batch.flags);
        feed(pc, scratch, &batch.pc, |v| v.to_le_bytes());
        feed(gap, scratch, &batch.gap, |v| v.to_le_bytes());
        feed(pid, scratch, &batch.pid, |v| v.to_le_bytes());
        for (row, event) in &batch.events {
            self.add_event(self.rows + u64::from(*row), event);
        }
        self.rows += batch.len() as u64;
    }

    pub(crate) fn add_rows(&mut self, rows: &RowColumns<'_>, columns: Columns) {
        let [thread, kind, size, addr, flags, pc, gap, pid, _] = &mut self.hashes;
        let reference = &rows.reference;
        thread.write(rows.thread.as_flattened());
        kind.write(rows.kind);
        size.write(rows.size);
        addr.write(reference.addr.as_flattened());
        if columns.flags {
            flags.write(rows.flags);
        }
        if columns.pc {
            pc.write(reference.pc.as_flattened());
        }
        if columns.gap {
            gap.write(rows.gap.as_flattened());
        }
        if columns.pid {
            pid.write(rows.pid.as_flattened());
        }
    }

    /// Adds an event before `row`, counted from the beginning of the trace.
    pub(crate) fn add_event(&mut self, row: u64, event: &Event) {
        let (tag, fields, text) = events::flatten(&event.what);
        let scratch = &mut self.scratch;
        scratch.clear();
        scratch.extend(row.to_le_bytes());
        scratch.extend(event.thread.to_le_bytes());
        scratch.push(tag);
        fields.iter().for_each(|field| scratch.extend(field.to_le_bytes()));
        scratch.extend((text.len() as u64).to_le_bytes());
        scratch.extend(text.as_bytes());
        let [.., events] = &mut self.hashes;
        events.write(scratch);
    }

    pub(crate) fn digest(&self, columns: Columns) -> [u8; 16] {
        let mut all = Hasher::new();
        all.write(&[columns.bits()]);
        let Columns { pc, gap, pid, flags } = columns;
        let present = [true, true, true, true, flags, pc, gap, pid, true];
        for (hash, _) in self.hashes.iter().zip(present).filter(|(_, present)| *present) {
            all.write(&hash.finish_128().to_le_bytes());
        }
        all.finish_128().to_le_bytes()
    }
}

fn feed<T: Copy, const N: usize>(
    hash: &mut Hasher,
    scratch: &mut Vec<u8>,
    values: &[T],
    bytes: impl Fn(T) -> [u8; N],
) {
    for part in values.chunks(2048) {
        scratch.clear();
        scratch.resize(part.len() * N, 0);
        for (out, &value) in scratch.chunks_exact_mut(N).zip(part) {
            out.copy_from_slice(&bytes(value));
        }
        hash.write(scratch);
    }
}

pub(crate) fn to_hex(checksum: &[u8; 16]) -> String {
    checksum.iter().map(|byte| format!("{byte:02x}")).collect()
}
