//! Instructions that access some elements of a vector: gathers, scatters, masks.

use iced_x86::{Instruction, Mnemonic, OpKind, Register};

use crate::operand::MemoryOperand;
use crate::statement::Syntax;

/// How a hook finds the elements that an instruction accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lanes {
    /// Elements at most.
    count: usize,
    /// Bytes of an element.
    size: usize,
    /// The register with an index for each element, and bytes of an index; elements without follow
    /// each other.
    index: Option<(Register, usize)>,
    scale: u32,
    /// The register that says which elements are accessed.
    mask: Option<Register>,
    /// Whether what is accessed follows each other, however the mask is.
    is_packed: bool,
    writes: bool,
}

impl Lanes {
    /// If the instruction is one of these.
    pub(crate) fn of(instruction: &Instruction, writes: bool) -> Option<Self> {
        if instruction.is_vsib() {
            return Self::indexed(instruction, writes);
        }
        let whole = instruction.memory_size().size();
        let (size, mask) = match instruction.mnemonic() {
            Mnemonic::Vmaskmovps | Mnemonic::Vpmaskmovd => (4, instruction.op1_register()),
            Mnemonic::Vmaskmovpd | Mnemonic::Vpmaskmovq => (8, instruction.op1_register()),
            _ if instruction.has_op_mask() && !instruction.is_broadcast() => {
                (instruction.memory_size().element_size(), instruction.op_mask())
            }
            _ => return None,
        };
        let count = whole.checked_div(size)?;
        let is_packed = is_packed(instruction.mnemonic());
        Some(Self { count, size, index: None, scale: 1, mask: Some(mask), is_packed, writes })
    }

    fn indexed(instruction: &Instruction, writes: bool) -> Option<Self> {
        let index_size = index_size(instruction.mnemonic())?;
        let size = instruction.memory_size().size();
        let mut registers = (0..instruction.op_count())
            .filter(|&operand| instruction.op_kind(operand) == OpKind::Register)
            .map(|operand| instruction.op_register(operand));
        let data = registers.next()?;
        let mask = if instruction.has_op_mask() {
            Some(instruction.op_mask())
        } else {
            registers.next_back()
        };
        let index = instruction.memory_index();
        let count = (data.size() / size.max(1)).min(index.size() / index_size);
        let scale = instruction.memory_index_scale();
        let index = Some((index, index_size));
        Some(Self { count, size, index, scale, mask, is_packed: false, writes })
    }

    /// What the hook gets in `rsi`; `lanes` of assembly.c reads it.
    pub(crate) fn described(&self) -> u32 {
        let byte = |number: usize, at: u32| u32::try_from(number).unwrap_or(0) << at;
        let mask = self.mask.map_or(0, |mask| if mask.is_k() { 1 } else { self.size });
        byte(self.count, 0)
            | byte(self.size, 8)
            | byte(self.index.map_or(0, |(_, size)| size), 12)
            | self.scale << 16
            | byte(mask, 20)
            | u32::from(self.writes) << 24
            | u32::from(self.is_packed) << 25
    }

    /// Instructions that put index and mask where the hook looks for them.
    pub(crate) fn stores(&self) -> Vec<String> {
        let store = |register: Register, at: usize| {
            let (operation, class) = if register.is_k() {
                ("kmovq", "k")
            } else {
                let class = match register.size() {
                    64 => "zmm",
                    32 => "ymm",
                    _ => "xmm",
                };
                let is_new = register.is_zmm() || register.number() >= 16;
                (if is_new { "vmovdqu64" } else { "vmovdqu" }, class)
            };
            format!("\t{operation}\t%{class}{}, {at}(%rsp)", register.number())
        };
        let index = self.index.map(|(register, _)| store(register, 0));
        let mask = self.mask.map(|register| store(register, 64));
        index.into_iter().chain(mask).collect()
    }
}

fn is_packed(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Vcompressps
            | Mnemonic::Vcompresspd
            | Mnemonic::Vpcompressb
            | Mnemonic::Vpcompressw
            | Mnemonic::Vpcompressd
            | Mnemonic::Vpcompressq
            | Mnemonic::Vexpandps
            | Mnemonic::Vexpandpd
            | Mnemonic::Vpexpandb
            | Mnemonic::Vpexpandw
            | Mnemonic::Vpexpandd
            | Mnemonic::Vpexpandq
    )
}

/// Bytes of an index of a gather or scatter; prefetches are none.
fn index_size(mnemonic: Mnemonic) -> Option<usize> {
    match mnemonic {
        Mnemonic::Vgatherdps
        | Mnemonic::Vgatherdpd
        | Mnemonic::Vpgatherdd
        | Mnemonic::Vpgatherdq
        | Mnemonic::Vscatterdps
        | Mnemonic::Vscatterdpd
        | Mnemonic::Vpscatterdd
        | Mnemonic::Vpscatterdq => Some(4),
        Mnemonic::Vgatherqps
        | Mnemonic::Vgatherqpd
        | Mnemonic::Vpgatherqd
        | Mnemonic::Vpgatherqq
        | Mnemonic::Vscatterqps
        | Mnemonic::Vscatterqpd
        | Mnemonic::Vpscatterqd
        | Mnemonic::Vpscatterqq => Some(8),
        _ => None,
    }
}

/// The operand without its index, if that is a vector. None if it cannot be read.
pub(crate) fn without_index<'a>(
    operand: &MemoryOperand<'a>,
    lanes: &Lanes,
    instruction: &Instruction,
    room: &'a mut String,
) -> Option<MemoryOperand<'a>> {
    if lanes.index.is_none() {
        return Some(operand.clone());
    }
    if operand.syntax == Syntax::Intel {
        // Without its index: gcc writes `[rax+ymm1*4]` and `table[rax+ymm1*4]`.
        let (start, index) = operand.displacement.split_once('[')?;
        let kept = index.trim_end_matches(']').split('+').filter(|term| !term.contains("mm"));
        let kept: Vec<&str> = kept.map(str::trim).collect();
        let kept = if kept.is_empty() { "0".to_owned() } else { kept.join("+") };
        *room = format!("{start}[{kept}]");
        return Some(MemoryOperand { displacement: room, ..operand.clone() });
    }
    let base = match instruction.memory_base() {
        Register::None => String::new(),
        _ => operand.registers.trim_matches(['(', ')']).split(',').next()?.trim().to_owned(),
    };
    *room = if base.is_empty() { base } else { format!("({base})") };
    Some(MemoryOperand { registers: room, ..operand.clone() })
}
