//! Interrupting a picture, which no case can test: the content of pictures is worked out by hand in
//! `testdata/cases/picture.toml`.

use std::ops::ControlFlow;

use homenode_analysis::{AnalysisError, PictureFrame, picture};
use homenode_base::{Access, AccessKind, BlockSize, ReferenceFilter};
use homenode_trace::{Metadata, TraceReader, TraceWriter, WriterOptions};

#[test]
fn the_callback_stops_it() {
    let mut bytes = Vec::new();
    let options = WriterOptions::default();
    let mut writer = TraceWriter::new(&mut bytes, "made by hand", options).expect("a header");
    writer.push(&Access::new(0, AccessKind::Read, 0, 4)).expect("a reference");
    writer.finish(Metadata::default()).expect("a footer");
    let trace = TraceReader::from_bytes(bytes, "made by hand").expect("a complete trace");
    let frame = PictureFrame {
        block_size: BlockSize::new(64).expect("a block size"),
        stretches_max: 4,
        slices: 2,
        processors: 1,
        filter: ReferenceFilter::default(),
    };
    let stopped = picture(&trace, &frame, &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(AnalysisError::Interrupted)));
}
