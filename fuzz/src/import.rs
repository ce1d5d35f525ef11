//! Fuzz functions of the importers.

use std::io::sink;
use std::ops::ControlFlow;
use std::path::Path;

use homenode_interchange::export;
use homenode_interchange::import::{self, ImportInput};
use homenode_trace::{Columns, TraceReader, TraceWriter, WriterOptions};

/// The function of a fuzz target.
type Target = fn(&[u8]);

/// All functions by name; each has a file with that name in `fuzz_targets/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("import_text", |data| import("text", data)),
    ("import_csv", |data| import("csv", data)),
    ("import_lackey", |data| import("lackey", data)),
    ("import_din", |data| import("din", data)),
    ("import_drmemtrace", |data| import("drmemtrace", data)),
    ("import_perf", |data| import("perf", data)),
    ("import_gem5", |data| import("gem5", data)),
    ("import_champsim", |data| import("champsim", data)),
];

/// Imports the bytes; an accepted import must give a valid trace that can be exported.
pub fn import(format: &str, data: &[u8]) {
    let entry = import::find(format).expect("the format is in the table");
    let mut bytes = data;
    let input = ImportInput { reader: &mut bytes, name: Path::new("fuzz"), bytes: None };
    let options =
        WriterOptions { columns: Columns::ALL, chunk_rows: 64, ..WriterOptions::default() };
    let mut out = Vec::new();
    let mut writer = TraceWriter::new(&mut out, "fuzz", options).expect("memory takes bytes");
    writer.trim_columns();
    let mut go_on = |_: u64, _: Option<u64>| ControlFlow::Continue(());
    let Ok(metadata) = import::import(entry, input, &mut writer, &mut go_on) else { return };
    writer.finish(metadata).expect("memory takes bytes");
    let trace = TraceReader::from_bytes(out, "imported").expect("an imported trace opens");
    trace.verify().expect("an imported trace is valid");
    let format = export::find("text").expect("the format is in the table");
    export::export(format, &trace, &mut sink(), Path::new("out"), &mut go_on)
        .expect("an imported trace can be exported");
}
