//! Inserts the recorder's hooks into the assembly that a compiler writes (x86-64, AT&T syntax).
//!
//! A hook before every access of the machine code sees what no pass of a compiler sees: vectors,
//! constant tables, in-line copies, atomic updates without a hook of their own, accesses that an
//! optimisation has removed or moved. It is the same for every compiler and language.
//!
//! [`with_labels`] gives every instruction a label. The compiler assembles that text, so that
//! [`instrumented`] finds each instruction's bytes and its decoder says what the instruction
//! accesses; the text of its operand says where, with all symbols.
//!
//! Not recorded: the stack's own traffic (pushes, calls, spilled registers), literals, and tables
//! of addresses of the compiler; none of these is data of the program.
#![forbid(unsafe_code)]
#![expect(clippy::wildcard_enum_match_arm, reason = "the processor has two thousand instructions")]

mod clang;
mod code;
mod emit;
mod frame;
mod gcc;
mod lanes;
mod liveness;
mod operand;
mod statement;

use std::fmt::Write as _;

use code::Code;
use emit::Emitter;
use statement::{Line, Piece, lines};

/// Why a file cannot be instrumented.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// The assembled file cannot be read.
    #[error("the assembled file cannot be read: {0}")]
    Object(String),
}

/// Prefix of the labels; the number of the instruction follows.
const LABEL: &str = ".Lhomenode_";

/// The text with a label in front of every instruction.
#[must_use]
pub fn with_labels(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 3 / 2);
    let mut number = 0usize;
    for line in lines(text) {
        for piece in &line.pieces {
            if let Piece::Instruction(_) = piece {
                let _ = writeln!(out, "{LABEL}{number}:");
                number += 1;
            }
            out.push_str(piece.text());
            out.push('\n');
        }
    }
    out
}

/// The text with hooks; `object` is what the assembler makes of [`with_labels`] of the same text
/// when it keeps local labels.
///
/// # Errors
/// When the object cannot be read, or does not belong to the text.
pub fn instrumented(text: &str, object: &[u8]) -> Result<String, AssemblyError> {
    let code = Code::read(object)?;
    let all: Vec<Line<'_>> = lines(text).collect();
    let texts: Vec<&str> = all.iter().flat_map(Line::instructions).collect();
    if texts.len() != code.all.len() {
        return Err(AssemblyError::Object(format!(
            "{} instructions in the text, {} labels in the object",
            texts.len(),
            code.all.len()
        )));
    }
    let mut emitter = Emitter::new(&all, &code, texts);
    for line in &all {
        for piece in &line.pieces {
            match piece {
                Piece::Instruction(_) => emitter.instruction(),
                Piece::Label(text) | Piece::Other(text) => emitter.other(text),
            }
        }
    }
    Ok(emitter.finish())
}
