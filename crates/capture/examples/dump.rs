//! Prints a trace as text: `cargo run --example dump -- T.hnt [ROWS]`.

use homenode_trace::{Batch, TraceReader, Want};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let reader = TraceReader::open(words.next().unwrap_or_default())?;
    let mut rows: usize = words.next().map_or(Ok(100), |word| word.parse())?;
    let metadata = reader.metadata();
    println!("{} {:?}: {} references", metadata.order, metadata.program, reader.references());
    let mut batch = Batch::default();
    for chunk in 0..reader.chunks().len() {
        reader.read_chunk(chunk, Want::ALL, &mut batch)?;
        let mut events = batch.events.iter().peekable();
        for row in 0..batch.len().min(rows) {
            while let Some((_, event)) = events.next_if(|(at, _)| *at as usize <= row) {
                println!("  {} {:?}", event.thread, event.what);
            }
            let a = batch.get(row);
            let line = metadata.lines.binary_search_by_key(&a.pc, |line| line.pc);
            let line = line.map_or_else(
                |_| String::new(),
                |at| {
                    let l = &metadata.lines[at];
                    format!("{}:{} {}", l.file, l.line, l.function)
                },
            );
            println!(
                "{} {} {:#x} {} f{} {line}",
                a.thread,
                a.kind.letter(),
                a.addr,
                a.size,
                a.flags.0
            );
        }
        for (_, event) in events {
            println!("  {} {:?}", event.thread, event.what);
        }
        rows = rows.saturating_sub(batch.len());
    }
    for range in &metadata.ranges {
        println!("{range:?}");
    }
    Ok(())
}
