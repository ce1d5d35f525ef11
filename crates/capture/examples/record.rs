//! Records a program:
//! `cargo run --example record -- T.hnt [quantum=Q] [order=free|logical] PROGRAM ARGS`.

use homenode_capture::{Order, RecordOptions, record};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1).peekable();
    let mut options =
        RecordOptions { output: words.next().unwrap_or_default(), ..RecordOptions::default() };
    while let Some(word) = words.next_if(|word| word.contains('=')) {
        match word.split_once('=') {
            Some(("quantum", value)) => options.quantum = value.parse()?,
            Some(("level", value)) => options.level = value.parse()?,
            Some(("native", value)) => options.native = value.parse()?,
            Some(("memory", value)) => options.system.memory_mib = value.parse()?,
            Some(("initramfs", value)) => options.system.initramfs = value.to_owned(),
            Some(("plugin", value)) => {
                options.plugin = value.to_owned();
                options.via = "qemu-system".to_owned();
            }
            Some(("order", "free")) => options.order = Order::Free,
            Some(("order", "logical")) => options.order = Order::Logical,
            _ => return Err(format!("unknown option {word}").into()),
        }
    }
    options.argv = words.collect();
    let summary = record(&options, &mut |_| true)?;
    println!("{}", serde_json::to_string_pretty(&summary)?);
    Ok(())
}
