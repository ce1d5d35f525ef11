//! Writes the instrumented text.

use iced_x86::{Code, Instruction, Mnemonic, OpAccess, OpKind, Register};

use crate::LABEL;
use crate::clang::{Noted, noted};
use crate::code;
use crate::frame::Frames;
use crate::gcc::{Explained, explained};
use crate::lanes::{Lanes, without_index};
use crate::left_out::{LeftOut, Reason};
use crate::liveness::flags_are_live;
use crate::operand::MemoryOperand;
use crate::statement::{Kind, Piece, Syntax, without_comment};

/// Bytes under the stack pointer that a function may use without moving it.
const RED_ZONE: u64 = 128;
/// A hook's call saves one register there.
const BELOW: u64 = RED_ZONE + 8;

/// Bytes that a hook of its own records; others are recorded as a range.
const SIZES: [usize; 8] = [1, 2, 4, 8, 10, 16, 32, 64];

const ATT: &str = "\t.att_syntax prefix";
const INTEL: &str = "\t.intel_syntax noprefix";

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

/// Writes a file's text with hooks, piece by piece.
pub(crate) struct Emitter<'a> {
    code: &'a code::Code,
    frames: Frames,
    explained: Vec<Explained>,
    noted: Vec<Noted>,
    /// The code, by number.
    pieces: Vec<Piece<'a>>,
    pub(crate) out: String,
    pub(crate) left_out: LeftOut,
    pub(crate) has_hooks: bool,
    /// The next instruction's number.
    next: usize,
    /// A hook that follows the instruction, when it is complete.
    after: Option<usize>,
}

