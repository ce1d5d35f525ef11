//! Files written by earlier versions, kept in `testdata`, stay readable.

use std::path::Path;

use crate::support::{read, small_chunks, steps, write};
use homenode_trace::TraceReader;

const CHECKSUM: &str = "eb4e8034b8c5580fb6f78697437c65c1";

#[test]
fn version_1_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/v1.hnt");
    let trace = TraceReader::open(path).unwrap();
    trace.verify().unwrap();
    assert_eq!(trace.checksum(), CHECKSUM);
    assert_eq!(read(&trace), steps());
    assert_eq!(trace.metadata().program, "sample");
    assert_eq!(trace.info().format_version, 1);
}

/// The same contents written today have the same checksum, whatever the bytes.
#[test]
fn the_checksum_of_the_same_contents_is_unchanged() {
    assert_eq!(write(&steps(), small_chunks(20)).1.checksum, CHECKSUM);
}
