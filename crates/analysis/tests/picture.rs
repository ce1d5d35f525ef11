//! Small traces whose pictures are known.

use std::ops::ControlFlow;

use homenode_analysis::{AnalysisError, PictureFrame, SharingPicture, picture};
use homenode_base::{Access, AccessKind, BlockSize, Flags, ReferenceFilter};
use homenode_trace::{
    Columns, Event, EventKind, Metadata, TraceReader, TraceWriter, WriterOptions,
};

use AccessKind::{Read, Write};

/// References, the end of initialisation before the one numbered `init`.
fn trace(accesses: &[Access], init: usize) -> TraceReader {
    let mut bytes = Vec::new();
    let columns = Columns { flags: true, ..Columns::default() };
    // Small chunks, so that pictures cross some.
    let options = WriterOptions { columns, chunk_rows: 3, ..WriterOptions::default() };
    let mut writer = TraceWriter::new(&mut bytes, "made by hand", options).expect("a header");
    for (number, access) in accesses.iter().enumerate() {
        if number == init {
            let event = Event { thread: 0, what: EventKind::InitDone };
            writer.event(event).expect("an event");
        }
        writer.push(access).expect("a reference");
    }
    writer.finish(Metadata::default()).expect("a footer");
    TraceReader::from_bytes(bytes, "made by hand").expect("a complete trace")
}

fn frame(stretches_max: usize, slices: u32, processors: u16) -> PictureFrame {
    let block_size = BlockSize::new(64).expect("a block size");
    PictureFrame {
        block_size,
        stretches_max,
        slices,
        processors,
        filter: ReferenceFilter::default(),
    }
}

fn drawn(trace: &TraceReader, frame: &PictureFrame) -> SharingPicture {
    picture(trace, frame, &mut |_, _| ControlFlow::Continue(())).expect("a picture")
}

fn access(thread: u16, kind: AccessKind, addr: u64) -> Access {
    Access::new(thread, kind, addr, 4)
}

#[test]
fn a_cell_says_who_referenced_a_stretch_in_a_slice() {
    // Two slices of four references; blocks 0x40 and 0x80.
    let accesses = [
        access(0, Write, 0x40),
        access(1, Read, 0x80),
        access(0, Read, 0x44),
        access(2, Read, 0x84),
        access(1, Write, 0x48),
        access(1, Read, 0x80),
        access(2, Read, 0x40),
        access(1, Read, 0x80),
    ];
    let found = drawn(&trace(&accesses, 5), &frame(8, 2, 3));
    assert_eq!((found.references, found.init_done), (8, Some(5)));
    assert_eq!(found.slices, [[4, 1], [2, 5]], "0 writes, several read; some write, 1 reads");
    assert_eq!(found.map.rows.len(), 2);
    assert_eq!(found.map.rows[1].reads, [0, 3, 1]);
}

#[test]
fn stretches_grow_and_processors_take_several_threads() {
    let accesses: Vec<Access> =
        (0..16).map(|i: u16| access(i % 4, Read, 0x1000 + 64 * u64::from(i))).collect();
    let found = drawn(&trace(&accesses, 0), &frame(4, 1, 2));
    assert_eq!((found.map.row_bytes, found.map.rows.len()), (256, 4));
    assert_eq!(found.slices, [[1, 1, 1, 1]], "threads 0 and 2 are processor 0");
    let alone = drawn(&trace(&accesses, 0), &frame(4, 1, 1));
    assert_eq!(alone.slices, [[3, 3, 3, 3]]);
}

#[test]
fn private_and_synchronisation_references_are_left_out() {
    let mut accesses = [access(0, Write, 0x40), access(1, Write, 0x80), access(1, Read, 0x40)];
    accesses[1].flags = Flags::PRIVATE;
    accesses[2].flags = Flags::SYNC;
    let found = drawn(&trace(&accesses, 2), &frame(4, 2, 2));
    assert_eq!((found.references, found.init_done), (1, Some(1)));
    assert_eq!(found.slices, [[4], [0]]);
}

#[test]
fn an_empty_trace_has_an_empty_picture() {
    let found = drawn(&trace(&[], 0), &frame(4, 2, 2));
    assert_eq!((found.references, found.init_done), (0, None));
    assert_eq!(found.slices, [[0u32; 0], [0; 0]]);
}

#[test]
fn the_callback_stops_it() {
    let trace = trace(&[access(0, Read, 0)], 0);
    let stopped = picture(&trace, &frame(4, 2, 1), &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(AnalysisError::Interrupted)));
}
