//! Size and speed of the trace store, on synthetic traces and on `.hnt` files named as arguments:
//! `cargo bench -p homenode-trace -- T.hnt`. Prints a table, then one JSON object a line.
//!
//! Speeds are for one core, the best of several runs, without the disk. Encoding takes the best run
//! of every 4096 references, which are in the processor's caches, as in a recording. `before` is
//! the speed of the earlier encoder, which encoded a whole chunk at a time.

#[path = "../examples/synthetic/mod.rs"]
mod synthetic;

use std::time::Instant;

use homenode_base::Access;
use homenode_trace::{
    Batch, Columns, Metadata, TraceError, TraceReader, TraceWriter, Want, WriterOptions,
};

/// References of each synthetic trace.
const COUNT: u64 = 1 << 22;
/// Runs; the best one counts.
const RUNS: u32 = 5;
/// References encoded at a time: 128 KiB.
const PORTION: usize = 1 << 12;
/// Speed of the encoder at 5466a51 in millions of references per second, with and without program
/// counters, on one core of an EPYC 9004 at 2.6 GHz.
const BEFORE: &[(&str, [f64; 2])] =
    &[("matrix-sweep", [40.4, 31.8]), ("eight-threads", [38.6, 39.8]), ("random", [13.1, 15.6])];

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
            rows.extend(batch.accesses());
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
    let (encode_s, file) = encode(rows, options)?;
    let bytes = file.len() as u64;
    let trace = TraceReader::from_bytes(file, "memory")?;
    let want = Want { columns: Columns { pc, ..Columns::default() }, events: false };
    let mut batch = Batch::default();
    let decode_s = best(|| {
        (0..trace.chunks().len()).try_for_each(|index| trace.read_chunk(index, want, &mut batch))
    })?;
    Ok(Line { name: name.into(), pc, rows: rows.len() as u64, bytes, encode_s, decode_s })
}

/// Encoding time in seconds, and the trace.
fn encode(rows: &[Access], options: WriterOptions) -> Result<(f64, Vec<u8>), TraceError> {
    let mut least = vec![f64::INFINITY; rows.len().div_ceil(PORTION) + 1];
    let mut portion = Vec::with_capacity(PORTION);
    let mut file = Vec::new();
    for _ in 0..RUNS {
        file.clear();
        let mut writer = TraceWriter::new(&mut file, "memory", options)?;
        let mut times = least.iter_mut();
        let mut keep_least = |start: Instant| {
            if let Some(least) = times.next() {
                *least = least.min(start.elapsed().as_secs_f64());
            }
        };
        for part in rows.chunks(PORTION) {
            portion.clear();
            portion.extend_from_slice(part);
            let start = Instant::now();
            writer.push_all(&portion)?;
            keep_least(start);
        }
        let start = Instant::now();
        writer.finish(Metadata::default())?;
        keep_least(start);
    }
    Ok((least.iter().sum(), file))
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
        "{:<28} {:>3} {:>12} {:>11} {:>11} {:>11}",
        "trace", "pc", "bytes/ref", "encode/s", "before/s", "decode/s"
    );
    for Line { name, pc, rows, bytes, encode_s, decode_s } in lines {
        let rows = *rows as f64;
        let (size, encode, decode) =
            (*bytes as f64 / rows, rows / encode_s / 1e6, rows / decode_s / 1e6);
        let before = BEFORE.iter().find(|(known, _)| known == name);
        let before =
            before.map_or("-".to_owned(), |(_, of)| format!("{:.1} M", of[usize::from(!pc)]));
        let pc = if *pc { "yes" } else { "no" };
        println!("{name:<28} {pc:>3} {size:>12.4} {encode:>9.1} M {before:>11} {decode:>9.1} M");
    }
    for Line { name, pc, rows, bytes, encode_s, decode_s } in lines {
        println!(
            "{{\"bench\":\"trace\",\"trace\":{name:?},\"pc\":{pc},\"references\":{rows},\
             \"bytes\":{bytes},\"encode_s\":{encode_s:.6},\"decode_s\":{decode_s:.6}}}"
        );
    }
}
