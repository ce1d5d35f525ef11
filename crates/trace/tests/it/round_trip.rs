//! Reading returns what was written.

use crate::support::{
    Step, accesses, any_columns, any_steps, kept, read, small_chunks, steps, steps_of, write,
};
use homenode_base::{Access, AccessKind, Rng};
use homenode_trace::{Batch, Columns, TraceReader, TraceWriter, Want, WriterOptions};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_trace_round_trips(
        steps in any_steps(),
        columns in any_columns(),
        chunk_rows in 1u32..50,
        level in 1i32..10,
    ) {
        let (bytes, summary) = write(&steps, WriterOptions { columns, level, chunk_rows });
        prop_assert_eq!(bytes.len() as u64, summary.bytes);
        let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
        prop_assert_eq!(trace.columns(), columns);
        prop_assert_eq!(trace.references(), summary.references);
        trace.verify().unwrap();
        prop_assert_eq!(read(&trace), kept(&steps, columns));
    }

    #[test]
    fn the_checksum_depends_on_the_content_alone(
        steps in any_steps(),
        columns in any_columns(),
        chunk_rows in 1u32..50,
    ) {
        let (_, one) = write(&steps, WriterOptions { columns, level: 1, chunk_rows });
        let (_, other) = write(&steps, WriterOptions { columns, level: 9, chunk_rows: 1000 });
        prop_assert_eq!(&one.checksum, &other.checksum);
        let mut fewer = steps.clone();
        if fewer.pop().is_some() {
            let (_, fewer) = write(&fewer, WriterOptions { columns, level: 1, chunk_rows });
            prop_assert_ne!(one.checksum, fewer.checksum);
        }
    }

    #[test]
    fn any_columns_can_be_left_out(steps in any_steps(), wanted in any_columns()) {
        let (bytes, _) = write(&steps, small_chunks(20));
        let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
        let mut batch = Batch::default();
        let mut found = Vec::new();
        for index in 0..trace.chunks().len() {
            let want = Want { columns: wanted, events: true };
            trace.read_chunk(index, want, &mut batch).unwrap();
            prop_assert_eq!(batch.pc.is_empty(), !wanted.pc || batch.is_empty());
            prop_assert_eq!(batch.flags.is_empty(), !wanted.flags || batch.is_empty());
            found.extend(steps_of(&batch));
        }
        prop_assert_eq!(found, kept(&steps, wanted));
    }
}

#[test]
fn the_same_trace_is_the_same_bytes() {
    assert_eq!(write(&steps(), small_chunks(16)).0, write(&steps(), small_chunks(16)).0);
}

#[test]
fn every_time_is_in_its_chunk() {
    let (bytes, _) = write(&steps(), small_chunks(7));
    let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
    for time in 0..trace.references() {
        let chunk = &trace.chunks()[trace.chunk_of_time(time).unwrap()];
        let times = chunk.first_time..chunk.first_time + u64::from(chunk.references);
        assert!(times.contains(&time), "{time} {times:?}");
    }
    assert_eq!(trace.chunk_of_time(trace.references()), None);
}

#[test]
fn an_empty_trace_is_valid() {
    let (bytes, _) = write(&[], WriterOptions::default());
    let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
    trace.verify().unwrap();
    assert_eq!((trace.references(), trace.threads(), trace.chunks().len()), (0, 0, 0));
    assert_eq!(trace.info().bytes_per_reference, None);
}

/// The encoder takes rows in blocks, added one by one or many at a time. Without program counters
/// it chooses sites until the first one occurs, with more effort in two ways.
#[test]
fn program_counters_may_begin_late_and_threads_may_be_many() {
    let mut rng = Rng::new(5);
    let cases = [(0, 3, 1), (1, 3, 700), (1500, 300, 1), (2500, 2, 129), (u64::MAX, 5, 128)];
    for ((first_pc, threads, turn), level) in
        cases.into_iter().flat_map(|case| [1, 9].map(|level| (case, level)))
    {
        let mut expected = Vec::new();
        let mut writer_bytes = Vec::new();
        let columns = Columns { pc: true, flags: true, ..Columns::default() };
        let options = WriterOptions { columns, level, chunk_rows: 3000 };
        let mut writer = TraceWriter::new(&mut writer_bytes, "memory", options).unwrap();
        for i in 0..7000u64 {
            let thread = u16::try_from(i / turn % threads).unwrap();
            let addr = 0x1000 + 8 * (i / turn) + rng.below(2) * rng.below(1 << 40);
            let access = Access::new(thread, AccessKind::Read, addr, 8);
            let pc = if i % 3000 < first_pc { 0 } else { 0x400 + i % 5 };
            expected.push(Access { pc, ..access });
            if level == 1 {
                writer.push(&Access { pc, ..access }).unwrap();
            }
        }
        if level > 1 {
            expected.chunks(700).for_each(|rows| writer.push_all(rows).unwrap());
        }
        writer.finish(homenode_trace::Metadata::default()).unwrap();
        let trace = TraceReader::from_bytes(writer_bytes, "memory").unwrap();
        trace.verify().unwrap();
        assert_eq!(accesses(&read(&trace)), expected, "{first_pc} {threads} {turn}");
    }
}

