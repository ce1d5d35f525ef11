//! References counted in words: the transform and the reader compared with the definition.

use std::collections::BTreeSet;

use crate::made::{made, written};
use crate::support::{Step, accesses, by_hand, read, steps};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{
    Batch, Columns, Event, EventKind, Metadata, TraceReader, Want, WordSize, WriterOptions,
};
use homenode_transform::TransformError;

const SIZES: [u64; 7] = [1, 2, 4, 8, 16, 32, 64];

fn trace_of(steps: &[Step], columns: Columns, chunk_rows: u32) -> TraceReader {
    let options = WriterOptions { columns, level: 1, chunk_rows };
    written("sample.hnt", steps, options, Metadata { word_size: 4, ..Metadata::default() })
}

/// The definition: a reference to each touched word; the first one has the gap.
fn by_definition(steps: &[Step], bytes: u64) -> Vec<Step> {
    let mut expected = Vec::new();
    for step in steps {
        let Step::Access(access) = step else {
            expected.push(step.clone());
            continue;
        };
        if access.kind == AccessKind::Fetch {
            expected.push(step.clone());
            continue;
        }
        let touched = (0..u64::from(access.size)).filter_map(|byte| access.addr.checked_add(byte));
        let words: BTreeSet<u64> = touched.map(|byte| byte / bytes * bytes).collect();
        for (nth, addr) in words.into_iter().enumerate() {
            let gap = if nth == 0 { access.gap } else { 0 };
            let size = u8::try_from(bytes).unwrap();
            expected.push(Step::Access(Access { addr, size, gap, ..*access }));
        }
    }
    expected
}

/// References of all sizes and alignments, some at the end of the address space, with events.
fn random_steps(seed: u64, count: u64) -> Vec<Step> {
    let mut rng = Rng::new(seed);
    let mut steps = Vec::new();
    for i in 0..count {
        if rng.below(9) == 0 {
            let what = EventKind::Marker { text: format!("before {i}") };
            steps.push(Step::Event(Event { thread: 1, what }));
        }
        let kind = AccessKind::from_code(u8::try_from(rng.below(4)).unwrap()).unwrap();
        let thread = u16::try_from(rng.below(3)).unwrap();
        let size = u8::try_from(1 + rng.below(64)).unwrap();
        let addr = if rng.below(20) == 0 { u64::MAX - rng.below(70) } else { rng.below(5000) };
        let [gap, pid] = [0; 2].map(|_| u32::try_from(rng.below(9)).unwrap());
        let flags = Flags(u8::try_from(rng.below(8)).unwrap());
        let pc = 0x40_0000 + rng.below(40);
        steps.push(Step::Access(Access {
            gap,
            pid,
            flags,
            pc,
            ..Access::new(thread, kind, addr, size)
        }));
    }
    let what = EventKind::InitDone;
    steps.push(Step::Event(Event { thread: 0, what }));
    steps
}

fn transformed(trace: &TraceReader, bytes: &str) -> Result<TraceReader, TransformError> {
    Ok(made(trace, "words", &[&format!("word-bytes={bytes}")])?.0)
}

fn in_words(trace: &TraceReader, bytes: u64) -> TraceReader {
    let word = WordSize::new(bytes).unwrap();
    let mut batch = Batch::default();
    let each = 0..trace.chunks().len();
    let counted = each.map(|index| trace.count_words(index, word, &mut batch).unwrap()).collect();
    trace.in_words(word, counted)
}

#[test]
fn a_double_and_a_straddling_word_are_two_words() {
    let trace = trace_of(&by_hand("0W1000/8 1R1000/8 1R1004 0R1006"), Columns::ALL, 10);
    let words = in_words(&trace, 4);
    assert_eq!((trace.references(), words.references()), (4, 7));
    let expected = by_hand("0W1000 0W1004 1R1000 1R1004 1R1004 0R1004 0R1008");
    assert_eq!(read(&words), expected);
    assert_eq!(read(&transformed(&trace, "4").unwrap()), expected);
    // Words of 8 bytes: the last reference straddles two of them, the one before is in one.
    let expected = by_hand("0W1000/8 1R1000/8 1R1000/8 0R1000/8 0R1008/8");
    assert_eq!(read(&in_words(&trace, 8)), expected);
}

