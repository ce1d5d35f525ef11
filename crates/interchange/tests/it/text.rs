//! Traces from and to text, in memory.

use std::ops::ControlFlow;
use std::path::Path;

use homenode_interchange::export;
use homenode_interchange::import::{self, ImportInput};
use homenode_trace::{TraceError, TraceReader, TraceWriter};

use crate::support::small_chunks;

pub fn imported(format: &str, text: &[u8]) -> Result<TraceReader, TraceError> {
    let mut reader = text;
    let input = ImportInput { reader: &mut reader, name: Path::new("in.txt"), bytes: None };
    let mut out = Vec::new();
    let mut writer = TraceWriter::new(&mut out, "memory", small_chunks(30)).unwrap();
    writer.trim_columns();
    let entry = import::find(format).unwrap();
    let metadata =
        import::import(entry, input, &mut writer, &mut |_, _| ControlFlow::Continue(()))?;
    writer.finish(metadata).unwrap();
    TraceReader::from_bytes(out, "memory")
}

pub fn exported(format: &str, trace: &TraceReader) -> String {
    let mut out = Vec::new();
    let entry = export::find(format).unwrap();
    let mut go_on = |_: u64, _: Option<u64>| ControlFlow::Continue(());
    export::export(entry, trace, &mut out, Path::new("out"), &mut go_on).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn refused(format: &str, text: &str) -> String {
    let error = imported(format, text.as_bytes()).unwrap_err();
    assert!(error.line().is_some(), "{error}");
    error.to_string()
}

/// The imported text, exported in the text format.
pub fn accesses(format: &str, text: &str) -> Vec<String> {
    let trace = imported(format, text.as_bytes()).unwrap();
    exported("text", &trace).lines().skip(1).map(str::to_owned).collect()
}
