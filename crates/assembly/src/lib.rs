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
use statement::{Line, Piece, lines, without_long_comments};

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
    for line in lines(&without_long_comments(text)) {
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
    let text = without_long_comments(text);
    let all: Vec<Line<'_>> = lines(&text).collect();
    let texts: Vec<&str> = all.iter().flat_map(Line::instructions).collect();
    let code = Code::read(object, texts.len(), text.contains(".if"))?;
    let mut emitter = Emitter::new(&all, &code, texts);
    let early = resolvers(&text);
    for line in &all {
        for piece in &line.pieces {
            match piece {
                Piece::Instruction(text) if emitter.is_early => emitter.unchanged(text),
                Piece::Instruction(_) => emitter.instruction(),
                Piece::Label(text) => {
                    let name = text.trim().trim_end_matches(':');
                    emitter.is_early |= early.contains(&name);
                    emitter.other(text);
                }
                Piece::Other(text) => {
                    emitter.is_early &= !text.trim_start().starts_with(".size");
                    emitter.other(text);
                }
            }
        }
    }
    Ok(emitter.finish())
}

/// Functions that choose another one when the program is loaded, before the recorder is ready.
fn resolvers(text: &str) -> Vec<&str> {
    if !text.contains("gnu_indirect_function") {
        return Vec::new();
    }
    let pairs = |directive: &'static str| {
        text.lines().filter_map(move |line| {
            let (name, value) = line.trim().strip_prefix(directive)?.split_once(',')?;
            Some((name.trim(), value.trim()))
        })
    };
    let indirect: Vec<&str> = pairs(".type")
        .filter(|(_, kind)| kind.contains("gnu_indirect_function"))
        .map(|(name, _)| name)
        .collect();
    pairs(".set").filter(|(name, _)| indirect.contains(name)).map(|(_, of)| of).collect()
}
