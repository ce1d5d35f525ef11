//! The references of a case: the text format of `docs/trace-format.md`, with repetitions.

use std::io::Cursor;
use std::ops::ControlFlow;
use std::path::Path;

use homenode_base::Access;
use homenode_interchange::import::{ImportInput, find, import};
use homenode_trace::{
    Batch, Columns, Metadata, TraceError, TraceReader, TraceWriter, Want, WriterOptions,
};
use serde_json::Value;

const NAME: &str = "case";

/// Removes comments after `#`, ends lines at semicolons, and unrolls `repeat N` ... `end`.
///
/// # Errors
/// When a `repeat` has no number or no `end`, or an `end` no `repeat`.
pub fn expand(text: &str) -> Result<String, String> {
    let mut levels: Vec<(usize, String)> = vec![(1, String::new())];
    let plain = |line: &'_ str| line.split('#').next().unwrap_or_default().to_owned();
    let text: Vec<String> = text.lines().map(plain).collect();
    for line in text.iter().flat_map(|line| line.split(';')).map(str::trim) {
        if let Some(count) = line.strip_prefix("repeat ") {
            let count = count.trim().parse();
            levels.push((count.map_err(|e| format!("{line}: {e}"))?, String::new()));
        } else if line == "end" {
            let (count, body) = levels.pop().unwrap_or_default();
            let outer = levels.last_mut().ok_or("`end` without `repeat`")?;
            outer.1.push_str(&body.repeat(count));
        } else {
            let level = levels.last_mut().ok_or("`end` without `repeat`")?;
            level.1.push_str(line);
            level.1.push('\n');
        }
    }
    match &levels[..] {
        [(_, all)] => Ok(all.clone()),
        _ => Err("`repeat` without `end`".to_owned()),
    }
}

/// The trace that the text describes, in chunks of this many references. The case's metadata
/// replace the importer's.
///
/// # Errors
/// When a line or the metadata are invalid.
pub fn trace(text: &str, metadata: &Value, chunk_rows: u32) -> Result<TraceReader, String> {
    let options = WriterOptions { columns: Columns::ALL, level: 1, chunk_rows };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(&mut bytes, NAME, options).map_err(|e| e.to_string())?;
    writer.trim_columns();
    let mut lines = text.as_bytes();
    let input = ImportInput { reader: &mut lines, name: Path::new(NAME), bytes: None };
    let entry = find("text").map_err(|e| e.to_string())?;
    let imported = import(entry, input, &mut writer, &mut |_, _| ControlFlow::Continue(()));
    let imported = imported.map_err(|error| located(&error, text))?;
    let mut all = serde_json::to_value(imported).map_err(|e| e.to_string())?;
    for (field, value) in metadata.as_object().into_iter().flatten() {
        all[field] = value.clone();
    }
    let whole: Metadata = serde_json::from_value(all).map_err(|e| format!("metadata: {e}"))?;
    let back = serde_json::to_value(&whole).map_err(|e| e.to_string())?;
    if let Some((field, _)) =
        metadata.as_object().into_iter().flatten().find(|(field, _)| back.get(field).is_none())
    {
        return Err(format!("metadata: a trace has no {field:?}"));
    }
    writer.finish(whole).map_err(|e| e.to_string())?;
    TraceReader::from_bytes(bytes.into_inner(), NAME).map_err(|e| e.to_string())
}

/// An error with the line that it is about, because repetitions shift line numbers.
fn located(error: &TraceError, text: &str) -> String {
    let TraceError::Line { line, .. } = error else { return error.to_string() };
    let number = usize::try_from(*line).unwrap_or(usize::MAX);
    let line = text.lines().nth(number.saturating_sub(1)).unwrap_or_default();
    format!("{error}, in {line:?}")
}

pub fn accesses(trace: &TraceReader) -> Result<Vec<Access>, String> {
    let (mut all, mut batch) = (Vec::new(), Batch::default());
    for index in 0..trace.chunks().len() {
        trace.read_chunk(index, Want::ALL, &mut batch).map_err(|e| e.to_string())?;
        all.extend(batch.accesses());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_unrolled() {
        let text = "0 R 0 # end; end\nrepeat 2\n 1 R 4\n repeat 3; 2 R 8; end; end\n3 R c";
        let expected = "0 R 0\n1 R 4\n2 R 8\n2 R 8\n2 R 8\n1 R 4\n2 R 8\n2 R 8\n2 R 8\n3 R c\n";
        assert_eq!(expand(text).expect("a script"), expected);
        assert!(expand("repeat x; end").is_err());
        assert!(expand("repeat 2; 0 R 0").is_err());
        assert!(expand("0 R 0; end").is_err());
    }
}