/// Unpredictable rows without program counters are coded with less effort, which ends soon after
/// rows become regular.
#[test]
fn scattered_rows_and_regular_rows_after_them_take_few_bytes() {
    let mut rng = Rng::new(3);
    let row = |thread, addr| Access::new(thread, AccessKind::Read, addr, 8);
    let thread = |i: u64| u16::try_from(i % 4).unwrap();
    let mut scatter =
        |count| -> Vec<_> { (0..count).map(|i| row(thread(i), 8 * rng.below(1 << 20))).collect() };
    let (scattered, other) = (scatter(60_000), scatter(60_000));
    let matrix = |i: u64| 0x1000_0000 * (1 + i % 3) + 8 * (i / 3) * (1 + i % 3);
    let regular: Vec<Access> = (0..200_000).map(|i| row(thread(i / 100), matrix(i))).collect();
    let both = [&scattered[..], &regular, &other].concat();
    let bytes_of = |rows: &[Access]| {
        let steps: Vec<Step> = rows.iter().copied().map(Step::Access).collect();
        let (bytes, _) = write(&steps, WriterOptions::default());
        let size = bytes.len();
        let trace = TraceReader::from_bytes(bytes, "memory").unwrap();
        trace.verify().unwrap();
        assert!(read(&trace) == steps);
        size
    };
    let [scattered, regular, both] = [&scattered[..], &regular, &both].map(bytes_of);
    // A random address takes three bytes and contains two and a half bytes of information.
    assert!(scattered < 60_000 * 7 / 2, "{scattered}");
    assert!(both < 2 * scattered + regular + 12_000, "{both} of {scattered} and {regular}");
}

/// More sites than a thread, and all threads together, remember.
#[test]
fn sites_beyond_the_limits_round_trip() {
    let mut rng = Rng::new(1);
    let mut out = Vec::new();
    let options = WriterOptions {
        columns: Columns { pc: true, ..Columns::default() },
        level: 1,
        chunk_rows: 1 << 19,
    };
    let mut writer = TraceWriter::new(&mut out, "memory", options).unwrap();
    let mut expected = Vec::new();
    for i in 0..400_000u64 {
        let thread = u16::try_from(i % 6).unwrap();
        let mut access = Access::new(thread, AccessKind::Write, rng.below(1 << 30), 4);
        access.pc = i / 6 * 5 % 399_989;
        writer.push(&access).unwrap();
        expected.push(access);
    }
    writer.finish(homenode_trace::Metadata::default()).unwrap();
    let trace = TraceReader::from_bytes(out, "memory").unwrap();
    let mut batch = Batch::default();
    trace.read_chunk(0, Want::ALL, &mut batch).unwrap();
    assert!((0..expected.len()).all(|i| batch.get(i) == expected[i]));
}

#[test]
fn several_threads_read_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.hnt");
    std::fs::write(&path, write(&steps(), small_chunks(8)).0).unwrap();
    let trace = TraceReader::open(&path).unwrap();
    let all = read(&trace);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(|| read(&trace))).collect();
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() == all));
    });
}

#[test]
fn invalid_references_are_errors() {
    let good = Access::new(0, AccessKind::Read, 0, 4);
    let bad = [
        Access { size: 0, ..good },
        Access { size: 65, ..good },
        Access { thread: u16::MAX, ..good },
        Access { flags: homenode_base::Flags(16), ..good },
    ];
    let mut writer = TraceWriter::new(Vec::new(), "memory", WriterOptions::default()).unwrap();
    writer.push(&good).unwrap();
    for access in bad {
        let message = writer.push(&access).unwrap_err().to_string();
        assert!(message.contains("record 1: expected"), "{message}");
    }
    assert_eq!(writer.references(), 1);
}
