//! Which references to a function's frame are data of the program.
//!
//! A frame has saved registers, spilled values, and variables. A variable whose address the
//! function takes may be another thread's business, and an indexed one is an array.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::code::Code;
use crate::statement::{Kind, Piece};

/// What is known of the frame at an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameAt {
    /// The function, by number.
    function: usize,
    /// Distance from the stack pointer to the canonical frame address, if that is how it is known.
    pub(crate) above_stack: Option<i64>,
    /// Whether unwinding information is being written.
    pub(crate) in_procedure: bool,
}

#[derive(Clone, Debug, Default)]
struct Function {
    /// Whether the base pointer points to the frame.
    has_base: bool,
    /// Places whose address is taken, from the canonical frame address.
    taken: Vec<i64>,
    /// The same, from the stack pointer, where that is at an unknown distance from the frame: the
    /// function has aligned it.
    taken_above_stack: Vec<i64>,
}

/// A place in a frame.
#[derive(Clone, Copy, Debug)]
enum FramePlace {
    /// Distance from the canonical frame address.
    InFrame(i64),
    /// Distance from the stack pointer.
    AboveStack(i64),
}

/// The frames of a file's functions.
pub(crate) struct Frames {
    at: Vec<FrameAt>,
    functions: Vec<Function>,
}

/// Distance of the base pointer, where it is used, from the canonical frame address.
const BASE_TO_FRAME: i64 = 16;

impl Frames {
    pub(crate) fn find(pieces: &[Piece<'_>], code: &Code) -> Self {
        let mut found = Self { at: Vec::new(), functions: vec![Function::default()] };
        let mut now = FrameAt::default();
        let mut earlier = Vec::new();
        for piece in pieces {
            match piece.kind {
                _ if piece.is_code() => {
                    let instruction = &code.all[found.at.len()].instruction;
                    found.at.push(now);
                    found.note(now, instruction);
                }
                Kind::Other => found.directive(piece.text.trim(), &mut now, &mut earlier),
                _ => {}
            }
        }
        found
    }

    fn directive(&mut self, text: &str, now: &mut FrameAt, earlier: &mut Vec<FrameAt>) {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let number = |text: &str| text.trim().parse::<i64>().ok();
        match word {
            ".cfi_startproc" => {
                self.functions.push(Function::default());
                *now = FrameAt {
                    function: self.functions.len() - 1,
                    above_stack: Some(8),
                    in_procedure: true,
                };
            }
            ".cfi_endproc" => *now = FrameAt::default(),
            ".cfi_def_cfa_offset" if now.above_stack.is_some() => now.above_stack = number(rest),
            ".cfi_adjust_cfa_offset" => {
                now.above_stack = now.above_stack.zip(number(rest)).map(|(a, b)| a + b);
            }
            ".cfi_def_cfa_register" => now.above_stack = None,
            ".cfi_def_cfa" => {
                let (register, offset) = rest.split_once(',').unwrap_or((rest, ""));
                let stack = matches!(register.trim(), "7" | "%rsp" | "rsp");
                now.above_stack = number(offset).filter(|_| stack);
            }
            ".cfi_escape" => now.above_stack = None,
            ".cfi_remember_state" => earlier.push(*now),
            ".cfi_restore_state" => {
                if let Some(then) = earlier.pop() {
                    now.above_stack = then.above_stack;
                }
            }
            _ => {}
        }
    }

    /// Notes what an instruction says of its function's frame.
    fn note(&mut self, at: FrameAt, instruction: &Instruction) {
        let copies_stack_pointer = instruction.mnemonic() == Mnemonic::Mov
            && instruction.op1_kind() == OpKind::Register
            && instruction.op1_register() == Register::RSP
            && instruction.op0_kind() == OpKind::Register;
        if copies_stack_pointer && instruction.op0_register() == Register::RBP {
            self.functions[at.function].has_base = true;
            return;
        }
        let place = if copies_stack_pointer {
            Some(
                at.above_stack
                    .map_or(FramePlace::AboveStack(0), |above| FramePlace::InFrame(-above)),
            )
        } else if instruction.mnemonic() == Mnemonic::Lea
            && instruction.op0_register() != Register::RSP
        {
            self.place(at, instruction)
        } else {
            None
        };
        let function = &mut self.functions[at.function];
        match place {
            Some(FramePlace::InFrame(place)) => function.taken.push(place),
            Some(FramePlace::AboveStack(place)) => function.taken_above_stack.push(place),
            None => {}
        }
    }

    /// Where a memory operand is, from the canonical frame address, if it is in the frame.
    fn place(&self, at: FrameAt, instruction: &Instruction) -> Option<FramePlace> {
        let displacement = instruction.memory_displacement64().cast_signed();
        match instruction.memory_base() {
            Register::RSP => Some(match at.above_stack {
                Some(above) => FramePlace::InFrame(displacement - above),
                None => FramePlace::AboveStack(displacement),
            }),
            Register::RBP if self.functions[at.function].has_base => {
                Some(FramePlace::InFrame(displacement - BASE_TO_FRAME))
            }
            _ => None,
        }
    }

    pub(crate) fn at(&self, number: usize) -> FrameAt {
        self.at.get(number).copied().unwrap_or_default()
    }

    /// Whether the memory operand of an instruction is a variable of the frame that only this
    /// function knows.
    pub(crate) fn hides(&self, number: usize, instruction: &Instruction) -> bool {
        if instruction.memory_index() != Register::None {
            return false;
        }
        let at = self.at(number);
        let function = &self.functions[at.function];
        let is_below = |place: i64, taken: &[i64]| taken.iter().all(|&taken| place < taken);
        match self.place(at, instruction) {
            // Above the frame are the caller's arguments.
            Some(FramePlace::InFrame(place)) => place >= 0 || is_below(place, &function.taken),
            Some(FramePlace::AboveStack(place)) => is_below(place, &function.taken_above_stack),
            None => false,
        }
    }
}
