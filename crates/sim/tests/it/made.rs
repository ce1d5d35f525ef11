//! Traces and configurations as the tests make them.

use homenode_base::Access;
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
