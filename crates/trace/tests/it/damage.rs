//! Killed writers, full disks, flipped bits, hostile lengths: a located error or the trace, never a
//! panic.

use std::io::{self, Write};

use crate::support::{Step, read, small_chunks, steps, write};
use homenode_base::{Access, AccessKind};
use homenode_trace::{
    Batch, TraceError, TraceReader, TraceWriter, Want, WriterOptions, repair, repair_bytes,
};

fn open(bytes: &[u8]) -> Result<TraceReader, TraceError> {
    TraceReader::from_bytes(bytes.to_vec(), "t.hnt")
}

fn rows(steps: &[Step]) -> usize {
    steps.iter().filter(|step| matches!(step, Step::Access(_))).count()
}

#[test]
fn a_writer_killed_at_any_byte_leaves_its_complete_chunks() {
    let all = steps();
    let (bytes, _) = write(&all, small_chunks(10));
    let trace = open(&bytes).unwrap();
    let ends: Vec<(u64, usize)> = trace
        .chunks()
        .iter()
        .scan(0, |rows, chunk| {
            *rows += chunk.rows as usize;
            Some((chunk.offset + chunk.bytes, *rows))
        })
        .collect();
    for length in 0..bytes.len() {
        let cut = &bytes[..length];
        let error = open(cut).unwrap_err();
        match length {
            0 => assert!(matches!(error, TraceError::Empty { .. }), "{error}"),
            _ => assert!(matches!(error, TraceError::Truncated { .. }), "{length}: {error}"),
        }
        let mut out = Vec::new();
        let repaired = repair_bytes(cut.to_vec(), "t.hnt", &mut out);
        if length < 32 {
            assert!(repaired.is_err(), "{length}");
            continue;
        }
        let mut whole = ends.iter().filter(|(end, _)| *end <= length as u64);
        let expected = whole.next_back().map_or(0, |&(_, rows)| rows);
        let found = read(&open(&out).unwrap());
        assert_eq!(rows(&found), expected, "{length}");
        assert_eq!(found, all[..found.len()], "{length}");
        let report = repaired.unwrap();
        assert_eq!(report.rows, expected as u64);
        assert!(!report.metadata_kept);
    }
}

#[test]
fn any_flipped_bit_is_detected_and_costs_at_most_one_chunk() {
    let all = steps();
    let (bytes, _) = write(&all, small_chunks(20));
    let chunks = open(&bytes).unwrap().chunks().len();
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let outcome = open(&flipped).and_then(|trace| trace.verify());
        let error = outcome.expect_err("every byte is covered by a checksum");
        assert!(error.offset().is_some(), "{error}");
        let mut out = Vec::new();
        let Ok(report) = repair_bytes(flipped, "t.hnt", &mut out) else {
            // Only a version from the future cannot be repaired.
            assert!((64..80).contains(&bit), "bit {bit}");
            continue;
        };
        open(&out).unwrap().verify().unwrap();
        assert!(report.chunks as usize + 1 >= chunks, "bit {bit}: {report:?}");
    }
}

#[test]
fn empty_foreign_and_future_files_have_their_own_errors() {
    let message = |bytes: &[u8]| open(bytes).unwrap_err().to_string();
    assert!(message(b"").contains("the file is empty"));
    assert!(message(b"PAR1 and so on").contains("not a homenode trace"));
    assert!(message(b"\x89H").contains("incomplete trace"));
    let (mut future, _) = write(&steps(), WriterOptions::default());
    future[8] = 9;
    assert!(message(&future).contains("format version 9, newest known here is 1"));
    future[8] = 0;
    assert!(message(&future).contains("a version from 1 to 1, found 0"));
}

/// Replaces every aligned and unaligned word of the file by large numbers, without correcting
/// checksums: no claimed length may be allocated.
#[test]
fn lengths_that_claim_gigabytes_are_errors() {
    let (bytes, _) = write(&steps(), small_chunks(20));
    for at in 0..bytes.len() - 8 {
        for claim in [u64::MAX, 4 << 30, 1 << 40, 0xffff_ffff] {
            let mut hostile = bytes.clone();
            hostile[at..at + 8].copy_from_slice(&claim.to_le_bytes());
            if hostile != bytes {
                assert!(open(&hostile).and_then(|trace| trace.verify()).is_err(), "{at}");
            }
        }
    }
}

