//! Instruments a file by hand: `instrument label IN.s OUT.s`, assemble, then
//! `instrument hook IN.s LABELLED.o OUT.s`.
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let text = homenode_assembly::Assembly::read(BufReader::new(File::open(&words[2])?))?;
    if words[1] == "label" {
        text.label(&mut BufWriter::new(File::create(&words[3])?))?;
    } else {
        text.hook(&fs::read(&words[3])?, &mut BufWriter::new(File::create(&words[4])?))?;
    }
    Ok(())
}
