//! ELF and DWARF: from an address to an object, a function and a source line.
//!
//! Apart from [`Symbolizer::open`], which reads one file and the debug file that belongs to it,
//! nothing here does input or output. All contents of a file are checked, because a trace may name
//! a program that is damaged or hostile: the result is then a [`SymbolError`] with an offset, never
//! a panic.
//!
//! Addresses are *addresses in the file*: the address at run time minus the load bias, which is 0
//! for programs that are not position independent. A program counter taken from a return address
//! points past the call; subtract 1 to look up the call itself.

mod allocated;
mod calls;
mod contents;
mod demangle;
mod dwarf;
mod elf;
mod error;
mod info;
mod layout;
mod locals;
mod ranges;
mod reading;
mod separate;
mod symbolizer;
mod tree;
mod unwind;

pub use allocated::AllocatedType;
pub use calls::AllocationFrame;
pub use demangle::demangle;
pub use elf::Unhooked;
pub use error::SymbolError;
pub use layout::{DataField, DataType};
pub use locals::{LocalVariable, StackFrame};
pub use separate::DEBUG_FOLDER;
pub use symbolizer::{DataSymbol, InlineFrame, SourceLocation, Symbolizer};

/// Entry point of the fuzzer: parses arbitrary bytes, as a program and as a separate debug file,
/// and makes every kind of query.
///
/// Returns how many queries had an answer, so that a corpus test can distinguish parsed files from
/// rejected ones.
///
/// # Errors
/// As [`Symbolizer::parse`].
pub fn fuzz_parse(bytes: &[u8]) -> Result<usize, SymbolError> {
    if let Ok(symbolizer) = Symbolizer::parse_separate(std::path::Path::new(""), bytes.to_vec()) {
        answers(&symbolizer);
    }
    Ok(answers(&Symbolizer::parse(bytes)?))
}

/// How many queries have an answer.
fn answers(symbolizer: &Symbolizer) -> usize {
    let data = symbolizer.data_symbols();
    let mut answers = data.len() + symbolizer.tls_symbols().len();
    answers += symbolizer.static_types().len();
    for function in symbolizer.function_addresses().take(16) {
        let frames = symbolizer.allocation_frames(function);
        for number in 0..frames.len() {
            let text = "part->cells = (struct cell *)malloc(n * sizeof *cells);";
            answers += symbolizer.allocated_type(function, number, text).len();
        }
        answers += frames.len();
        answers +=
            symbolizer.locals(function, StackFrame { sp: 0x1000, fp: 0x1ff0, cfa: 0x2000 }).len();
    }
    let probes = [0, symbolizer.first_load_address(), 0x1000, 0x401_000, u64::MAX];
    for addr in probes {
        answers += usize::from(symbolizer.line(addr).is_some());
        answers += usize::from(symbolizer.function_start(addr).is_some());
        answers += usize::from(symbolizer.data_symbol_at(addr).is_some());
    }
    answers
}
