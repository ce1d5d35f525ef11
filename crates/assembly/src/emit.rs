//! Writes the instrumented text.

use iced_x86::{Code, Instruction, Mnemonic, OpAccess, OpKind};

use crate::LABEL;
use crate::clang::{Noted, noted};
use crate::code;
use crate::frame::Frames;
use crate::gcc::{Explained, explained};
use crate::lanes::{Lanes, without_index};
use crate::liveness::flags_are_live;
use crate::operand::MemoryOperand;
use crate::statement::{Line, without_comment};

/// Bytes under the stack pointer that a function may use without moving it.
const RED_ZONE: u64 = 128;
/// A hook's call saves one register there.
const BELOW: u64 = RED_ZONE + 8;

/// Bytes that a hook of its own records; others are recorded as a range.
const SIZES: [usize; 8] = [1, 2, 4, 8, 10, 16, 32, 64];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recorded {
    Read,
    Write,
    /// A read, then a write.
    Update,
    /// An indivisible update.
    Atomic,
    /// An atomic read or write.
    AtomicRead,
    AtomicWrite,
}

impl Recorded {
    fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Update => "update",
            Self::Atomic => "atomic",
            Self::AtomicRead => "atomic_read",
            Self::AtomicWrite => "atomic_write",
        }
    }
}

/// A call of a hook.
struct Call<'a> {
    /// Of the instruction.
    number: usize,
    name: &'a str,
    /// Whether the program still needs the processor's flags.
    keep_flags: bool,
    /// Bytes of a range, or a description of lanes, in `rsi`.
    size: Option<u32>,
}

