//! Compaction keeps the contents of a trace, and always leaves a complete one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::support::{Step, read, small_chunks, steps, write};
use homenode_base::{Access, AccessKind, Rng};
use homenode_trace::{
    COMPACT_LEVEL, Columns, CompactReport, Metadata, TraceError, TraceReader, TraceWriter,
    WriterOptions, compact,
};

fn go_on(_: u64, _: Option<u64>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn compacted(path: &Path, out: Option<&Path>) -> Result<CompactReport, TraceError> {
    compact(path, out, COMPACT_LEVEL, &mut go_on)
}

fn walk(path: &Path) {
    let columns = Columns { pc: true, gap: true, ..Columns::default() };
    let options = WriterOptions { columns, level: 1, chunk_rows: 5000 };
    let mut writer = TraceWriter::create(path, options).unwrap();
    let (mut rng, mut addr) = (Rng::new(3), 0x10_0000u64);
    for i in 0..12_000u64 {
        addr = addr.wrapping_add_signed(
            [8, 8, 64, -56, 4096, -4096][usize::try_from(rng.below(6)).unwrap()],
        );
        let thread = u16::try_from(i / 90 % 3).unwrap();
        let access = Access::new(thread, AccessKind::Read, addr, 8);
        writer.push(&Access { pc: 0x400 + rng.below(7), gap: 3, ..access }).unwrap();
        if i % 4000 == 17 {
            let Step::Event(event) = steps().remove(0) else { panic!("an event comes first") };
            writer.event(event).unwrap();
        }
    }
    let metadata = Metadata { program: "walk".into(), word_size: 4, ..Metadata::default() };
    writer.finish(metadata).unwrap();
}

fn content(path: &Path) -> (Vec<Step>, Metadata, Columns, u32, String) {
    let trace = TraceReader::open(path).unwrap();
    trace.verify().unwrap();
    let (metadata, columns) = (trace.metadata().clone(), trace.columns());
    (read(&trace), metadata, columns, trace.chunk_rows(), trace.checksum())
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.hnt");
    (dir, path)
}

fn names(dir: &tempfile::TempDir) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let names = std::fs::read_dir(dir.path()).unwrap().map(name);
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_compacted_trace_is_the_same_and_smaller() {
    let (dir, path) = folder();
    walk(&path);
    let before = std::fs::read(&path).unwrap();
    let out = dir.path().join("u.hnt");
    let report = compacted(&path, Some(&out)).unwrap();
    assert_eq!(content(&out), content(&path));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!((report.bytes_before, report.rows, report.events), (before.len() as u64, 12_000, 3));
    assert!(report.written && report.bytes < report.bytes_before, "{report:?}");
    assert_eq!(report.bytes, std::fs::metadata(&out).unwrap().len());
    assert_eq!(names(&dir), ["t.hnt", "u.hnt"]);
}

#[test]
fn every_kind_of_row_and_event_is_kept() {
    let (dir, path) = folder();
    std::fs::write(&path, write(&steps(), small_chunks(7)).0).unwrap();
    let out = dir.path().join("u.hnt");
    compacted(&path, Some(&out)).unwrap();
    assert_eq!(content(&out), content(&path));
}

#[cfg(unix)]
#[test]
fn compacting_in_place_keeps_permissions_and_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (dir, path) = folder();
    walk(&path);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
    let before = content(&path);
    let link = dir.path().join("link.hnt");
    symlink(&path, &link).unwrap();
    let report = compacted(&link, None).unwrap();
    assert!(report.written && report.path == link, "{report:?}");
    let found = std::fs::metadata(&path).unwrap();
    assert_eq!((found.len(), found.permissions().mode() & 0o777), (report.bytes, 0o640));
    assert_eq!(content(&path), before);
    assert!(link.is_symlink());
    // A second compaction gains nothing.
    let again = compacted(&path, None).unwrap();
    assert_eq!((again.written, again.bytes), (false, report.bytes));
    assert_eq!(names(&dir), ["link.hnt", "t.hnt"]);
}

#[test]
fn after_an_interrupt_or_damage_the_trace_is_unchanged() {
    let (dir, path) = folder();
    walk(&path);
    let before = std::fs::read(&path).unwrap();
    let mut chunks = 0;
    let mut stop = |_: u64, _: Option<u64>| {
        chunks += 1;
        if chunks < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let error = compact(&path, None, 1, &mut stop).unwrap_err();
    assert!(matches!(error, TraceError::Cancelled { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);

    let mut damaged = before.clone();
    let hit = usize::try_from(TraceReader::open(&path).unwrap().chunks()[1].offset).unwrap() + 200;
    damaged[hit] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    let error = compacted(&path, None).unwrap_err();
    assert!(matches!(error, TraceError::Damaged { .. }), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), damaged);
    assert_eq!(names(&dir), ["t.hnt"]);
}

#[test]
fn the_file_of_a_killed_command_is_replaced() {
    let (dir, path) = folder();
    walk(&path);
    let left = dir.path().join("t.hnt.compacting");
    std::fs::write(&left, "half a trace").unwrap();
    let before = content(&path);
    assert!(compacted(&path, None).unwrap().written);
    assert_eq!(content(&path), before);
    assert_eq!(names(&dir), ["t.hnt"]);
    // The file of a running command is not.
    let other = std::fs::File::create(&left).unwrap();
    other.lock().unwrap();
    let error = compacted(&path, None).unwrap_err();
    assert!(matches!(error, TraceError::Busy { .. }), "{error}");
    assert_eq!(names(&dir), ["t.hnt", "t.hnt.compacting"]);
}

#[test]
fn a_truncated_trace_is_an_error() {
    let (dir, path) = folder();
    let (bytes, _) = write(&steps(), small_chunks(20));
    std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    let error = compacted(&path, None).unwrap_err();
    assert!(error.to_string().contains("homenode repair"), "{error}");
    assert_eq!(names(&dir), ["t.hnt"]);
}
