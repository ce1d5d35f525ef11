//! Size and speed of the trace store, on synthetic traces and on `.hnt` files named as arguments:
//! `cargo bench -p homenode-trace -- T.hnt`. Prints a table, then one JSON object a line.
//!
//! Speeds are those of one core, the best of several runs, without the disk.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use std::time::Instant;

use homenode_base::Access;
use homenode_trace::{
    Batch, Columns, Metadata, TraceError, TraceReader, TraceWriter, Want, WriterOptions,
};

/// References of each synthetic trace.
const COUNT: u64 = 1 << 22;
/// Runs of which the best counts.
const RUNS: u32 = 5;

struct Line {
    name: String,
    pc: bool,
    rows: u64,
    bytes: u64,
    encode_s: f64,
    decode_s: f64,
}

fn main() -> Result<(), TraceError> {
    let mut lines = Vec::new();
    for (name, build) in synthetic::TABLE {
        let rows = build(COUNT);
        for pc in [true, false] {
            lines.push(measure(name, pc, &rows)?);
        }
    }
    for path in std::env::args().skip(1).filter(|argument| argument.ends_with(".hnt")) {
        let trace = TraceReader::open(&path)?;
        let mut batch = Batch::default();
        let mut rows = Vec::new();
        for index in 0..trace.chunks().len() {
            trace.read_chunk(index, Want::ALL, &mut batch)?;
            rows.extend((0..batch.len()).map(|row| batch.get(row)));
        }
        let name = path.rsplit('/').next().unwrap_or(&path);
        for pc in [true, false] {
            lines.push(measure(name, pc, &rows)?);
        }
    }
    print(&lines);
    Ok(())
}

fn measure(name: &str, pc: bool, rows: &[Access]) -> Result<Line, TraceError> {
    let columns = Columns { pc, flags: true, pid: true, gap: true };
    let options = WriterOptions { columns, ..WriterOptions::default() };
    let mut file = Vec::new();
    let encode_s = best(|| {
        file = Vec::new();
        let mut writer = TraceWriter::new(&mut file, "memory", options)?;
        rows.iter().try_for_each(|access| writer.push(access))?;
        writer.finish(Metadata::default()).map(|_| ())
    })?;
    let bytes = file.len() as u64;
    let trace = TraceReader::from_bytes(file, "memory")?;
    let want = Want { columns: Columns { pc, ..Columns::default() }, events: false };
    let mut batch = Batch::default();
    let decode_s = best(|| {
        (0..trace.chunks().len()).try_for_each(|index| trace.read_chunk(index, want, &mut batch))
    })?;
    Ok(Line { name: name.into(), pc, rows: rows.len() as u64, bytes, encode_s, decode_s })
}

fn best(mut work: impl FnMut() -> Result<(), TraceError>) -> Result<f64, TraceError> {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        work()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn print(lines: &[Line]) {
    println!(
        "{:<28} {:>3} {:>12} {:>11} {:>11}",
        "trace", "pc", "bytes/ref", "encode/s", "decode/s"
    );
    for Line { name, pc, rows, bytes, encode_s, decode_s } in lines {
        let rows = *rows as f64;
        let (size, encode, decode) =
            (*bytes as f64 / rows, rows / encode_s / 1e6, rows / decode_s / 1e6);
        let pc = if *pc { "yes" } else { "no" };
        println!("{name:<28} {pc:>3} {size:>12.4} {encode:>9.1} M {decode:>9.1} M");
    }
    for Line { name, pc, rows, bytes, encode_s, decode_s } in lines {
        println!(
            "{{\"bench\":\"trace\",\"trace\":{name:?},\"pc\":{pc},\"references\":{rows},\
             \"bytes\":{bytes},\"encode_s\":{encode_s:.6},\"decode_s\":{decode_s:.6}}}"
        );
    }
}