/// Writes a file's text with hooks, statement by statement.
pub(crate) struct Emitter<'a> {
    code: &'a code::Code,
    frames: Frames,
    explained: Vec<Explained>,
    noted: Vec<Noted>,
    /// The text of every instruction.
    texts: Vec<&'a str>,
    out: String,
    /// The next instruction's number.
    next: usize,
    /// A hook that follows the instruction, when it is complete.
    after: Option<usize>,
    /// Whether the function runs before the recorder is ready.
    pub(crate) is_early: bool,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(lines: &[Line<'a>], code: &'a code::Code, texts: Vec<&'a str>) -> Self {
        Self {
            code,
            frames: Frames::find(lines, code),
            explained: explained(lines),
            noted: noted(lines, code),
            texts,
            out: String::new(),
            next: 0,
            after: None,
            is_early: false,
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    pub(crate) fn other(&mut self, text: &str) {
        // Comments are most of what gcc writes when it explains its instructions.
        if !text.trim_start().starts_with('#') {
            self.line(text);
        }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes the next instruction without a hook.
    pub(crate) fn unchanged(&mut self, text: &str) {
        self.next += 1;
        self.line(text);
    }

    /// Writes the next instruction.
    pub(crate) fn instruction(&mut self) {
        let number = self.next;
        let text = self.texts[number];
        self.next += 1;
        let coded = &self.code.all[number];
        if !coded.within && !coded.instruction.is_invalid() {
            self.before(number);
        }
        match short_jump(&coded.instruction, text, number) {
            Some(lines) => lines.iter().for_each(|text| self.line(text)),
            None => self.line(text),
        }
        if !self.code.all.get(self.next).is_some_and(|next| next.within)
            && let Some(whole) = self.after.take()
        {
            let following = self.code.all.get(self.next..).unwrap_or_default();
            let keep = flags_are_live(following);
            let call = Call { number: whole, name: "after", keep_flags: keep, size: None };
            self.call(&call, |_| (), &[]);
        }
    }

    /// The hooks before an instruction.
    fn before(&mut self, number: usize) {
        let instruction = self.code.all[number].instruction;
        if instruction.is_string_instruction() {
            self.string(number, &instruction);
            return;
        }
        let Some(recorded) = self.recorded(number, &instruction) else { return };
        // A macro's text has no operand.
        let Some(operand) = self.operand(number) else { return };
        let size = instruction.memory_size().size();
        if operand.is_of_the_compiler() || size == 0 {
            return;
        }
        if let Some(lanes) = Lanes::of(&instruction, recorded != Recorded::Read) {
            self.lanes(number, &operand, &lanes);
            return;
        }
        let relaxed = self.is_relaxed(number, recorded);
        let name = match recorded {
            Recorded::Read | Recorded::Write | Recorded::Update if !SIZES.contains(&size) => {
                format!("{}_range", recorded.name())
            }
            Recorded::Read | Recorded::Write | Recorded::Update => {
                format!("{}{size}", recorded.name())
            }
            _ if relaxed => format!("relaxed_{}{size}", recorded.name()),
            _ => format!("{}{size}", recorded.name()),
        };
        let keep = flags_are_live(&self.code.all[number..]);
        let range = name.ends_with("_range").then(|| u32::try_from(size).unwrap_or(0));
        let call = Call { number, name: &name, keep_flags: keep, size: range };
        self.call(&call, |emitter| emitter.address(&operand), &[]);
        // Records after it must not be merged before it.
        if !relaxed && recorded != Recorded::AtomicWrite {
            self.after = Some(number);
        }
    }

    /// The hook of an instruction that accesses some elements of a vector.
    fn lanes(&mut self, number: usize, operand: &MemoryOperand<'_>, lanes: &Lanes) {
        let mut room = String::new();
        let operand = without_index(operand, lanes, &mut room);
        let call = Call { number, name: "lanes", keep_flags: true, size: Some(lanes.described()) };
        self.call(&call, |emitter| emitter.address(&operand), &lanes.stores());
    }

    /// What of an instruction is recorded.
    fn recorded(&self, number: usize, instruction: &Instruction) -> Option<Recorded> {
        let operand = (0..instruction.op_count())
            .find(|&operand| instruction.op_kind(operand) == OpKind::Memory)?;
        let (explained, noted) = (self.explained[number], self.noted[number]);
        let is_own = explained.is_spill || noted.is_spill || noted.is_left_behind;
        if is_own || self.frames.hides(number, instruction) || is_no_access(instruction.mnemonic())
        {
            return None;
        }
        let plain = match self.code.all[number].info.op_access(operand) {
            OpAccess::Read | OpAccess::CondRead => Recorded::Read,
            OpAccess::Write | OpAccess::CondWrite => Recorded::Write,
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => Recorded::Update,
            OpAccess::None | OpAccess::NoMemAccess => return None,
        };
        let updates = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
        Some(match plain {
            _ if updates => Recorded::Atomic,
            Recorded::Read if explained.is_atomic => Recorded::AtomicRead,
            Recorded::Write if explained.is_atomic => Recorded::AtomicWrite,
            plain => plain,
        })
    }

    /// Whether an access orders others; what nothing is known of does.
    fn is_relaxed(&self, number: usize, recorded: Recorded) -> bool {
        let explained = self.explained[number];
        let [before, after] = explained.fenced;
        match recorded {
            Recorded::Atomic => explained.is_relaxed_update,
            Recorded::AtomicRead => !after,
            Recorded::AtomicWrite => !before,
            Recorded::Read | Recorded::Write | Recorded::Update => true,
        }
    }

    /// The operand, which follows a prefix in a statement of its own.
    fn operand(&self, number: usize) -> Option<MemoryOperand<'a>> {
        let rest = self.code.all[number + 1..].iter().take_while(|coded| coded.within).count();
        self.texts[number..=number + rest].iter().find_map(|text| MemoryOperand::find(text))
    }

    /// A string instruction: ranges at `rsi` and `rdi`, whose length is in `rcx` if it repeats.
    fn string(&mut self, number: usize, instruction: &Instruction) {
        let name = match instruction.mnemonic() {
            Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd | Mnemonic::Movsq => "copy",
            Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq => "fill",
            Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd | Mnemonic::Lodsq => "load",
            Mnemonic::Scasb | Mnemonic::Scasw | Mnemonic::Scasd | Mnemonic::Scasq => "scan",
            Mnemonic::Cmpsb | Mnemonic::Cmpsw | Mnemonic::Cmpsd | Mnemonic::Cmpsq => "compare",
            _ => return,
        };
        let repeats = if instruction.has_repne_prefix() {
            "repne_"
        } else if instruction.has_rep_prefix() {
            "rep_"
        } else {
            ""
        };
        let size = instruction.memory_size().size();
        let name = format!("{repeats}{name}{size}");
        self.call(&Call { number, name: &name, keep_flags: true, size: None }, |_| (), &[]);
    }

    /// Calls a hook, with the address in `rdi`. What `stores` puts on the stack is above the return
    /// address.
    fn call(&mut self, call: &Call<'_>, address: impl FnOnce(&mut Self), stores: &[String]) {
        let at = self.frames.at(call.number);
        let adjust = at.in_procedure && at.above_stack.is_some();
        let mut pushed = Vec::new();
        let mut push = |emitter: &mut Self, step: String, undo: &'static str, bytes: i64| {
            emitter.line(&step);
            if adjust {
                emitter.line(&format!("\t.cfi_adjust_cfa_offset {bytes}"));
            }
            pushed.push((undo, bytes));
        };
        push(self, "\tleaq\t-128(%rsp), %rsp".to_owned(), "\tleaq\t128(%rsp), %rsp", 128);
        push(self, "\tpushq\t%rdi".to_owned(), "\tpopq\t%rdi", 8);
        address(self);
        if let Some(size) = call.size {
            push(self, "\tpushq\t%rsi".to_owned(), "\tpopq\t%rsi", 8);
            self.line(&format!("\tmovl\t${size}, %esi"));
        }
        if !stores.is_empty() {
            push(self, "\tleaq\t-128(%rsp), %rsp".to_owned(), "\tleaq\t128(%rsp), %rsp", 128);
            stores.iter().for_each(|store| self.line(store));
        }
        let flags = if call.keep_flags { "_flags" } else { "" };
        self.line(&format!("\tcall\t*__homenode_{}{flags}@GOTPCREL(%rip)", call.name));
        for (undo, bytes) in pushed.into_iter().rev() {
            self.line(undo);
            if adjust {
                self.line(&format!("\t.cfi_adjust_cfa_offset {}", -bytes));
            }
        }
    }

    /// The address of an operand, in `rdi`.
    fn address(&mut self, operand: &MemoryOperand<'_>) {
        let MemoryOperand { segment, displacement, registers } = operand;
        let below = if operand.is_on_stack_pointer() { format!("{BELOW}+") } else { String::new() };
        let displacement = match (below.as_str(), *displacement) {
            (below, "") => below.trim_end_matches('+').to_owned(),
            (below, own) => format!("{below}{own}"),
        };
        match segment {
            None if registers.is_empty() => {
                self.line(&format!("\tmovabsq\t${displacement}, %rdi"));
            }
            None => self.line(&format!("\tleaq\t{displacement}{registers}, %rdi")),
            Some(segment) if registers.is_empty() => {
                self.line(&format!("\tmovq\t{segment}:0, %rdi"));
                self.line(&format!("\tleaq\t{displacement}(%rdi), %rdi"));
            }
            Some(segment) => {
                self.line("\tpushq\t%rsi");
                self.line(&format!("\tleaq\t{displacement}{registers}, %rdi"));
                self.line(&format!("\tmovq\t{segment}:0, %rsi"));
                self.line("\tleaq\t(%rdi,%rsi), %rdi");
                self.line("\tpopq\t%rsi");
            }
        }
    }
}

/// In place of a jump that reaches 127 bytes, which hooks may exceed, one that reaches farther.
fn short_jump(instruction: &Instruction, text: &str, number: usize) -> Option<Vec<String>> {
    let target = without_comment(text).split_whitespace().last()?;
    let condition = match instruction.code() {
        Code::Jrcxz_rel8_64 | Code::Jecxz_rel8_64 => None,
        Code::Loop_rel8_64_RCX => Some("jmp"),
        Code::Loope_rel8_64_RCX => Some("je"),
        Code::Loopne_rel8_64_RCX => Some("jne"),
        _ => return None,
    };
    let [taken, on] = ["taken", "on"].map(|end| format!("{LABEL}{number}_{end}"));
    Some(match condition {
        Some(jump) => vec![
            "\tleaq\t-1(%rcx), %rcx".to_owned(),
            format!("\tjrcxz\t{on}"),
            format!("\t{jump}\t{target}"),
            format!("{on}:"),
        ],
        None => vec![
            format!("\t{}\t{taken}", without_comment(text).trim_end().strip_suffix(target)?.trim()),
            format!("\tjmp\t{on}"),
            format!("{taken}:"),
            format!("\tjmp\t{target}"),
            format!("{on}:"),
        ],
    })
}

/// Instructions that name memory without a reference of the program.
fn is_no_access(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Clflush
            | Mnemonic::Clflushopt
            | Mnemonic::Clwb
            | Mnemonic::Nop
            | Mnemonic::Lea
            | Mnemonic::Invlpg
    )
}
