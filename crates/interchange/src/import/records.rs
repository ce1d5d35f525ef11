//! Binary files of records of equal size.

use std::io::Read;

use homenode_trace::TraceError;

use super::TraceProgress;
use super::input::{ImportInput, PROGRESS_LINES};
use super::parser::{LineError, RecordSink, Records};

/// Bytes by which a format may tell its forms apart.
const HEAD_BYTES: u64 = 192 * 64;

/// Reads all records of an input.
pub(super) fn read(
    build: fn(&[u8]) -> Box<dyn Records>,
    input: ImportInput<'_>,
    sink: &mut dyn RecordSink,
    progress: &mut TraceProgress<'_>,
) -> Result<(), TraceError> {
    let path = input.name;
    let foreign = |offset: u64, expected: String, found: String| TraceError::ForeignRecord {
        path: path.to_owned(),
        offset,
        expected,
        found,
    };
    let mut head = Vec::new();
    let begun = (&mut *input.reader).take(HEAD_BYTES).read_to_end(&mut head);
    begun.map_err(|e| TraceError::io(path, "read", e))?;
    let mut records = build(&head);
    let bytes = records.bytes();
    let mut reader = head.as_slice().chain(input.reader);
    let mut record = Vec::with_capacity(bytes);
    let mut done = 0u64;
    for number in 1u64.. {
        record.clear();
        let part = (&mut reader).take(bytes as u64).read_to_end(&mut record);
        let part = part.map_err(|e| TraceError::io(path, "read", e))?;
        if part == 0 {
            break;
        }
        if part < bytes {
            return Err(foreign(
                done,
                format!("a record of {bytes} bytes"),
                format!("{part} bytes"),
            ));
        }
        records.record(&record, sink).map_err(|error| match error {
            LineError::Bad(bad) => foreign(done + bad.column as u64 - 1, bad.expected, bad.found),
            LineError::Writer(error) => error,
        })?;
        done += part as u64;
        if number.is_multiple_of(PROGRESS_LINES) && progress(done, input.bytes).is_break() {
            return Err(TraceError::Cancelled { path: path.to_owned() });
        }
    }
    if done == 0 {
        return Err(foreign(0, format!("records of {bytes} bytes"), "no bytes at all".into()));
    }
    if progress(done, input.bytes).is_break() {
        return Err(TraceError::Cancelled { path: path.to_owned() });
    }
    Ok(())
}
