//! Program for the instruction count of decoding (`benches/instructions.toml`): 2^22 references. A
//! trace of 2^16 references is written once and read 64 times, so writing is negligible.

mod synthetic;

use homenode_trace::{
    Batch, Columns, Metadata, TraceError, TraceReader, TraceWriter, Want, WriterOptions,
};

fn main() -> Result<(), TraceError> {
    let columns = Columns { pc: true, ..Columns::default() };
    let mut file = Vec::new();
    let options = WriterOptions { columns, ..WriterOptions::default() };
    let mut writer = TraceWriter::new(&mut file, "memory", options)?;
    synthetic::eight_threads(1 << 16).iter().try_for_each(|access| writer.push(access))?;
    writer.finish(Metadata::default())?;
    let trace = TraceReader::from_bytes(file, "memory")?;
    let mut batch = Batch::default();
    let mut references = 0;
    for _ in 0..64 {
        trace.read_chunk(0, Want::ALL, &mut batch)?;
        references += batch.len();
    }
    println!("{references} references");
    Ok(())
}
