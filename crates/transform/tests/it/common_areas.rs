//! One copy of the per-processor data of a kernel.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::support::{by_hand, read, steps, with_areas, write};
use homenode_trace::{TraceReader, WriterOptions};
use homenode_transform::{TransformError, transform_file};

fn transformed(trace: &TraceReader) -> Result<TraceReader, TransformError> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("u.hnt");
    let go_on = &mut |_, _| ControlFlow::Continue(());
    transform_file(trace, "common-areas", &BTreeMap::new(), &out, go_on)?;
    Ok(TraceReader::from_bytes(std::fs::read(&out).unwrap(), &out).unwrap())
}

#[test]
fn per_processor_data_becomes_one_copy() {
    let options = WriterOptions::default();
    let trace = with_areas(&by_hand("0W1000 0R1020 1R1040/8 1W104c 1W1050 0R101c"), options);
    let made = transformed(&trace).unwrap();
    assert_eq!(read(&made), by_hand("0W1000 0R1020 1R1020/8 1W102c 1W1050 0R101c"));
    let metadata = made.metadata();
    assert_eq!(metadata.processor_areas, None);
    let starts: Vec<u64> = metadata.ranges.iter().map(|range| range.start).collect();
    assert_eq!(starts, [0x1000, 0x1020], "the other area has no names");
    let bytes = write(&steps(), options).0;
    let without = TraceReader::from_bytes(bytes, "sample.hnt").unwrap();
    let error = transformed(&without).err().unwrap().to_string();
    assert!(error.starts_with("transform common-areas: the trace does not say where"), "{error}");
}
