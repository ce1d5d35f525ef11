//! What clang's assembly says of its instructions.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

use crate::code::Code;
use crate::statement::{Kind, Piece};

/// The last version that leaves a load behind when a hook performs it; the next one deletes it.
const LEAVES_LOADS: u32 = 20;

/// What is known of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Noted {
    /// It saves or loads a register that had to give way.
    pub(crate) is_spill: bool,
    /// It is a load that a hook has performed, and whose value is not used.
    pub(crate) is_left_behind: bool,
}

/// What the comments and the calls of hooks say, for each instruction.
pub(crate) fn noted(pieces: &[Piece<'_>], code: &Code) -> Vec<Noted> {
    let leaves_loads = version(pieces).is_some_and(|version| version <= LEAVES_LOADS);
    let mut performed = None;
    let mut all = Vec::new();
    for piece in pieces {
        let text = piece.text;
        match piece.kind {
            _ if piece.is_code() => {
                let instruction = &code.all[all.len()].instruction;
                let is_left_behind = is_left_behind(&mut performed, instruction);
                all.push(Noted { is_spill: is_spill(text), is_left_behind });
                if leaves_loads {
                    performed = performed_load(text).or(performed);
                }
            }
            // Labels of the debugging information are no targets of jumps.
            Kind::Label if !text.trim_start().starts_with(".Ltmp") => performed = None,
            _ => {}
        }
    }
    all
}

/// The major version, which clang writes at the end of a file.
fn version(pieces: &[Piece<'_>]) -> Option<u32> {
    let mut directives = pieces.iter().rev().map(|piece| piece.text);
    let ident = directives.find(|text| text.trim_start().starts_with(".ident"))?;
    let (_, version) = ident.split_once("clang version ")?;
    version.split('.').next()?.parse().ok()
}

fn is_spill(text: &str) -> bool {
    let comment = text.split_once('#').map(|(_, comment)| comment);
    comment.is_some_and(|comment| comment.contains("Spill") || comment.contains("Reload"))
}

/// The bytes of the atomic load that a hook performs, if this statement calls one.
fn performed_load(text: &str) -> Option<usize> {
    let (_, name) = text.split_once("__tsan_atomic")?;
    let (bits, _) = name.split_once("_load")?;
    bits.parse::<usize>().ok().map(|bits| bits / 8)
}

fn is_left_behind(performed: &mut Option<usize>, instruction: &Instruction) -> bool {
    let Some(bytes) = *performed else { return false };
    if instruction.flow_control() != FlowControl::Next {
        *performed = None;
        return false;
    }
    let loads = instruction.op0_kind() == OpKind::Register
        && (1..instruction.op_count()).any(|at| instruction.op_kind(at) == OpKind::Memory)
        && instruction.mnemonic() != Mnemonic::Lea
        && instruction.memory_size().size() == bytes
        && !matches!(instruction.memory_base(), Register::RSP | Register::RBP);
    if loads {
        *performed = None;
    }
    loads
}
