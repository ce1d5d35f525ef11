//! Traces as the tests make them, and what transforms make of these.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::support::{Step, small_chunks};
use homenode_base::Access;
use homenode_trace::{Metadata, TraceReader, TraceWriter, WriterOptions};
use homenode_transform::{TransformError, WrittenTrace, transform_file};

pub fn written(
    name: &str,
    steps: &[Step],
    options: WriterOptions,
    metadata: Metadata,
) -> TraceReader {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(&mut bytes, name, options).unwrap();
    for step in steps {
        match step {
            Step::Access(access) => writer.push(access).unwrap(),
            Step::Event(event) => writer.event(event.clone()).unwrap(),
        }
    }
    writer.finish(metadata).unwrap();
    TraceReader::from_bytes(bytes, name).unwrap()
}

/// The same with all columns, in small chunks.
pub fn trace_of(steps: &[Step]) -> TraceReader {
    let metadata = Metadata { program: "sample".into(), word_size: 4, ..Metadata::default() };
    written("sample.hnt", steps, small_chunks(50), metadata)
}

pub fn parameters(words: &[&str]) -> BTreeMap<String, String> {
    let pair = |word: &&str| {
        let (name, value) = word.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    };
    words.iter().map(pair).collect()
}

/// The traces that a transform writes, and its reports. After an error nothing is left.
pub fn pieces(
    trace: &TraceReader,
    name: &str,
    words: &[&str],
) -> Result<Vec<(TraceReader, WrittenTrace)>, TransformError> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("u.hnt");
    let go_on = &mut |_, _| ControlFlow::Continue(());
    let pieces = transform_file(trace, name, &parameters(words), &out, go_on);
    let count = pieces.as_ref().map_or(0, Vec::len);
    assert_eq!(folder.path().read_dir().unwrap().count(), count);
    let open = |piece: WrittenTrace| {
        let bytes = std::fs::read(&piece.path).unwrap();
        let trace = TraceReader::from_bytes(bytes, &piece.path).unwrap();
        trace.verify().unwrap();
        assert_eq!(trace.references(), piece.summary.references);
        (trace, piece)
    };
    Ok(pieces?.into_iter().map(open).collect())
}

/// The one trace that a transform writes, and its report.
pub fn made(
    trace: &TraceReader,
    name: &str,
    words: &[&str],
) -> Result<(TraceReader, WrittenTrace), TransformError> {
    let mut made = pieces(trace, name, words)?;
    assert_eq!(made.len(), 1);
    Ok(made.remove(0))
}

pub fn thread_of(step: &Step) -> u16 {
    match step {
        Step::Access(Access { thread, .. }) => *thread,
        Step::Event(event) => event.thread,
    }
}

pub fn by_thread(steps: &[Step]) -> BTreeMap<u16, Vec<Step>> {
    let mut threads: BTreeMap<u16, Vec<Step>> = BTreeMap::new();
    for step in steps {
        threads.entry(thread_of(step)).or_default().push(step.clone());
    }
    threads
}
