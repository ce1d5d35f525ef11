//! Program for the instruction count of encoding (`benches/instructions.toml`): 2^20 references.

mod synthetic;

use homenode_trace::{Columns, Metadata, TraceError, TraceWriter, WriterOptions};

fn main() -> Result<(), TraceError> {
    let columns = Columns { pc: true, ..Columns::default() };
    let options = WriterOptions { columns, ..WriterOptions::default() };
    let mut writer = TraceWriter::new(std::io::sink(), "nowhere", options)?;
    synthetic::eight_threads(1 << 20).iter().try_for_each(|access| writer.push(access))?;
    println!("{} references", writer.finish(Metadata::default())?.references);
    Ok(())
}
