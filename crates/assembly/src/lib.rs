//! Inserts the recorder's hooks into the assembly that a compiler writes (x86-64).
//!
//! A hook before every access of the machine code sees what no pass of a compiler sees: vectors,
//! constant tables, in-line copies, atomic updates without a hook of their own, accesses that an
//! optimisation has removed or moved. It is the same for every compiler and language.
//!
//! [`Assembly::label`] gives every instruction a label. That text is assembled, so that
//! [`Assembly::hook`] finds each instruction's bytes and its decoder says what the instruction
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
mod left_out;
mod liveness;
mod operand;
mod statement;
mod text;
mod uses;

use std::fmt::Write as _;
use std::io::{self, Write};

use code::Code;
use emit::Emitter;
use left_out::{LeftOut, Reason};
use statement::{Kind, Piece, pieces};
pub use text::Assembly;

/// Why a file cannot be instrumented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssemblyError {
    /// The assembled file cannot be read.
    #[error("the assembled file cannot be read: {0}")]
    Object(String),
    /// The text cannot be written.
    #[error("cannot write assembly: {0}")]
    Write(#[from] io::Error),
}

/// Entry point of the fuzzer: a text, a zero, and an object that need not belong to it.
///
/// # Errors
/// As [`Assembly::hook`].
pub fn fuzz_hook(data: &[u8]) -> Result<(), AssemblyError> {
    let end = data.iter().position(|&byte| byte == 0).unwrap_or(data.len());
    let text = Assembly::read(&data[..end])?;
    let object = data.get(end + 1..).unwrap_or_default();
    text.label(&mut io::sink())?;
    text.hook(object, &mut io::sink()).and(text.count(object, "a.s", &mut io::sink()))
}

/// Prefix of the labels; the number of the instruction follows.
const LABEL: &str = ".Lhomenode_";
/// Ending of the label after a macro or repetition.
const END: &str = "_end";
/// Bytes of text that are written at a time.
const CHUNK: usize = 1 << 20;

impl Assembly {
    /// Writes the text with a label in front of every instruction.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn label(&self, target: &mut impl Write) -> Result<(), AssemblyError> {
        let mut out = String::new();
        let mut number = 0usize;
        for piece in pieces(self.text()) {
            if piece.is_remark() || piece.kind == Kind::Debugging {
                continue;
            }
            if piece.is_code() {
                let _ = writeln!(out, "{LABEL}{number}:");
                number += 1;
            }
            out.push_str(piece.text);
            out.push('\n');
            if matches!(piece.kind, Kind::Macro | Kind::RepeatEnd) {
                let _ = writeln!(out, "{LABEL}{}{END}:", number.saturating_sub(1));
            }
            self.write(&mut out, CHUNK, target)?;
        }
        self.write(&mut out, 0, target)
    }

    /// Writes the text with hooks; `object` is what the assembler makes of the labelled text when
    /// it keeps local labels.
    ///
    /// # Errors
    /// When the object cannot be read, or does not belong to the text, or the result cannot be
    /// written.
    pub fn hook(&self, object: &[u8], target: &mut impl Write) -> Result<(), AssemblyError> {
        let pieces = pieces(self.text());
        let code = self.code(object, &pieces)?;
        let mut emitter = Emitter::new(&pieces, &code);
        for piece in &pieces {
            emitter.piece(piece);
            self.write(&mut emitter.out, CHUNK, target)?;
        }
        emitter.out.push_str(&emitter.left_out.section(left_out::source(self.text())));
        if emitter.has_hooks {
            emitter.out.push_str(&code.uses.section());
        }
        self.write(&mut emitter.out, 0, target)
    }

    /// Writes the text as it is, with a count of the instructions that have no hooks. Debugging
    /// information that the assembler makes is to be for the file `name`.
    ///
    /// # Errors
    /// As for [`Assembly::hook`].
    pub fn count(
        &self,
        object: &[u8],
        name: &str,
        target: &mut impl Write,
    ) -> Result<(), AssemblyError> {
        let code = self.code(object, &pieces(self.text()))?;
        let accesses = code.all.iter().filter(|coded| !coded.within);
        let accesses =
            accesses.map(|coded| coded.accesses + u32::from(coded.accesses_data())).sum();
        let reason = if self.is_of_a_compiler() { Reason::Refused } else { Reason::ByHand };
        let mut left_out = LeftOut::default();
        left_out.add(reason, accesses);
        let is_plain = !self.is_of_a_compiler() && !self.text().starts_with("# ");
        let mut out = if is_plain { format!("# 1 \"{name}\"\n") } else { String::new() };
        out.push_str(self.text());
        let file = if is_plain { name } else { left_out::source(self.text()) };
        out.push_str(&left_out.section(file));
        self.write(&mut out, 0, target)
    }

    fn code(&self, object: &[u8], pieces: &[Piece<'_>]) -> Result<Code, AssemblyError> {
        Code::read(object, pieces, self.text().contains(".if"))
    }

    /// Writes what has accumulated, if it is more than `least`.
    fn write(
        &self,
        out: &mut String,
        least: usize,
        target: &mut impl Write,
    ) -> Result<(), AssemblyError> {
        if out.len() > least {
            target.write_all(&self.encoded(out))?;
            out.clear();
        }
        Ok(())
    }
}