#[test]
fn both_follow_the_definition() {
    for (seed, bytes) in SIZES.into_iter().enumerate() {
        for given in [steps(), random_steps(seed as u64, 400)] {
            let trace = trace_of(&given, Columns::ALL, 64);
            let expected = by_definition(&given, bytes);
            assert_eq!(read(&in_words(&trace, bytes)), expected, "{bytes}");
            let written = transformed(&trace, &bytes.to_string()).unwrap();
            assert_eq!(read(&written), expected, "{bytes}");
            written.verify().unwrap();
        }
    }
}

#[test]
fn the_index_and_the_order_are_those_of_the_written_trace() {
    for (seed, bytes) in SIZES.into_iter().enumerate() {
        // One chunk, so that both have the same chunks.
        let given = random_steps(seed as u64, 300);
        let trace = trace_of(&given, Columns::ALL, 1 << 20);
        let (view, written) = (in_words(&trace, bytes), transformed(&trace, &bytes.to_string()));
        let written = written.unwrap();
        let [mut found, expected] = [&view, &written].map(TraceReader::info);
        assert_eq!(found.checksum, trace.checksum(), "what was recorded");
        found.path.clone_from(&expected.path);
        found.bytes = expected.bytes;
        found.bytes_per_reference = expected.bytes_per_reference;
        found.checksum.clone_from(&expected.checksum);
        found.metadata.clone_from(&expected.metadata);
        assert_eq!(found, expected, "{bytes}");
        assert_eq!(view.serial_start().unwrap(), written.serial_start().unwrap());
        assert_eq!(view.read_outline(0).unwrap(), written.read_outline(0).unwrap());
    }
}

#[test]
fn chunks_have_their_time_and_any_column_may_be_omitted() {
    let given = random_steps(3, 500);
    let trace = trace_of(&given, Columns::default(), 32);
    let words = in_words(&trace, 4);
    let (mut batch, mut time) = (Batch::default(), 0);
    for index in 0..words.chunks().len() {
        assert_eq!(words.chunks()[index].first_time, time);
        words.read_chunk(index, Want::default(), &mut batch).unwrap();
        assert_eq!(batch.first_time, time);
        assert!(batch.gap.is_empty() && batch.pc.is_empty() && batch.events.is_empty());
        time += batch.kind.iter().filter(|&&kind| kind != AccessKind::Fetch.code()).count() as u64;
    }
    assert_eq!(time, words.references());
    assert_eq!(words.chunk_of_time(time - 1), Some(words.chunks().len() - 1));
    words.verify().unwrap();
}

#[test]
fn counting_in_words_is_idempotent() {
    let trace = trace_of(&random_steps(5, 300), Columns::ALL, 50);
    let once = transformed(&trace, "4").unwrap();
    assert_eq!(transformed(&once, "4").unwrap().checksum(), once.checksum());
    assert_eq!(in_words(&once, 4).references(), once.references());
}

#[test]
fn the_default_is_the_word_of_the_thesis_and_provenance_records_it() {
    let trace = trace_of(&by_hand("0W1000/8"), Columns::ALL, 10);
    let made = made(&trace, "words", &[]).unwrap().0;
    assert_eq!(accesses(&read(&made)).len(), 2);
    let step = made.metadata().provenance.last().unwrap();
    assert!(step.starts_with("transform words word-bytes=4 (homenode "), "{step}");
}

#[test]
fn invalid_word_sizes_are_errors() {
    let trace = trace_of(&by_hand("0W1000/8"), Columns::ALL, 10);
    for bytes in ["0", "3", "128", "-4", "four", "", "4.0"] {
        let error = transformed(&trace, bytes).unwrap_err().to_string();
        let expected = format!(
            "transform words: word-bytes={bytes}: expected a power of two from 1 to 64, such as 4"
        );
        assert_eq!(error, expected);
    }
    for bytes in [0, 3, 65, 96, 128, u64::MAX] {
        assert!(WordSize::new(bytes).is_none(), "{bytes}");
    }
}

#[test]
fn a_chunk_of_many_references_is_split_in_steps() {
    // More references than are split at a time, with an event at the boundary.
    let mut given = Vec::new();
    for i in 0..70_000u64 {
        if i == 65_536 {
            given.push(Step::Event(Event { thread: 0, what: EventKind::InitDone }));
        }
        given.push(Step::Access(Access::new(0, AccessKind::Read, 8 * i, 8)));
    }
    let trace = trace_of(&given, Columns::default(), 1 << 20);
    assert!(read(&transformed(&trace, "4").unwrap()) == by_definition(&given, 4));
}
