//! Traces and configurations as the tests make them.

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{Columns, Metadata, TraceReader, TraceWriter, WriterOptions};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub const FLAGS: Columns = Columns { pc: false, gap: false, pid: false, flags: true };

/// The trace that `write` writes, with these columns, in chunks of `chunk_rows` rows.
pub fn written(
    columns: Columns,
    chunk_rows: u32,
    metadata: Metadata,
    write: impl FnOnce(&mut TraceWriter<&mut Vec<u8>>),
) -> TraceReader {
    let options = WriterOptions { columns, level: 1, chunk_rows };
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, "t.hnt", options).unwrap();
    write(&mut writer);
    writer.finish(metadata).unwrap();
    TraceReader::from_bytes(bytes, "t.hnt").unwrap()
}

/// A reference of one of five threads, mostly a plain read, without address and size.
pub fn random_reference(rng: &mut Rng) -> Access {
    let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch];
    let kind = kinds[usize::try_from(rng.below(10).saturating_sub(6)).unwrap()];
    let thread = u16::try_from(rng.below(5)).unwrap();
    let flags = Flags(u8::try_from(rng.below(20).saturating_sub(16)).unwrap());
    Access { flags, ..Access::new(thread, kind, 0, 0) }
}

/// A trace of these references, with flags.
pub fn trace(accesses: &[Access], chunk_rows: u32, metadata: Metadata) -> TraceReader {
    written(FLAGS, chunk_rows, metadata, |writer| {
        accesses.iter().for_each(|access| writer.push(access).unwrap());
    })
}

/// A configuration with the fields of `all`, replaced by those of `text`.
pub fn configured<T: DeserializeOwned>(mut all: Value, text: &str) -> T {
    let given: Value = serde_json::from_str(text).unwrap();
    for (name, value) in given.as_object().unwrap() {
        all[name] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}