impl<'a> Emitter<'a> {
    pub(crate) fn new(pieces: &[Piece<'a>], code: &'a code::Code) -> Self {
        Self {
            code,
            frames: Frames::find(pieces, code),
            explained: explained(pieces),
            noted: noted(pieces, code),
            pieces: pieces.iter().filter(|piece| piece.is_code()).copied().collect(),
            out: String::new(),
            left_out: LeftOut::default(),
            has_hooks: false,
            next: 0,
            after: None,
        }
    }

    /// Writes the next piece.
    pub(crate) fn piece(&mut self, piece: &Piece<'_>) {
        match piece.kind {
            Kind::Instruction(syntax) => self.instruction(syntax),
            Kind::Macro | Kind::Repeat => {
                self.left_out.add(Reason::Macro, self.code.all[self.next].accesses);
                self.next += 1;
                self.line(piece.text);
            }
            // Comments are most of what gcc writes when it explains its instructions.
            _ if piece.is_remark() => {}
            _ => self.line(piece.text),
        }
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes the next instruction.
    fn instruction(&mut self, syntax: Syntax) {
        let number = self.next;
        let text = self.pieces[number].text;
        self.next += 1;
        let coded = &self.code.all[number];
        if !coded.within && !coded.instruction.is_invalid() {
            self.before(number);
        }
        match short_jump(&coded.instruction, text, number) {
            Some(lines) if syntax != Syntax::Unread => {
                self.in_att(syntax, |emitter| lines.iter().for_each(|text| emitter.line(text)));
            }
            _ => self.line(text),
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

    /// Writes lines in AT&T syntax where another one holds.
    fn in_att(&mut self, syntax: Syntax, write: impl FnOnce(&mut Self)) {
        if syntax == Syntax::Intel {
            self.line(ATT);
        }
        write(self);
        if syntax == Syntax::Intel {
            self.line(INTEL);
        }
    }

    fn syntax(&self, number: usize) -> Syntax {
        match self.pieces[number].kind {
            Kind::Instruction(syntax) => syntax,
            _ => Syntax::Unread,
        }
    }

    /// The hooks before an instruction.
    fn before(&mut self, number: usize) {
        let coded = self.code.all[number];
        if !coded.accesses_data() {
            return;
        }
        if self.syntax(number) == Syntax::Unread {
            self.left_out.add(Reason::Unknown, 1);
        } else if coded.accesses_implicitly() {
            self.string(number, &coded.instruction);
        } else if let Some(recorded) = self.recorded(number, &coded.instruction) {
            match self.operand(number) {
                Some(operand) if operand.is_of_the_compiler() => {}
                // At no address that could be known: only %fs:0 has its own.
                Some(operand) if operand.segment == Some("%gs") => {
                    self.left_out.add(Reason::Segment, 1);
                }
                Some(operand) if is_understood(&coded.instruction) => {
                    self.explicit(number, recorded, &operand);
                }
                _ => self.left_out.add(Reason::Unknown, 1),
            }
        }
    }

    /// The hook of an instruction with an operand in memory.
    fn explicit(&mut self, number: usize, recorded: Recorded, operand: &MemoryOperand<'_>) {
        let instruction = &self.code.all[number].instruction;
        let size = instruction.memory_size().size();
        if let Some(lanes) = Lanes::of(instruction, recorded != Recorded::Read) {
            self.lanes(number, operand, &lanes);
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
        self.call(&call, |emitter| emitter.address(number, operand), &[]);
        // Records after it must not be merged before it.
        if !relaxed && recorded != Recorded::AtomicWrite {
            self.after = Some(number);
        }
    }

    /// The hook of an instruction that accesses some elements of a vector.
    fn lanes(&mut self, number: usize, operand: &MemoryOperand<'_>, lanes: &Lanes) {
        let mut room = String::new();
        let instruction = &self.code.all[number].instruction;
        let Some(operand) = without_index(operand, lanes, instruction, &mut room) else {
            self.left_out.add(Reason::Unknown, 1);
            return;
        };
        let call = Call { number, name: "lanes", keep_flags: true, size: Some(lanes.described()) };
        let address = |emitter: &mut Self| emitter.address(number, &operand);
        self.call(&call, address, &lanes.stores());
    }

    /// What of an instruction is recorded.
    fn recorded(&self, number: usize, instruction: &Instruction) -> Option<Recorded> {
        let (explained, noted) = (self.explained[number], self.noted[number]);
        let is_own = explained.is_spill || noted.is_spill || noted.is_left_behind;
        if is_own || self.frames.hides(number, instruction) {
            return None;
        }
        let plain = match self.code.all[number].access {
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
        let syntax = self.syntax(number);
        let mut pieces = self.pieces[number..=number + rest].iter();
        pieces.find_map(|piece| MemoryOperand::find(piece.text, syntax))
    }

    /// A string instruction: ranges at `rsi` and `rdi`, whose length is in `rcx` if it repeats.
    fn string(&mut self, number: usize, instruction: &Instruction) {
        let name = match instruction.mnemonic() {
            Mnemonic::Movsb | Mnemonic::Movsw | Mnemonic::Movsd | Mnemonic::Movsq => "copy",
            Mnemonic::Stosb | Mnemonic::Stosw | Mnemonic::Stosd | Mnemonic::Stosq => "fill",
            Mnemonic::Lodsb | Mnemonic::Lodsw | Mnemonic::Lodsd | Mnemonic::Lodsq => "load",
            Mnemonic::Scasb | Mnemonic::Scasw | Mnemonic::Scasd | Mnemonic::Scasq => "scan",
            Mnemonic::Cmpsb | Mnemonic::Cmpsw | Mnemonic::Cmpsd | Mnemonic::Cmpsq => "compare",
            _ => return self.left_out.add(Reason::Unknown, 1),
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
        self.in_att(self.syntax(call.number), |emitter| emitter.att_call(call, address, stores));
    }

    fn att_call(&mut self, call: &Call<'_>, address: impl FnOnce(&mut Self), stores: &[String]) {
        self.has_hooks = true;
        let at = self.frames.at(call.number);
        let adjust = at.in_procedure && at.above_stack.is_some();
        let mut pushed = Vec::new();
        let mut push = |emitter: &mut Self, step: &str, undo: &'static str, bytes: i64| {
            emitter.line(step);
            if adjust {
                emitter.line(&format!("\t.cfi_adjust_cfa_offset {bytes}"));
            }
            pushed.push((undo, bytes));
        };
        push(self, "\tleaq\t-128(%rsp), %rsp", "\tleaq\t128(%rsp), %rsp", 128);
        push(self, "\tpushq\t%rdi", "\tpopq\t%rdi", 8);
        address(self);
        if let Some(size) = call.size {
            push(self, "\tpushq\t%rsi", "\tpopq\t%rsi", 8);
            self.line(&format!("\tmovl\t${size}, %esi"));
        }
        if !stores.is_empty() {
            push(self, "\tleaq\t-128(%rsp), %rsp", "\tleaq\t128(%rsp), %rsp", 128);
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
    fn address(&mut self, number: usize, operand: &MemoryOperand<'_>) {
        let instruction = &self.code.all[number].instruction;
        let registers = [instruction.memory_base(), instruction.memory_index()];
        let is_below = registers[0] == Register::RSP;
        let is_intel = operand.syntax == Syntax::Intel;
        if is_intel && registers != [Register::None; 2] {
            self.line(INTEL);
            self.line(&format!("\tlea\trdi, {}", operand.displacement));
            self.line(ATT);
            if is_below {
                self.line(&format!("\tleaq\t{BELOW}(%rdi), %rdi"));
            }
            if let Some(segment) = operand.segment {
                self.add_segment(segment);
            }
        } else {
            self.att_address(operand, is_below);
        }
    }

    fn att_address(&mut self, operand: &MemoryOperand<'_>, is_below: bool) {
        let MemoryOperand { segment, displacement, registers, syntax: _ } = operand;
        // Without registers both syntaxes are the same but for brackets.
        let displacement = &displacement.trim_start_matches("ds:").trim_matches(['[', ']']);
        let displacement = match *displacement {
            own if !is_below => own.to_owned(),
            "" => BELOW.to_string(),
            own => format!("{BELOW}+{own}"),
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
                self.line(&format!("\tleaq\t{displacement}{registers}, %rdi"));
                self.add_segment(segment);
            }
        }
    }

    /// Makes an address of the offset in `rdi`.
    fn add_segment(&mut self, segment: &str) {
        self.line("\tpushq\t%rsi");
        self.line(&format!("\tmovq\t{segment}:0, %rsi"));
        self.line("\tleaq\t(%rdi,%rsi), %rdi");
        self.line("\tpopq\t%rsi");
    }
}

/// Whether the address and size of what an instruction accesses are those of its operand.
fn is_understood(instruction: &Instruction) -> bool {
    let is_bit = matches!(
        instruction.mnemonic(),
        Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc
    );
    // The number of a bit may be any.
    instruction.memory_size().size() != 0 && !(is_bit && instruction.op1_kind() == OpKind::Register)
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