struct Full {
    left: usize,
    kind: io::ErrorKind,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(self.kind.into());
        }
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_to(out: Full) -> Result<(), TraceError> {
    let mut writer = TraceWriter::new(out, "t.hnt", small_chunks(10))?;
    for step in steps() {
        match step {
            Step::Access(access) => writer.push(&access)?,
            Step::Event(event) => writer.event(event)?,
        }
    }
    writer.finish(homenode_trace::Metadata::default()).map(|_| ())
}

#[test]
fn a_disk_that_fails_at_any_byte_is_a_clear_error() {
    let mut left = 0;
    while let Err(error) = write_to(Full { left, kind: io::ErrorKind::StorageFull }) {
        let TraceError::NoSpace { written, .. } = error else { panic!("{error}") };
        assert!(written <= left as u64);
        let other = write_to(Full { left, kind: io::ErrorKind::BrokenPipe }).unwrap_err();
        assert!(matches!(other, TraceError::Io { .. }), "{other}");
        left += 1;
    }
    assert!(left > 1000, "the sample is larger than {left} bytes");
}

#[test]
fn a_file_truncated_while_it_is_read_is_a_clear_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.hnt");
    let (bytes, _) = write(&steps(), small_chunks(10));
    std::fs::write(&path, &bytes).unwrap();
    let trace = TraceReader::open(&path).unwrap();
    std::fs::write(&path, &bytes[..100]).unwrap();
    let error = trace.verify().unwrap_err();
    assert!(matches!(error, TraceError::Truncated { .. }), "{error}");
    assert!(error.to_string().contains("a file that has become shorter"), "{error}");
}

#[test]
fn a_missing_trace_has_a_remedy() {
    let error = TraceReader::open("no-such.hnt").unwrap_err().to_string();
    assert!(error.starts_with("no-such.hnt: there is no such file"), "{error}");
    assert!(error.contains("homenode record") && error.contains("homenode import"), "{error}");
}

#[test]
fn after_a_failed_write_nothing_succeeds() {
    let out = Full { left: 100, kind: io::ErrorKind::StorageFull };
    let mut writer = TraceWriter::new(out, "t.hnt", small_chunks(1)).unwrap();
    let access = Access::new(0, AccessKind::Read, 0, 4);
    assert!(matches!(writer.push(&access), Err(TraceError::NoSpace { .. })));
    let message = writer.push(&access).unwrap_err().to_string();
    assert!(message.contains("an earlier write failed"), "{message}");
    assert!(writer.finish(homenode_trace::Metadata::default()).is_err());
}

#[test]
fn a_dropped_writer_leaves_a_partial_file_that_repairs_to_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.hnt");
    let mut writer = TraceWriter::create(&path, small_chunks(10)).unwrap();
    for step in steps() {
        if let Step::Access(access) = step {
            writer.push(&access).unwrap();
        }
    }
    drop(writer);
    assert!(!path.exists());
    let partial = homenode_trace::partial_path(&path);
    let report = repair(&partial, &path).unwrap();
    assert_eq!(report.rows, 60);
    TraceReader::open(&path).unwrap().verify().unwrap();
    // The damaged file is kept for the user to decide.
    assert!(partial.exists());
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn a_device_is_never_replaced_by_a_trace() {
    let error = TraceWriter::create("/dev/null", WriterOptions::default()).err().unwrap();
    assert!(error.to_string().contains("not a regular file"), "{error}");
    assert!(!std::path::Path::new("/dev/null.partial").exists());
}

#[test]
fn an_aborted_writer_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(dir.path().join("t.hnt"), small_chunks(10)).unwrap();
    writer.abort().unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_lost_chunk_in_the_middle_leaves_the_others() {
    let (mut bytes, _) = write(&steps(), small_chunks(10));
    let trace = open(&bytes).unwrap();
    let hit = trace.chunks()[2].clone();
    let references = trace.references();
    bytes[usize::try_from(hit.offset + 90).unwrap()] ^= 1;
    let damaged = open(&bytes).unwrap();
    let error = damaged.read_chunk(2, Want::ALL, &mut Batch::default()).unwrap_err();
    assert_eq!(error.offset(), Some(hit.offset + 12), "{error}");
    let report = repair_bytes(bytes, "t.hnt", Vec::new()).unwrap();
    assert_eq!(report.references_lost, u64::from(hit.references));
    assert_eq!(report.references + report.references_lost, references);
    assert_eq!((report.lost[0].offset, report.lost[0].bytes), (hit.offset, hit.bytes));
    assert!(report.metadata_kept);
}
