//! Instruments a file by hand: `instrument label IN.s OUT.s`, assemble, then
//! `instrument hook IN.s LABELLED.o OUT.s`.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&words[2])?;
    if words[1] == "label" {
        std::fs::write(&words[3], homenode_assembly::with_labels(&text))?;
    } else {
        let object = std::fs::read(&words[3])?;
        std::fs::write(&words[4], homenode_assembly::instrumented(&text, &object)?)?;
    }
    Ok(())
}
