//! One copy of the per-processor data of a kernel.

use crate::made::{made, trace_of};
use crate::support::{by_hand, read, steps, with_areas};
use homenode_trace::{TraceReader, WriterOptions};
use homenode_transform::TransformError;

fn transformed(trace: &TraceReader) -> Result<TraceReader, TransformError> {
    Ok(made(trace, "common-areas", &[])?.0)
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
    let error = transformed(&trace_of(&steps())).err().unwrap().to_string();
    assert!(error.starts_with("transform common-areas: the trace does not say where"), "{error}");
}
