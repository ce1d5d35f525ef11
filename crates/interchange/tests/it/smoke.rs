//! A short end-to-end test: import, read, export, repair.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use homenode_interchange::export;
use homenode_interchange::import::{self, ImportInput};
use homenode_trace::{Batch, TraceReader, Want, WriterOptions, repair};

const TEXT: &str = "\
# thread kind address size [pc] [gap=] [pid=] [flags=]
@ 0 thread-start 0x7000 0x8000
0 W 0x1000 4
1 R 0x1000 8 0x400123 gap=3
@ 1 lock-acquire 0x2000
1 A 0x2000 4 0x400130 pid=7 flags=private,sync
@ 0 map 0x9000 4096 1 /tmp/a file\\nwith lines
0 I 0x400140 4
@ 0 marker done
";

#[test]
fn text_round_trips_and_a_complete_file_repairs_to_itself() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.hnt");
    let mut reader = Cursor::new(TEXT);
    let input = ImportInput { reader: &mut reader, name: Path::new("t.txt"), bytes: None };
    let mut on = |_: u64, _: Option<u64>| ControlFlow::Continue(());
    let options = WriterOptions { chunk_rows: 2, ..WriterOptions::default() };
    let summary = import::import_file("text", input, &path, options, &mut on).unwrap();
    assert_eq!((summary.rows, summary.references, summary.events, summary.chunks), (4, 3, 4, 3));

    let trace = TraceReader::open(&path).unwrap();
    trace.verify().unwrap();
    assert_eq!(trace.threads(), 2);
    let mut batch = Batch::default();
    trace.read_chunk(1, Want::ALL, &mut batch).unwrap();
    assert_eq!(batch.first_time, 2);

    let mut out = Vec::new();
    let format = export::find("text").unwrap();
    export::export(format, &trace, &mut out, Path::new("out"), &mut on).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), TEXT);

    let again = dir.path().join("again.hnt");
    let report = repair(&path, &again).unwrap();
    assert_eq!(report.checksum, summary.checksum);
    assert!(report.lost.is_empty() && report.metadata_kept, "{report:?}");
    assert_eq!(trace.info().atomics, 1);
}
